"""Each invocation's status, compared with the fixtures' manifest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.genai import types

from runtime.events import Event, EventActions
from runtime.events.event_actions import EventCompaction
from runtime.events.marks import CONFIRMATION_CALL
from runtime.events.plain_event import plain_event
from runtime.history.invocations import earlier_unanswered, invocations, pending_items, present
from tests.fixture_paths import fixtures_dir, manifest

STATUS = {"completed": "finished", "crashed": "interrupted", "failed": "interrupted", "paused": "paused"}

OTHERWISE = {
    # google-adk 1.18 fails each turn after a stored compaction, so that no agent answered; the scenario itself completed.
    "adk1.18.0-v0-compaction": "interrupted",
}


def _events(stored: list[dict[str, Any]]) -> list[Event]:
    return [Event.model_validate(_short(event)) for event in stored]


def _short(value: Any) -> Any:
    """Replace the manifest's `__long_text__` objects by a text."""
    if isinstance(value, dict):
        return "long" if "__long_text__" in value else {key: _short(item) for key, item in value.items()}
    return [_short(item) for item in value] if isinstance(value, list) else value


@pytest.mark.rule("I3")
@pytest.mark.parametrize(
    "database",
    # The manifest has the status of one session only.
    [entry for entry in manifest() if entry.get("last_invocation_status") in STATUS and len(entry["sessions"]) == 1],
    ids=lambda entry: entry["name"],
)
def test_last_invocation_status_matches_the_manifest(database: dict[str, Any]) -> None:
    expected = json.loads((fixtures_dir() / "open" / database["expected"]).read_text("utf-8"))
    found = invocations(_events(expected["sessions"][0]["events"]))
    assert found[-1].status == OTHERWISE.get(database["name"], STATUS[database["last_invocation_status"]])


def test_checkpoints_and_ends_are_listed_by_agent() -> None:
    events = [
        Event(author="user", invocation_id="i", content={"parts": [{"text": "go"}]}),  # type: ignore[arg-type]
        Event(author="flow", invocation_id="i", actions=EventActions(agent_state={"step": 1})),
        Event(author="child", invocation_id="i", actions=EventActions(end_of_agent=True)),
    ]
    (found,) = invocations(events)
    assert found.checkpoint == {"flow": {"step": 1}, "child": "end"}
    assert (found.status, found.reason) == ("interrupted", "flow has not reached its end")
    assert (found.first_event_id, found.last_event_id) == (events[0].id, events[2].id)
    assert [item.kind for item in pending_items(events)] == ["interrupted"]


def test_a_custom_agent_whose_child_commits_first_is_the_root() -> None:
    child = [Event(invocation_id="i", author="child", content=types.ModelContent("done")), _mark("child", end_of_agent=True)]
    begun = [Event(invocation_id="i", author="user", content=types.UserContent("go")), *child, _mark("flow", agent_state={"step": 1})]
    (found,) = invocations(begun)
    assert (found.status, found.reason) == ("interrupted", "flow has not reached its end")
    (found,) = invocations([*begun, *child, _mark("flow", agent_state={"step": 2}), _mark("flow", end_of_agent=True)])
    assert found.status == "finished"


def _mark(author: str, **actions: Any) -> Event:
    return Event(invocation_id="i", author=author, actions=EventActions(**actions))


def test_a_rewound_invocation_has_no_pending_items() -> None:
    events = [
        Event(author="user", invocation_id="one", content={"parts": [{"text": "go"}]}),  # type: ignore[arg-type]
        Event(author="user", invocation_id="two", content={"parts": [{"text": "go"}]}),  # type: ignore[arg-type]
        Event(author="user", invocation_id="three", actions=EventActions(rewind_before_invocation_id="two")),
    ]
    assert [found.status for found in invocations(events)] == ["interrupted", "rewound", "finished"]
    assert [item.invocation_id for item in pending_items(events)] == ["one"]


