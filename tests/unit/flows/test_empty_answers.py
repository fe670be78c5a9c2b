"""Answers of a model that say nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types

from runtime.agents import LlmAgent, RunConfig
from runtime.agents.run_config import StreamingMode
from runtime.models import BaseLlm, LlmRequest, LlmResponse
from tests.seeds.running import run, runner_for


class Answering(BaseLlm):
    """Gives one answer."""

    model: str = "one"
    answer: Any

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        yield self.answer.model_copy(deep=True)


def answer(*parts: types.Part, finish: types.FinishReason | None = types.FinishReason.STOP, **more: Any) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=[*parts]), finish_reason=finish, **more)


NOTHING = {
    "no parts": answer(),
    "no content": LlmResponse(finish_reason=types.FinishReason.STOP),
    "a blank text": answer(types.Part(text=" \n")),
    "an empty text": answer(types.Part(text="")),
    "a thought": answer(types.Part(text="Hm.", thought=True)),
}
SOMETHING = {
    "a text": answer(types.Part(text="x")),
    "a text after a thought": answer(types.Part(text="Hm.", thought=True), types.Part(text="x")),
    "a picture": answer(types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))),
    "no reason to stop": answer(types.Part(text=" "), finish=None),
    "a reason of its own": answer(finish=types.FinishReason.SAFETY, error_code="SAFETY"),
}


@pytest.mark.parametrize("case", NOTHING)
async def test_an_answer_that_says_nothing_is_an_error(case: str) -> None:
    agent = LlmAgent(name="agent", model=Answering(answer=NOTHING[case]))
    (event,) = await run(runner_for(agent))
    assert event.error_code == "MODEL_RETURNED_NO_CONTENT" and event.error_message
    events = await run(runner_for(agent), run_config=RunConfig(streaming_mode=StreamingMode.SSE))
    has_parts = bool(NOTHING[case].content and NOTHING[case].content.parts)
    assert [event.error_code for event in events if event.error_code] == (["MODEL_RETURNED_NO_CONTENT"] if has_parts else [])


@pytest.mark.parametrize("case", SOMETHING)
async def test_any_other_answer_is_as_the_model_gave_it(case: str) -> None:
    (event,) = await run(runner_for(LlmAgent(name="agent", model=Answering(answer=SOMETHING[case]))))
    assert event.error_code == SOMETHING[case].error_code
