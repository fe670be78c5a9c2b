"""The function response that a model receives for a tool's result."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.flows.function_response import function_response
from runtime.models.scripted_llm import Reply
from runtime.tools import FunctionTool
from runtime.tools.base_tool import BaseTool
from tests.seeds.running import llm_agent, run, runner_for, stored

PHOTO = types.Part.from_bytes(data=b"png", mime_type="image/png")
FILE = types.Part.from_uri(file_uri="gs://a/b.pdf", mime_type="application/pdf")
IDLE, SILENT = types.FunctionResponseScheduling.WHEN_IDLE, types.FunctionResponseScheduling.SILENT


def kinds(response: types.FunctionResponse) -> list[Any]:
    return [part.inline_data.mime_type if part.inline_data else part.file_data.file_uri for part in response.parts or []]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("result", "left", "media"),
    [
        (PHOTO, {}, ["image/png"]),
        ([PHOTO, FILE], {}, ["image/png", "gs://a/b.pdf"]),
        ([PHOTO, "a note"], {"result": ["a note"]}, ["image/png"]),
        ({"photo": PHOTO, "note": "n", "none": None}, {"note": "n", "none": None}, ["image/png"]),
        ({"all": [PHOTO, FILE], "note": "n"}, {"note": "n"}, ["image/png", "gs://a/b.pdf"]),
        ({"some": {"photo": PHOTO, "size": 3}}, {"some": {"size": 3}}, ["image/png"]),
        ({"text": types.Part(text="x")}, {"text": {"text": "x"}}, []),
        ({"deep": [[{"name": "x"}]]}, {"deep": [[{"name": "x"}]]}, []),
        ("plain", {"result": "plain"}, []),
        (None, {"result": None}, []),
    ],
)
def test_media_are_parts_of_the_response(result: Any, left: Any, media: list[str]) -> None:
    response = function_response("1", "look", None, result)
    assert (response.id, response.name, response.response, kinds(response)) == ("1", "look", left, media)
    assert response.parts or "parts" not in response.model_dump(exclude_unset=True)


def test_a_result_that_contains_itself_ends() -> None:
    result: dict[str, Any] = {"photo": PHOTO}
    result["again"] = result
    assert kinds(function_response("1", "look", None, result))[0] == "image/png"


@pytest.mark.parametrize(
    ("default", "own", "expected"), [(None, None, None), (IDLE, None, IDLE), (IDLE, SILENT, SILENT), (None, SILENT, SILENT)]
)
def test_a_response_has_the_scheduling_of_the_result_or_else_of_the_tool(default: Any, own: Any, expected: Any) -> None:
    tool = BaseTool(name="look", description="Looks.", response_scheduling=default)
    result = types.FunctionResponse(response={"seen": 1}, scheduling=own)
    response = function_response("1", "look", tool, result)
    assert (response.response, response.scheduling) == ({"seen": 1}, expected)


async def test_a_photo_that_a_tool_returns_is_stored_and_sent_as_a_photo() -> None:
    def photograph() -> dict[str, Any]:
        """Take a photo."""
        return {"photo": PHOTO, "place": "here"}

    tool = FunctionTool(photograph)
    tool.response_scheduling = IDLE
    runner = runner_for(llm_agent("agent", Reply(calls=[("photograph", {})]), "done", tools=[tool]))
    await run(runner)
    (response,) = [one for event in (await stored(runner)).events for one in event.get_function_responses()]
    assert (response.response, kinds(response), response.scheduling) == ({"place": "here"}, ["image/png"], IDLE)
