"""Round trips of all event fields through JSON and storage."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types
from pydantic import ValidationError

from runtime.events import Event, EventActions
from runtime.events.event_actions import EventCompaction
from runtime.events.tool_confirmation import ToolConfirmation
from runtime.sessions import DatabaseSessionService, InMemorySessionService

PARTS: list[types.Part] = [
    types.Part(text="said"),
    types.Part(text="thought", thought=True, thought_signature=b"\x00\xff"),
    types.Part(function_call=types.FunctionCall(id="c", name="f", args={"a": [1, None, {"b": "ü"}]})),
    types.Part(function_response=types.FunctionResponse(id="c", name="f", response={"r": 1.5})),
    types.Part(executable_code=types.ExecutableCode(code="1+1", language=types.Language.PYTHON)),
    types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="2")),
    types.Part(inline_data=types.Blob(data=b"\x89PNG\x00", mime_type="image/png")),
    types.Part(file_data=types.FileData(file_uri="gs://bucket/file", mime_type="text/plain")),
]

FIELDS: dict[str, Any] = {
    "branch": "p.a",
    "partial": False,
    "turn_complete": True,
    "interrupted": True,
    "error_code": "SAFETY",
    "error_message": "blocked",
    "usage_metadata": types.GenerateContentResponseUsageMetadata(prompt_token_count=3, total_token_count=5),
    "grounding_metadata": types.GroundingMetadata(web_search_queries=["cats"]),
    "citation_metadata": types.CitationMetadata(citations=[types.Citation(uri="https://x.example")]),
    "input_transcription": types.Transcription(text="heard", finished=True),
    "output_transcription": types.Transcription(text="spoken"),
    "long_running_tool_ids": {"c", "d"},
    "custom_metadata": {"k": [1, {"n": None}]},
    "finish_reason": types.FinishReason.STOP,
}

ACTIONS: dict[str, Any] = {
    "state_delta": {"k": None, "user:k": 1},
    "artifact_delta": {"f": 2},
    "transfer_to_agent": "bob",
    "escalate": True,
    "skip_summarization": True,
    "requested_tool_confirmations": {"c": ToolConfirmation(hint="?", payload={"n": 1})},
    "requested_auth_configs": {"d": {"authScheme": {"type": "http"}}},
    "compaction": EventCompaction(start_timestamp=1.5, end_timestamp=2.5, compacted_content=types.Content(parts=[types.Part(text="sum")])),
    "end_of_agent": True,
    "agent_state": {"step": 3},
    "rewind_before_invocation_id": "i0",
}


@pytest.mark.parametrize("by_alias", [False, True])
def test_all_fields_survive_a_json_round_trip(by_alias: bool) -> None:
    event = Event(
        author="a", invocation_id="i", content=types.Content(role="model", parts=PARTS), actions=EventActions(**ACTIONS), **FIELDS
    )
    again = Event.model_validate_json(event.model_dump_json(by_alias=by_alias, exclude_none=True))
    assert again == event
    for name, value in FIELDS.items():
        assert getattr(again, name) == value
    for name, value in ACTIONS.items():
        assert getattr(again.actions, name) == value


@pytest.mark.rule("R11")
@pytest.mark.parametrize("service", [InMemorySessionService, lambda: DatabaseSessionService("sqlite://")], ids=["memory", "sqlite"])
async def test_all_fields_are_stored(service: Any) -> None:
    actions = {name: value for name, value in ACTIONS.items() if name != "rewind_before_invocation_id"}
    async with service() as kept:
        session = await kept.create_session(app_name="app", user_id="u", session_id="s")
        event = Event(
            author="a", invocation_id="i", content=types.Content(role="model", parts=PARTS), actions=EventActions(**actions), **FIELDS
        )
        await kept.append_event(session, event)
        stored = await kept.get_session(app_name="app", user_id="u", session_id="s")
        assert stored.events == [event]


def test_new_events_have_unique_ids_and_the_current_time() -> None:
    one, two = Event(author="a"), Event(author="a")
    assert one.id != two.id != Event.new_id()
    assert one.timestamp <= two.timestamp


SAID = types.ModelContent("done")
RESULT = types.Content(role="user", parts=PARTS[3:4])
NO_PARTS = types.Content(role="model", parts=[])


@pytest.mark.rule("E7")
@pytest.mark.parametrize("content", [None, NO_PARTS], ids=["no content", "no parts"])
@pytest.mark.parametrize(
    "actions",
    [
        {"state_delta": {"a": None}},
        {"artifact_delta": {"f": 0}},
        {"agent_state": {}},
        {"end_of_agent": True},
        {"transfer_to_agent": "bob"},
        {"escalate": True},
        {"state_delta": {"a": 1}, "skip_summarization": True},
    ],
    ids=str,
)
def test_actions_without_content_are_no_final_response(actions: dict[str, Any], content: types.Content | None) -> None:
    event = Event(author="a", content=content, actions=EventActions(**actions))
    assert not event.is_final_response()
    if not event.actions.escalate:
        event.content = SAID
        assert event.is_final_response()


@pytest.mark.rule("E7")
@pytest.mark.parametrize(
    ("event", "final"),
    [
        (Event(author="a"), True),
        (Event(author="user", content=SAID), True),
        (Event(author="a", content=SAID, partial=True), False),
        (Event(author="a", content=RESULT), False),
        (Event(author="a", content=RESULT, actions=EventActions(skip_summarization=True)), True),
        (Event(author="a", content=RESULT, actions=EventActions(skip_summarization=True, escalate=True)), False),
        (Event(author="a", content=SAID, actions=EventActions(escalate=True)), False),
        (Event(author="a", content=types.Content(parts=PARTS[2:3])), False),
        (Event(author="a", content=types.Content(parts=PARTS[2:3]), long_running_tool_ids={"c"}), True),
        (Event(author="a", content=types.Content(parts=PARTS[5:6])), False),
        (Event(author="a", content=RESULT, error_code="INVOCATION_ABORTED"), True),
        (Event(author="a", error_code="SAFETY", partial=True), False),
        (Event(author="a", actions=EventActions(skip_summarization=True)), True),
    ],
)
def test_other_events_are_final_as_in_google_adk(event: Event, final: bool) -> None:
    assert event.is_final_response() is final


@pytest.mark.rule("R11")
@pytest.mark.parametrize("message", ["hi", types.Part(text="hi"), ["hi"], types.Content(parts=[types.Part(text="hi")], role="user")])
def test_message_is_another_name_for_the_content(message: Any) -> None:
    event = Event(message=message)
    assert event.content is not None
    assert event.message is event.content
    assert event.content.parts == [types.Part(text="hi")]
    event.message = None
    assert event.content is None
    event.message = message
    assert event.content == Event(message=message).content
    with pytest.raises(ValidationError, match="either message or content"):
        Event(message=message, content=types.Content(parts=[]))


@pytest.mark.rule("R11")
def test_state_is_the_delta_of_the_actions_and_output_is_data() -> None:
    event = Event(author="a", state={"k": 1}, actions=EventActions(escalate=True), output={"answer": [42]})
    assert event.actions.state_delta == {"k": 1}
    assert event.actions.escalate
    assert Event.model_validate_json(event.model_dump_json(exclude_none=True)) == event
    assert Event(author="a", state={"k": 1}).actions.state_delta == {"k": 1}


@pytest.mark.rule("R11")
@pytest.mark.logs("values that are not JSON")
def test_an_event_with_any_objects_in_its_delta_can_be_printed() -> None:
    event = Event(author="a", state={"temp:client": object(), "k": 1})
    assert event.model_dump(mode="json")["actions"]["state_delta"]["k"] == 1
    assert "object object" in event.model_dump_json()


def test_a_subclass_may_have_a_message_of_its_own() -> None:
    with pytest.warns(UserWarning, match="shadows"):  # pydantic's, also with google-adk

        class Noted(Event):
            message: str = ""  # type: ignore[assignment]

    noted = Noted(author="a", message="one")
    assert (noted.message, noted.content, Noted().message) == ("one", None, "")
    noted.message = "two"
    assert Noted.model_validate(noted.model_dump()).message == "two" and noted.content is None
