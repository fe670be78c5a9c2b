"""The language model that the seeds' examples name."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from runtime.models import BaseLlm, LLMRegistry, LlmRequest, LlmResponse, ScriptedLlm


class Gemini2(BaseLlm):
    """A scripted model under the name used in the seeds."""

    @classmethod
    def supported_models(cls) -> list[str]:
        return ["gemini-2.0-flash"]

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        ASKED.append(llm_request)
        async for response in ScriptedLlm(replies=REPLIES).generate_content_async(llm_request, stream):
            yield response


REPLIES: list[Any] = []
ASKED: list[LlmRequest] = []


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the list of the future answers of `gemini-2.0-flash`."""
    monkeypatch.setattr(LLMRegistry, "_classes", dict(LLMRegistry._classes))
    LLMRegistry.register(Gemini2)
    REPLIES[:] = ["ok"]
    ASKED.clear()
    return REPLIES


@pytest.fixture
def asked(replies: list[Any]) -> list[LlmRequest]:
    """Return the requests sent to `gemini-2.0-flash`."""
    return ASKED
