"""Parts that tools return."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.agents import LlmAgent
from runtime.models import LlmRequest
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.plugins import MultimodalToolResultsPlugin
from tests.seeds.running import run, runner_for

pytestmark = pytest.mark.rule("R11")

PICTURE = types.Part(inline_data=types.Blob(data=b"png", mime_type="image/png"))
PAGE = types.Part(file_data=types.FileData(file_uri="gs://b/page.pdf", mime_type="application/pdf"))


def look() -> Any:
    """Looks."""
    return [PICTURE, PAGE]


def one() -> Any:
    """Returns one part."""
    return types.Part(text="one")


def none() -> Any:
    """Returns no part."""
    return {"ok": True}


async def requests_with(plugin: MultimodalToolResultsPlugin) -> list[list[types.Part]]:
    """Return the parts of the last content in each request of two runs."""
    seen: list[list[types.Part]] = []
    left: list[Any] = [Reply(calls=[("look", {})]), Reply(calls=[("none", {})]), "done", "again"]

    def reply(request: LlmRequest) -> Any:
        seen.append([part for part in request.contents[-1].parts or [] if not part.function_response])
        return left.pop(0)

    runner = runner_for(LlmAgent(name="a", model=ScriptedLlm(replies=[reply] * 4), tools=[look, one, none]), plugins=[plugin])
    await run(runner, "first")
    await run(runner, "second")
    return seen


async def test_parts_are_sent_once() -> None:
    first, *later, last = await requests_with(MultimodalToolResultsPlugin())
    assert first == [types.Part(text="first")]
    assert later == [[PICTURE, PAGE], []]
    assert last == [types.Part(text="second")]


async def test_parts_without_bytes_may_stay() -> None:
    _, *later, last = await requests_with(MultimodalToolResultsPlugin(retention="session"))
    assert later == [[PICTURE, PAGE], [PAGE]]
    assert last == [types.Part(text="second"), PAGE]


def test_another_retention_is_refused() -> None:
    with pytest.raises(ValueError, match="retention must be"):
        MultimodalToolResultsPlugin(retention="for ever")  # type: ignore[arg-type]


async def test_a_result_without_parts_is_returned_as_google_adk_returns_it() -> None:
    plugin, given = MultimodalToolResultsPlugin(), {"ok": True}
    call: Any = None  # neither tool nor context is used
    assert await plugin.after_tool_callback(tool=call, tool_args={}, tool_context=call, result=given) is given