def test_a_run_that_failed_after_a_state_change_is_interrupted() -> None:
    events = [
        Event(author="user", invocation_id="i", content={"parts": [{"text": "go"}]}),  # type: ignore[arg-type]
        Event(author="agent", invocation_id="i", actions=EventActions(state_delta={"k": 1})),
    ]
    assert [found.status for found in invocations(events)] == ["interrupted"]
    assert [found.status for found in invocations(events[1:])] == ["finished"]


def _call(*call_ids: str, **more: Any) -> Event:
    calls = [types.Part(function_call=types.FunctionCall(id=call_id, name="look_up")) for call_id in call_ids]
    return Event(author="agent", invocation_id="i", content=types.Content(role="model", parts=calls), **more)


def _results(*call_ids: str, invocation_id: str) -> Event:
    results = [types.Part(function_response=types.FunctionResponse(id=call_id, name="look_up", response={})) for call_id in call_ids]
    return Event(author="agent", invocation_id=invocation_id, content=types.Content(role="user", parts=results))


QUESTION = Event(author="user", invocation_id="i", content=types.UserContent("go"))
ANSWER = Event(author="agent", invocation_id="i", content=types.ModelContent("done"))


@pytest.mark.rule("I3")
@pytest.mark.parametrize("own", ["7c1f8d20", ""])
def test_parallel_results_with_an_invocation_id_of_their_own_belong_to_their_calls(own: str) -> None:
    chat = [QUESTION, _call("a", "b"), _results("a", "b", invocation_id=own), ANSWER]
    found = [(each.invocation_id, each.status, each.reason) for each in invocations(chat)]
    assert found == [("i", "finished", "the agent answered"), (own, "finished", "holds results of another invocation's calls")]
    assert pending_items(chat) == []
    assert [each.status for each in invocations(chat[:2])] == ["interrupted"]
    assert next(each.reason for each in invocations([*chat[:2], _results("a", invocation_id=own)])) == "no result of look_up"


@pytest.mark.rule("I3")
def test_a_receipt_with_an_invocation_id_of_its_own_answers_no_long_running_call() -> None:
    (found, _) = invocations([QUESTION, _call("a", long_running_tool_ids={"a"}), _results("a", invocation_id="own"), ANSWER])
    assert (found.status, found.reason) == ("paused", "for an answer to look_up")


@pytest.mark.rule("I3")
@pytest.mark.parametrize(
    ("actions", "reason"),
    [
        (EventActions(rewind_before_invocation_id="h", state_delta={"a": None}), "took back earlier invocations"),
        (
            EventActions(compaction=EventCompaction(start_timestamp=1, end_timestamp=2, compacted_content=types.ModelContent("short"))),
            "summarised earlier events",
        ),
        (EventActions(state_delta={"a": 1}), "changed state only"),
    ],
)
def test_an_invocation_without_content_says_what_it_did(actions: EventActions, reason: str) -> None:
    (found,) = invocations([Event(author="user", invocation_id="i", actions=actions)])
    assert (found.status, found.reason) == ("finished", reason)


@pytest.mark.rule("I3")
def test_an_answer_that_escalates_closes_its_turn() -> None:
    event = ANSWER.model_copy(update={"actions": EventActions(escalate=True)})
    assert not event.is_final_response()
    assert [each.status for each in invocations([QUESTION, event])] == ["finished"]


@pytest.mark.parametrize(
    ("text", "status"), [("It is pai", "finished"), (" ", "interrupted"), (None, "interrupted")], ids=["cut off", "blank", "nothing"]
)
@pytest.mark.parametrize("is_plain", [True, False])
def test_an_answer_that_was_cut_off_is_an_answer(text: str | None, status: str, is_plain: bool) -> None:
    content = types.ModelContent(text) if text is not None else None
    event = Event(author="agent", invocation_id="i", content=content, error_code="MAX_TOKENS", id="e", timestamp=1.0)
    shown = plain_event(json.loads(event.model_dump_json(exclude_none=True))) if is_plain else event
    (found,) = invocations([QUESTION, shown])
    assert (found.status, found.reason) == (status, "the agent answered" if status == "finished" else "failed with MAX_TOKENS")


