"""Models whose answers fail, with a plugin that lets them try again."""

from __future__ import annotations

from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import LlmResponse
from google.adk.plugins import ReflectAndRetryModelPlugin
from google.genai import types

from tests.interop.beside.common import print_result, run, scripted


def malformed() -> LlmResponse:
    return LlmResponse(error_code="MALFORMED_FUNCTION_CALL", error_message="bad", finish_reason=types.FinishReason.MALFORMED_FUNCTION_CALL)


def look_up(word: str) -> str:
    """Look a word up."""
    return f"of {word}"


async def main() -> list[Any]:
    """Return what becomes of several conversations."""
    reserved = [("adk_handle_model_error", {})]
    cases: list[tuple[list[Any], dict[str, Any]]] = [
        ([malformed(), "good"], {}),
        ([malformed(), [("look_up", {"word": "x"})], malformed(), "good"], {"max_retries": 1}),
        ([malformed(), malformed()], {"max_retries": 1}),
        ([malformed(), malformed()], {"max_retries": 1, "throw_exception_if_retry_exceeded": False}),
        ([reserved, "good"], {}),
        ([reserved], {"max_retries": 0, "throw_exception_if_retry_exceeded": False}),
        ([malformed()], {"on_model_errors": []}),
    ]
    found = []
    for replies, settings in cases:
        model = scripted(*replies)
        agent = LlmAgent(name="agent", model=model, tools=[look_up])
        result = await run(agent, plugins=[ReflectAndRetryModelPlugin(**settings)])
        found.append({**result, "requests": model.requests})
    return found


if __name__ == "__main__":
    print_result(main)
