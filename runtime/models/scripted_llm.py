"""A scripted language model, for tests and for samples that run without a key.

Its answers depend on the request alone, so that an invocation resumed in a new process gets the same answers as in the old one.

    ScriptedLlm(replies=["Hello.", {"calls": [["get_weather", {"city": "Oslo"}]]}, "It rains."])

    ScriptedLlm(
        rules=[
            Rule(instruction="You review stories", reply=["Too short.", "Now it is good."]),
            Rule(when="(?i)refund", reply=Reply(calls=[("start_refund", {"order": 7})])),
            Rule(reply="What can I do for you?"),
        ],
        delay=0.05,
    )
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from runtime.errors.llm_error import LlmError
from runtime.models.base_llm import BaseLlm
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse


class Reply(BaseModel):
    """One answer.

    Attributes:
        text: the text.
        thought: the thought that precedes it.
        calls: function calls, as name and arguments.
        chunks: the pieces in which the text streams; word by word if empty.
        usage: token counts; estimated from the lengths of the texts if None.
        error: an error code and message instead of content.
    """

    model_config = ConfigDict(extra="forbid")

    text: str = ""
    thought: str = ""
    calls: list[tuple[str, dict[str, Any]]] = Field(default_factory=list)
    chunks: list[str] = Field(default_factory=list)
    usage: types.GenerateContentResponseUsageMetadata | None = None
    error: tuple[str, str] | None = None


# A text, a Reply or its dict, an exception to raise, or a function of the request that returns one of these.
Answer = str | dict[str, Any] | Reply | BaseException | Callable[[LlmRequest], Any]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """An answer, and the conditions that a request must meet to get it.

    Attributes:
        reply: the answer. From a list, the agent's n-th message in the conversation gets entry n; the last entry repeats.
        when: a regular expression to search for in the last message (a function response is `name {json}`), or a function of the
            request.
        instruction: a regular expression to search for in the system instruction.
        times: how often the rule may be used, for simulating occasional failures. Counted in this object: a new process starts again.
    """

    reply: Answer | Sequence[Answer]
    when: str | Callable[[LlmRequest], bool] = ""
    instruction: str = ""
    times: int | None = None

    def matches(self, request: LlmRequest) -> bool:
        """Return whether the rule applies to a request."""
        if not re.search(self.instruction, instruction_text(request)):
            return False
        if isinstance(self.when, str):
            return re.search(self.when, last_message_text(request)) is not None
        return self.when(request)


class ScriptedLlm(BaseLlm):
    """A language model with scripted answers.

    Attributes:
        model: its name.
        rules: the first matching rule answers.
        replies: used when no rule matches, like `Rule(reply=replies)`.
        counts: the role whose messages are counted to choose from a list of replies.
        delay: seconds to wait before the answer and before each piece of a streamed answer.
    """

    model: str = "scripted"
    rules: list[Rule] = Field(default_factory=list)
    replies: list[Any] = Field(default_factory=list)
    counts: Literal["model", "user"] = "model"
    delay: float = 0.0

    _used: dict[int, int] = PrivateAttr(default_factory=dict)

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """Return the scripted answer; see `BaseLlm.generate_content_async`.

        Raises:
            LlmError: no rule matches.
            BaseException: the answer is an exception.
        """
        reply = _as_reply(self._answer(llm_request), llm_request)
        await self._wait()
        if reply.error:
            yield LlmResponse(error_code=reply.error[0], error_message=reply.error[1])
            return
        if stream:
            for piece in _pieces(reply):
                yield LlmResponse(content=types.Content(role="model", parts=[piece]), partial=True, model_version=self.model)
                await self._wait()
        yield LlmResponse(
            content=types.Content(role="model", parts=_parts(reply)),
            partial=False if stream else None,
            finish_reason=types.FinishReason.STOP,
            usage_metadata=reply.usage or _estimated_usage(llm_request, reply),
            model_version=self.model,
        )

    def _answer(self, request: LlmRequest) -> Any:
        for number, rule in enumerate(self.rules):
            used = self._used.get(number, 0)
            if (rule.times is None or used < rule.times) and rule.matches(request):
                self._used[number] = used + 1
                return self._entry(rule.reply, request)
        if self.replies:
            return self._entry(self.replies, request)
        raise LlmError(
            f"No rule of the scripted model {self.model!r} matches the message {last_message_text(request)[:80]!r}; "
            "add Rule(reply=…) as the last rule to answer everything else."
        )

    def _entry(self, reply: Any, request: LlmRequest) -> Any:
        if not isinstance(reply, (list, tuple)):
            return reply
        spoken = sum(content.role == self.counts for content in request.contents)
        # The user's message precedes the first answer, so that count begins at one.
        number = spoken - 1 if self.counts == "user" else spoken
        return reply[max(0, min(number, len(reply) - 1))]

    async def _wait(self) -> None:
        if self.delay:
            await asyncio.sleep(self.delay)


def instruction_text(request: LlmRequest) -> str:
    """Return the text of a request's system instruction."""
    return _text_of(request.config.system_instruction)


def last_message_text(request: LlmRequest) -> str:
    """Return the text of a request's last message, with function calls and responses as `name {json}`."""
    return _text_of(request.contents[-1]) if request.contents else ""


def _text_of(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, (list, tuple)):
        return "\n".join(filter(None, map(_text_of, value)))
    if isinstance(value, types.Content):
        return _text_of(value.parts)
    if isinstance(value, types.Part):
        if value.function_response:
            return f"{value.function_response.name} {json.dumps(value.function_response.response, ensure_ascii=False, default=str)}"
        if value.function_call:
            return f"{value.function_call.name} {json.dumps(value.function_call.args, ensure_ascii=False, default=str)}"
        return value.text or ""
    return ""


def _as_reply(answer: Any, request: LlmRequest) -> Reply:
    if isinstance(answer, BaseException):
        # Without the previous traceback, which would grow each time.
        raise answer.with_traceback(None)
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, str):
        return Reply(text=answer)
    if isinstance(answer, dict):
        return Reply.model_validate(answer)
    if callable(answer):
        return _as_reply(answer(request), request)
    raise LlmError(f"A scripted model cannot answer with {type(answer).__name__}; use a string, a Reply, an exception or a function.")


def _parts(reply: Reply) -> list[types.Part]:
    parts = []
    if reply.thought:
        parts.append(types.Part(text=reply.thought, thought=True))
    text = reply.text or "".join(reply.chunks)
    if text or not (parts or reply.calls):
        parts.append(types.Part(text=text))
    parts.extend(types.Part(function_call=types.FunctionCall(name=name, args=dict(args))) for name, args in reply.calls)
    return parts


def _pieces(reply: Reply) -> Iterator[types.Part]:
    for word in _words(reply.thought):
        yield types.Part(text=word, thought=True)
    for word in reply.chunks or _words(reply.text):
        yield types.Part(text=word)


def _words(text: str) -> list[str]:
    return re.findall(r"\s*\S+\s*$|\s*\S+", text)


def _estimated_usage(request: LlmRequest, reply: Reply) -> types.GenerateContentResponseUsageMetadata:
    prompt = _tokens(instruction_text(request)) + sum(_tokens(_text_of(content)) for content in request.contents)
    answered = _tokens(_text_of([part for part in _parts(reply) if not part.thought]))
    thought = _tokens(reply.thought)
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=prompt,
        candidates_token_count=answered,
        thoughts_token_count=thought or None,
        total_token_count=prompt + answered + thought,
    )


def _tokens(text: str) -> int:
    """Estimate the number of tokens, at four characters each."""
    return (len(text) + 3) // 4
