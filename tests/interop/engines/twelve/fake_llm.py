"""A model that says what it was told to, one reply for each of its answers in the conversation so far."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class FakeLlm(BaseLlm):
    """Each reply is a text, a list of texts to stream, or function calls as pairs of a name and arguments."""

    model: str = "fake"
    replies: list[Any]

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        if file := os.environ.get("FAKE_LLM_RECEIVED"):
            _keep(llm_request, Path(file))
        said = sum(content.role == "model" for content in llm_request.contents)
        reply = self.replies[min(said, len(self.replies) - 1)]
        if isinstance(reply, str):
            yield _answer(types.Part(text=reply))
        elif isinstance(reply[0], str):
            for piece in reply if stream else []:
                yield _answer(types.Part(text=piece), partial=True)
            yield _answer(types.Part(text="".join(reply)))
        else:
            yield _answer(*(types.Part(function_call=types.FunctionCall(name=name, args=args)) for name, args in reply))


def _keep(request: Any, file: Path) -> None:
    contents = [content.model_dump(mode="json", exclude_none=True) for content in request.contents]
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"instruction": request.config.system_instruction, "contents": contents}) + "\n")


def _answer(*parts: types.Part, partial: bool | None = None) -> LlmResponse:
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=10, candidates_token_count=5, total_token_count=15)
    return LlmResponse(content=types.Content(role="model", parts=list(parts)), partial=partial, usage_metadata=usage)


def told(*replies: Any) -> FakeLlm:
    """Return a model with these replies; the last one is repeated."""
    return FakeLlm(replies=list(replies))
