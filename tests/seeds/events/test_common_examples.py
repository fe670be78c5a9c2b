"""Seed: events, "Common Event Examples (Illustrative Patterns)"."""

from __future__ import annotations

import json
import re

import pytest
from google.genai import types

from runtime.events import Event, EventActions

# The seed's eight JSON events with the documented result of `is_final_response()`.
EXAMPLES: list[tuple[str, bool | None, str]] = [
    (
        "User Input",
        None,
        r"""
        {
          "author": "user",
          "invocation_id": "e-xyz...",
          "content": {"parts": [{"text": "Book a flight to London for next Tuesday"}]}
          // actions usually empty
        }
        """,
    ),
    (
        "Agent Final Text Response",
        True,
        r"""
        {
          "author": "TravelAgent",
          "invocation_id": "e-xyz...",
          "content": {"parts": [{"text": "Okay, I can help with that. Could you confirm the departure city?"}]},
          "partial": false,
          "turn_complete": true
          // actions might have state delta, etc.
        }
        """,
    ),
    (
        "Agent Streaming Text Response",
        False,
        r"""
        {
          "author": "SummaryAgent",
          "invocation_id": "e-abc...",
          "content": {"parts": [{"text": "The document discusses three main points:"}]},
          "partial": true,
          "turn_complete": false
        }
        // ... more partial=True events follow ...
        """,
    ),
    (
        "Tool Call Request (by LLM)",
        False,
        r"""
        {
          "author": "TravelAgent",
          "invocation_id": "e-xyz...",
          "content": {"parts": [{"function_call": {"name": "find_airports", "args": {"city": "London"}}}]}
          // actions usually empty
        }
        """,
    ),
    (
        "Tool Result Provided (to LLM)",
        None,
        r"""
        {
          "author": "TravelAgent", // Author is agent that requested the call
          "invocation_id": "e-xyz...",
          "content": {
            "role": "user", // Role for LLM history
            "parts": [{"function_response": {"name": "find_airports", "response": {"result": ["LHR", "LGW", "STN"]}}}]
          }
          // actions might have skip_summarization=True
        }
        """,
    ),
    (
        "State/Artifact Update Only",
        False,
        r"""
        {
          "author": "InternalUpdater",
          "invocation_id": "e-def...",
          "content": null,
          "actions": {
            "state_delta": {"user_status": "verified"},
            "artifact_delta": {"verification_doc.pdf": 2}
          }
        }
        """,
    ),
    (
        "Agent Transfer Signal",
        False,
        r"""
        {
          "author": "OrchestratorAgent",
          "invocation_id": "e-789...",
          "content": {"parts": [{"function_call": {"name": "transfer_to_agent", "args": {"agent_name": "BillingAgent"}}}]},
          "actions": {"transfer_to_agent": "BillingAgent"} // Added by framework
        }
        """,
    ),
    (
        "Loop Escalation Signal",
        False,
        r"""
        {
          "author": "CheckerAgent",
          "invocation_id": "e-loop...",
          "content": {"parts": [{"text": "Maximum retries reached."}]}, // Optional content
          "actions": {"escalate": true}
        }
        """,
    ),
]


def without_comments(source: str) -> str:
    lines = [re.sub(r"\s*//.*", "", line) for line in source.splitlines()]
    return re.sub(r",(\s*[}\]])", r"\1", "\n".join(lines))


def test_all_eight_examples_are_present() -> None:
    assert len(EXAMPLES) == 8


@pytest.mark.rule("R10")
@pytest.mark.parametrize(("title", "final", "source"), EXAMPLES, ids=[title for title, _, _ in EXAMPLES])
def test_each_example_is_read_and_final_as_documented(title: str, final: bool | None, source: str) -> None:
    source = without_comments(source)
    event = Event.model_validate_json(source)
    said = json.loads(source)
    assert (event.author, event.invocation_id) == (said["author"], said["invocation_id"])
    if final is not None:
        assert event.is_final_response() is final
    again = Event.model_validate_json(event.model_dump_json(exclude_none=True))
    assert again == event


@pytest.mark.rule("E7", "R11")
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


def test_snake_case_and_camel_case_are_read() -> None:
    event = Event.model_validate_json('{"author": "a", "invocationId": "i", "actions": {"stateDelta": {"k": 1}, "endOfAgent": true}}')
    assert (event.invocation_id, event.actions.state_delta, event.actions.end_of_agent) == ("i", {"k": 1}, True)
