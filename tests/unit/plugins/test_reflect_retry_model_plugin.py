"""A model that failed is called again with advice."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from google.genai import types

from runtime.agents import LlmAgent
from runtime.models import BaseLlm, LlmRequest, LlmResponse
from runtime.plugins import ReflectAndRetryModelPlugin
from runtime.plugins.plugin_manager import PluginError
from runtime.plugins.reflect_retry_tool_plugin import TrackingScope
from tests.seeds.running import results, run, runner_for, texts

MALFORMED = types.FinishReason.MALFORMED_FUNCTION_CALL


class Failing(BaseLlm):
    """Gives its replies in order; `failed` fails after a partial response."""

    replies: list[str]

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        reply = self.replies.pop(0)
        if reply == "failed":
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="fa")]), partial=True)
            yield LlmResponse(error_code=MALFORMED.value, error_message="no JSON", finish_reason=MALFORMED)
        else:
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=reply)]))


def agent(*replies: str) -> LlmAgent:
    return LlmAgent(name="agent", model=Failing(model="failing", replies=list(replies)))


async def test_a_model_gets_advice_and_tries_again() -> None:
    events = await run(runner_for(agent("failed", "good"), plugins=[ReflectAndRetryModelPlugin()]))
    assert texts(events)[-1] == "good"
    ((name, result),) = results(events)
    assert name == "adk_handle_model_error"
    assert "retry 1 of 3" in result["reflection_guidance"]
    (call,) = [call for event in events for call in event.get_function_calls()]
    assert call.args is not None
    assert (call.args["error_type"], call.args["error_details"], call.args["retry_count"]) == (MALFORMED.value, "no JSON", 1)


async def test_the_run_fails_when_the_retries_are_used_up() -> None:
    runner = runner_for(agent("failed", "failed"), plugins=[ReflectAndRetryModelPlugin(max_retries=1)])
    with pytest.raises(PluginError, match=r"failed 2 times in a row.*no JSON"):
        await run(runner)


@pytest.mark.parametrize(("scope", "fails"), [(TrackingScope.INVOCATION, False), (TrackingScope.GLOBAL, True)])
async def test_failures_are_counted_in_their_scope(scope: TrackingScope, fails: bool) -> None:
    plugin = ReflectAndRetryModelPlugin(max_retries=1, throw_exception_if_retry_exceeded=False, tracking_scope=scope)
    runner = runner_for(agent("failed", "failed", "failed", "good"), plugins=[plugin])
    await run(runner)
    events = await run(runner)
    assert (events[-1].error_code == MALFORMED.value) is fails
    assert plugin._failures == ({("__global_reflect_and_retry_scope__", "failing"): 3} if fails else {})


def test_what_is_no_finish_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="'STOP' is none"):
        ReflectAndRetryModelPlugin(on_model_errors=["STOP"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="max_retries"):
        ReflectAndRetryModelPlugin(max_retries=-1)
