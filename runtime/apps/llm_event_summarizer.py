"""Summaries of old events by a language model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import aclosing

from google.genai import types

from runtime.apps.base_events_summarizer import BaseEventsSummarizer, summary_event
from runtime.errors.llm_error import LlmError
from runtime.events.event import Event
from runtime.models.base_llm import BaseLlm
from runtime.models.llm_request import LlmRequest

_PROMPT = (
    "Sum up this conversation between a user and agents, so that the agents can continue it; it may begin with an earlier summary."
    " On the first line, name the language that the user mainly writes in. Then say what the user wants. Keep what was decided, what was"
    " found out, names, numbers and everything that is still open; name the tools that were called, exactly as they are called. Be brief,"
    " and leave out what is not needed again.\n\n{conversation_history}"
)
_LONGEST_RESULT = 2000  # characters of a tool's result or arguments that the model receives


class LlmEventSummarizer(BaseEventsSummarizer):
    """Summarises events with a language model.

    Args:
        llm: the model.
        prompt_template: the prompt; `{conversation_history}` is replaced by the conversation.
    """

    def __init__(self, llm: BaseLlm, prompt_template: str | None = None) -> None:
        self._llm = llm
        self._prompt_template = prompt_template or _PROMPT

    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        """Summarise events; see `BaseEventsSummarizer`. Returns None if there is nothing to summarise.

        Raises:
            LlmError: the model gave no summary.
        """
        history = "\n".join(line for event in events for line in _lines(event))
        if not history:
            return None
        prompt = self._prompt_template.replace("{conversation_history}", history)
        request = LlmRequest(model=self._llm.model, contents=[types.Content(role="user", parts=[types.Part(text=prompt)])])
        async with aclosing(self._llm.generate_content_async(request, stream=False)) as responses:
            async for response in responses:
                parts = [part for part in (response.content.parts if response.content else None) or [] if part.text and not part.thought]
                if parts:
                    return summary_event(events, types.Content(parts=parts)).model_copy(update={"usage_metadata": response.usage_metadata})
                if response.error_code:
                    raise LlmError(f"{self._llm.model} gave no summary: {response.error_code} {response.error_message or ''}".rstrip())
        raise LlmError(f"{self._llm.model} gave no summary.")


def _lines(event: Event) -> Iterable[str]:
    compaction = event.actions.compaction
    content = compaction.compacted_content if compaction else event.content
    author = "summary of what was before" if compaction else event.author
    for part in (content.parts if content else None) or []:
        if part.text and part.thought:
            if not compaction:  # what the model thought about an earlier summary is not of the conversation
                yield f"{author} thinks: {part.text}"
        elif part.text:
            yield f"{author}: {part.text}"
        elif part.function_call:
            yield f"{author} calls {part.function_call.name} {_short(part.function_call.args)}"
        elif part.function_response:
            yield f"{part.function_response.name} returns {_short(part.function_response.response)}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_RESULT else text[:_LONGEST_RESULT] + "…"