def test_a_live_turn_that_is_complete_is_finished_though_only_transcripts_are_stored() -> None:
    said = Event(author="agent", invocation_id="i", output_transcription=types.Transcription(text="Leeds", finished=True))
    done = Event(author="agent", invocation_id="i", turn_complete=True)
    assert [found.status for found in invocations([QUESTION, said])] == ["interrupted"]
    assert [found.status for found in invocations([QUESTION, said, done])] == ["finished"]
    assert [found.status for found in invocations([QUESTION, said, done, _call("a")])] == ["interrupted"]


def _given(*call_ids: str) -> Event:
    """A person's answer to calls."""
    return _results(*call_ids, invocation_id="i").model_copy(update={"author": "user"})


def _asks(call_id: str) -> Event:
    """The request to confirm a call, which is named after it."""
    args = {"originalFunctionCall": {"id": call_id, "name": "look_up", "args": {}}, "toolConfirmation": {"hint": "", "confirmed": False}}
    call = types.FunctionCall(id=f"ask-{call_id}", name=CONFIRMATION_CALL, args=args)
    content = types.Content(role="model", parts=[types.Part(function_call=call)])
    return Event(author="agent", invocation_id="i", content=content, long_running_tool_ids={f"ask-{call_id}"})


def _skips(event: Event) -> Event:
    """The event, after which the model is not called again."""
    return event.model_copy(update={"actions": EventActions(skip_summarization=True)})


PLACEHOLDER = RESULT = _skips(_results("a", invocation_id="i"))
LONG_RUNNING = _call("a", long_running_tool_ids={"a"})
TWO = [_call("a", "b"), _asks("a"), _asks("b"), _skips(_results("a", "b", invocation_id="i"))]
NOT_ANSWERED = "the agent has not answered"


@pytest.mark.rule("C8", "C9", "I3")
@pytest.mark.parametrize(
    ("events", "status", "reason"),
    [
        ([LONG_RUNNING], "paused", "for an answer to look_up"),
        ([LONG_RUNNING, _given("a")], "interrupted", NOT_ANSWERED),
        ([LONG_RUNNING, _given("a"), _given("a")], "interrupted", NOT_ANSWERED),
        ([LONG_RUNNING, _given("a"), ANSWER], "finished", "the agent answered"),
        ([LONG_RUNNING, _given("a"), ANSWER, _given("a")], "interrupted", NOT_ANSWERED),
        ([LONG_RUNNING, _results("a", invocation_id="i"), ANSWER, _given("a")], "interrupted", NOT_ANSWERED),
        ([_call("a", "b", long_running_tool_ids={"a", "b"}), _given("a")], "paused", "for an answer to look_up"),
        ([_call("a", "b", long_running_tool_ids={"a", "b"}), _given("a"), _given("b")], "interrupted", NOT_ANSWERED),
        ([_call("a", "b", long_running_tool_ids={"a"}), _given("a")], "interrupted", "no result of look_up"),
        ([_call("a"), _asks("a"), PLACEHOLDER], "paused", "for an answer to look_up"),
        ([_call("a"), _asks("a"), PLACEHOLDER, _given("ask-a")], "interrupted", NOT_ANSWERED),
        ([_call("a"), _asks("a"), PLACEHOLDER, _given("ask-a"), ANSWER], "interrupted", "no result of look_up"),
        (
            [_call("a"), _asks("a"), PLACEHOLDER, _given("ask-a"), RESULT],
            "finished",
            "the agent answered",
        ),
        ([*TWO, _given("ask-a", "ask-b"), RESULT], "interrupted", "no result of look_up"),
        ([*TWO, _given("ask-a"), RESULT], "paused", "for an answer to look_up"),
        ([*TWO, _given("ask-a", "ask-b"), _skips(_results("a", "b", invocation_id="i"))], "finished", "the agent answered"),
        ([ANSWER, QUESTION], "interrupted", NOT_ANSWERED),
        ([LONG_RUNNING, _given("a"), _mark("agent", end_of_agent=True)], "finished", "agent reached its end"),
    ],
)
def test_an_answer_that_no_agent_has_seen_leaves_the_invocation_interrupted(events: list[Event], status: str, reason: str) -> None:
    (found,) = invocations([QUESTION, *events])
    assert (found.status, found.reason) == (status, reason)
    assert bool(found.pending) == (status != "finished")


