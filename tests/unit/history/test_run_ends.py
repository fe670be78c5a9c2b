"""What is recorded of a run's end, where its events do not tell."""

from __future__ import annotations

import pytest
from google.genai import types

from runtime.events import Event, EventActions
from runtime.events.marks import CONFIRMATION_CALL
from runtime.history.run_ends import end_of


def _event(author: str, *parts: types.Part, **more: object) -> Event:
    return Event(author=author, invocation_id="i", content=types.Content(role="model", parts=list(parts)), **more)  # type: ignore[arg-type]


def _response(call_id: str, name: str = "buy") -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response={}))


QUESTION = _event("user", types.Part(text="go"))
CALL = types.Part(function_call=types.FunctionCall(id="c", name="buy"))
REQUEST = types.Part(function_call=types.FunctionCall(id="r", name=CONFIRMATION_CALL, args={"originalFunctionCall": {"id": "c"}}))
LONG_RUNNING = _event("clerk", CALL, long_running_tool_ids={"c"})
CONFIRMED = [_event("clerk", CALL), _event("clerk", REQUEST, long_running_tool_ids={"r"}), _event("clerk", _response("c"))]


@pytest.mark.rule("I8")
def test_an_agent_that_ended_without_an_answer_is_finished() -> None:
    changed = Event(author="clerk", invocation_id="i", actions=EventActions(state_delta={"a": 1}))
    for events in ([QUESTION], [QUESTION, changed]):
        end = end_of(events, None)
        assert end is not None
        assert (end.status, end.reason, end.last_event_id) == ("finished", "the agent ended", events[-1].id)


@pytest.mark.rule("I8")
@pytest.mark.parametrize(
    "events",
    [
        [LONG_RUNNING],
        [LONG_RUNNING, _event("user", _response("c"))],
        [*CONFIRMED, _event("user", _response("r"))],
        [*CONFIRMED, _event("user", _response("r")), _event("clerk", types.Part(text="All done!"))],
    ],
)
def test_a_run_that_did_nothing_with_an_answer_is_never_recorded_as_finished(events: list[Event]) -> None:
    assert end_of([QUESTION, *events], None) is None


@pytest.mark.rule("I8")
def test_a_run_that_raised_failed_also_after_an_answer() -> None:
    end = end_of([QUESTION, LONG_RUNNING, _event("user", _response("c"))], ValueError("no paper"))
    assert end is not None
    assert (end.status, end.reason) == ("failed", "ValueError: no paper")


@pytest.mark.rule("I8")
def test_a_run_that_a_person_stopped_stays_so_also_after_an_answer() -> None:
    end = end_of([QUESTION, _event("clerk", types.Part(text="All done!"))], None, is_stopped=True)
    assert end is not None
    assert (end.status, end.reason) == ("stopped", "by a person")
    assert end_of([QUESTION, LONG_RUNNING], None, is_stopped=True) is None, "it waits for an answer"
