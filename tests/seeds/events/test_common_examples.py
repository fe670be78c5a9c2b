"""Seed: events, "Common Event Examples (Illustrative Patterns)"."""

from __future__ import annotations

import json
import re

import pytest
from google.genai import types

from runtime.events import Event, EventActions
from tests.fixture_paths import seeds_dir


def _examples() -> list[tuple[str, bool | None, str]]:
    """Return the seed's eight JSON events, comments removed, with what it says of `is_final_response()`."""
    found = []
    text = (seeds_dir() / "events.en.md").read_text("utf-8")
    for title, says, body in re.findall(r"\*\s+\*\*([^*]+):\*\*([^\n]*)\n\s+```json\n(.*?)```", text, re.S):
        lines = [re.sub(r"\s*//.*", "", line) for line in body.splitlines()]
        says_final = re.search(r"is_final_response\(\) == (True|False)", says)
        source = re.sub(r",(\s*[}\]])", r"\1", "\n".join(line for line in lines if line.strip()))
        found.append((title, None if says_final is None else says_final.group(1) == "True", source))
    return found


EXAMPLES = _examples()


def test_there_are_eight() -> None:
    assert len(EXAMPLES) == 8


@pytest.mark.parametrize(("title", "final", "source"), EXAMPLES, ids=[title for title, _, _ in EXAMPLES])
def test_each_example_reads_and_is_final_as_the_seed_says(title: str, final: bool | None, source: str) -> None:
    event = Event.model_validate_json(source)
    said = json.loads(source)
    assert (event.author, event.invocation_id) == (said["author"], said["invocation_id"])
    if final is not None:
        assert event.is_final_response() is final
    again = Event.model_validate_json(event.model_dump_json(exclude_none=True))
    assert again == event


@pytest.mark.parametrize(
    ("event", "final"),
    [
        (Event(author="a", content=types.Content(parts=[types.Part(text="x")])), True),
        (Event(author="a", content=types.Content(parts=[types.Part(text="x")]), partial=True), False),
        (Event(author="a", content=types.Content(parts=[types.Part.from_function_call(name="f", args={})])), False),
        (Event(author="a", content=types.Content(parts=[types.Part.from_function_response(name="f", response={})])), False),
        (
            Event(
                author="a",
                content=types.Content(parts=[types.Part.from_function_response(name="f", response={})]),
                actions=EventActions(skip_summarization=True),
            ),
            True,
        ),
        (
            Event(
                author="a",
                content=types.Content(parts=[types.Part.from_function_call(name="f", args={})]),
                long_running_tool_ids={"call"},
            ),
            True,
        ),
        (
            Event(
                author="a",
                content=types.Content(parts=[types.Part.from_code_execution_result(outcome=types.Outcome.OUTCOME_OK, output="1")]),
            ),
            False,
        ),
        (Event(author="a", actions=EventActions(artifact_delta={"f": 0})), False),
        (Event(author="a", error_code="STOP", error_message="no"), True),
    ],
    ids=["text", "partial", "call", "response", "skips summary", "long-running", "code result", "artifact only", "error"],
)
def test_is_final_response(event: Event, final: bool) -> None:
    assert event.is_final_response() is final


def test_unknown_fields_of_newer_writers_survive_a_round_trip() -> None:
    source = {"author": "a", "node_info": {"path": "a@1"}, "actions": {"render_ui_widgets": [1], "state_delta": {"k": 1}}}
    dumped = json.loads(Event.model_validate(source).model_dump_json(exclude_none=True))
    assert dumped["node_info"] == {"path": "a@1"}
    assert dumped["actions"]["render_ui_widgets"] == [1]


def test_both_spellings_of_names_are_read() -> None:
    event = Event.model_validate_json('{"author": "a", "invocationId": "i", "actions": {"stateDelta": {"k": 1}, "endOfAgent": true}}')
    assert (event.invocation_id, event.actions.state_delta, event.actions.end_of_agent) == ("i", {"k": 1}, True)