def test_the_output_of_a_workflow_after_an_answer_finishes_it() -> None:
    def output(path: str, *made_for: str) -> Event:
        return Event(author="graph", invocation_id="i", output={"x": 1}, node_info={"path": path, "output_for": list(made_for)})  # type: ignore[call-arg]

    begun = [QUESTION, output("graph@1/a@1", "graph@1/a@1"), LONG_RUNNING, _given("a")]
    assert [found.status for found in invocations(begun)] == ["interrupted"]
    assert [found.status for found in invocations([*begun, output("graph@1/b@1", "graph@1/b@1")])] == ["interrupted"]
    assert [found.status for found in invocations([*begun, output("graph@1/c@1", "graph@1/c@1", "graph@1")])] == ["finished"]


def _said(invocation: str, author: str, *parts: types.Part, **actions: Any) -> Event:
    role = "user" if author == "user" else "model"
    return Event(
        invocation_id=invocation, author=author, content=types.Content(role=role, parts=list(parts)), actions=EventActions(**actions)
    )


def _did(invocation: str, **actions: Any) -> Event:
    return Event(invocation_id=invocation, author="user", actions=EventActions(**actions))


HELLO = types.Part(text="hello")
LEFT = types.Part(function_response=types.FunctionResponse(id="c", name="exit_loop", response={}))
CALL = types.Part(function_call=types.FunctionCall(id="c", name="exit_loop", args={}))


@pytest.mark.parametrize(
    ("later", "is_past"),
    [
        ([_said("two", "user", HELLO)], True),
        ([_said("two", "user", HELLO), _said("two", "a", HELLO)], True),
        ([_said("two", "a", HELLO)], True),
        ([_did("two", state_delta={"k": 1})], False),
        ([_did("two", rewind_before_invocation_id="none")], False),
        (
            [
                _said("two", "user", HELLO),
                Event(author="user", invocation_id="three", actions=EventActions(rewind_before_invocation_id="two")),
            ],
            False,
        ),
        ([], False),
    ],
)
def test_what_a_message_waits_for_is_past_once_the_conversation_continues(later: list[Event], is_past: bool) -> None:
    found = pending_items([_said("one", "user", HELLO), *later])
    assert (found[0].invocation_id, found[0].is_past) == ("one", is_past)
    assert earlier_unanswered(found) == ("1 earlier message without an answer" if is_past else "")
    assert "one" not in {item.invocation_id for item in present(found)} or not is_past


@pytest.mark.parametrize("content", [types.Content(role="model"), types.Content(role="model", parts=[types.Part(text=" ")])])
def test_an_empty_answer_is_called_one(content: types.Content) -> None:
    events = [
        _said("i", "user", HELLO),
        _said("i", "a", CALL),
        _said("i", "a", LEFT),
        Event(invocation_id="i", author="a", content=content),
    ]
    (found,) = invocations(events)
    assert (found.status, found.reason) == ("finished", "empty answer")


@pytest.mark.parametrize(
    "parts", [(LEFT,), (LEFT, types.Part(function_response=types.FunctionResponse(id="d", name="other", response={})))]
)
def test_a_loop_that_was_left_is_finished(parts: tuple[types.Part, ...]) -> None:
    also = types.Part(function_call=types.FunctionCall(id="d", name="other", args={}))
    calling = _said("i", "reviewer", HELLO, CALL, *([also] if len(parts) > 1 else []))
    (found,) = invocations([_said("i", "user", HELLO), calling, _said("i", "reviewer", *parts, escalate=True)])
    assert (found.status, found.reason) == ("finished", "left its loop")
    (found,) = invocations([_said("i", "user", HELLO), calling, _said("i", "reviewer", *parts)])
    assert found.status == "interrupted", "without its escalation, the loop continues"
