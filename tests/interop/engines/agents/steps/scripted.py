"""A model that says what the user's message tells it to: a JSON list of steps, one for each time it is called."""

from __future__ import annotations

import json
from typing import Any

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai import types


class ScriptedLlm(BaseLlm):
    """`["text"]`: answer, `["stream", "a", "b"]`: answer in pieces, `["call", name, args]…`: function calls, `["fail", text]`: raise."""

    model: str = "scripted"

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        steps, turn = _script(llm_request.contents)
        step = steps[turn] if turn < len(steps) else ["Nothing more to say."]
        if step[0] == "fail":
            raise ConnectionError(step[1])
        if step[0] == "stream":
            for piece in step[1:]:
                yield LlmResponse(content=_content(types.Part(text=piece)), partial=True)
            yield LlmResponse(content=_content(types.Part(text="".join(step[1:]))))
        elif step[0] == "call":
            calls = [step[index : index + 3] for index in range(0, len(step), 3)]
            parts = [types.Part(function_call=types.FunctionCall(name=name, args=args)) for _, name, args in calls]
            yield LlmResponse(content=_content(*parts))
        else:
            yield LlmResponse(content=_content(types.Part(text=step[0])))


def _content(*parts: types.Part) -> types.Content:
    return types.Content(role="model", parts=list(parts))


def _script(contents: list[types.Content]) -> tuple[list[Any], int]:
    """Return the steps of the user's last script, and how many of them were taken: one for each of the model's contents since."""
    taken = 0
    for content in reversed(contents):
        texts = [part.text for part in content.parts or [] if part.text]
        if content.role == "user" and texts and texts[-1].startswith("["):
            return json.loads(texts[-1]), taken
        taken += content.role == "model"
    return [], 0
