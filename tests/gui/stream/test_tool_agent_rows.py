"""Events of agents that run as tools, below the event that called them."""

from __future__ import annotations

import pytest
from google.genai import types
from PySide6.QtTest import QAbstractItemModelTester

from inspector_app.stream.event_table_model import EventTableModel
from runtime.events import Event
from tests.gui.events import partial, said
from tests.gui.stream.documents import append, show


@pytest.fixture
def model(qtbot) -> EventTableModel:
    made = EventTableModel()
    made.tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Warning)
    return made


def calling(*ids: str, invocation: str = "e-1") -> Event:
    calls = [types.Part(function_call=types.FunctionCall(id=one, name=f"helper_{one}", args={})) for one in ids]
    return Event(author="root", invocation_id=invocation, content=types.Content(role="model", parts=calls))


def rows(model: EventTableModel) -> list[str]:
    return [f"{shown.kind[:5]} {shown.number} {shown.summary}" for shown in map(model.stream_row, range(model.rowCount()))]


def check_places(model: EventTableModel) -> None:
    """Check that rows and indices are consistent."""
    for row in range(model.rowCount()):
        index = model.index_at(row)
        if index is not None:
            assert model.row_of_index(index) == row
        elif (inside := model.tool_agent_event_at(row)) is not None:
            assert model.row_of_tool_agent_event(inside.id) == row and model.event_at(row) is inside
    assert all(model.row_of_index(index) is not None for index in range(model.event_count))


def test_tool_agent_events_follow_their_call(model: EventTableModel) -> None:
    show(model, [said("go", author="user"), calling("a", "b"), said("meanwhile", author="other")])
    for text, call in (("b 1", "b"), ("a 1", "a"), ("b 2", "b")):
        model.add_tool_agent_event(said(text, author="helper"), (call,))
    append(model, [said("done", author="root"), said("next", author="user", invocation="e-2")])
    assert [f"{row.kind}: {row.summary.partition(' inside')[0]}" for row in map(model.stream_row, range(model.rowCount()))] == [
        "invocation: go",
        "event: go",
        "event: call helper_a()   ‖   call helper_b()",
        *("tool agent: 2 events", "tool agent event: b 1", "tool agent event: b 2", "tool agent: 1 event", "tool agent event: a 1"),
        *("event: meanwhile", "event: done", "invocation: next", "event: next"),
    ]
    check_places(model)
    assert [shown.number for shown in map(model.stream_row, range(model.rowCount())) if shown.kind == "event"] == ["1", "2", "3", "4", "5"]


def test_nested_calls_have_more_lanes(model: EventTableModel) -> None:
    show(model, [calling("a")])
    inside = calling("deep")
    model.add_tool_agent_event(inside, ("a",))
    model.add_tool_agent_event(said("deepest", author="helper"), ("a", "deep"))
    assert [model.stream_row(row).lanes for row in range(2, 5)] == [1, 1, 2]
    check_places(model)


def test_an_event_is_added_once_and_only_below_a_known_call(model: EventTableModel) -> None:
    show(model, [calling("a")])
    event = said("x", author="helper")
    for _ in range(2):
        model.add_tool_agent_event(event, ("a",))
    model.add_tool_agent_event(said("y"), ("unknown",))
    model.add_tool_agent_event(said("z"), (None,))
    assert model.rowCount() == 4


def test_headers_fold_one_by_one_and_with_their_invocation(model: EventTableModel) -> None:
    show(model, [calling("a"), said("later"), calling("b", invocation="e-2")])
    for number in range(3):
        model.add_tool_agent_event(said(f"a{number}", author="helper"), ("a",))
        model.add_tool_agent_event(said(f"b{number}", author="helper"), ("b",))
    whole = rows(model)
    assert model.is_header(0) and model.is_header(2) and not model.is_header(3)
    model.set_folded(2, True)
    assert len(rows(model)) == len(whole) - 3 and model.stream_row(2).folded
    hidden = said("a3", author="helper")
    model.add_tool_agent_event(hidden, ("a",))
    assert model.row_of_tool_agent_event(hidden.id) is None and "4 events" in model.stream_row(2).summary
    model.set_folded(0, True)
    model.add_tool_agent_event(said("a4", author="helper"), ("a",))
    assert model.row_of_tool_agent_event(hidden.id) is None
    model.unfold_tool_agent_run(hidden.id)
    check_places(model)
    assert model.row_of_tool_agent_event(hidden.id) == 6
    model.fold_all(True)
    assert model.rowCount() == 2
    model.fold_all(False)
    check_places(model)


def test_a_filter_shows_stored_events_only(model: EventTableModel) -> None:
    show(model, [calling("a"), said("later")])
    model.add_tool_agent_event(said("first", author="helper"), ("a",))
    model.set_filter(lambda event: event.author == "helper")
    second = said("second", author="helper")
    model.add_tool_agent_event(second, ("a",))
    append(model, [said("stored", author="helper")])
    assert [row[:5] for row in rows(model)] == ["invoc", "event"]
    model.unfold_tool_agent_run(second.id)
    assert model.row_of_tool_agent_event(second.id) is None
    model.set_filter(None)
    check_places(model)
    assert model.row_of_tool_agent_event(second.id) == 4


def test_a_tool_agents_streaming_text_becomes_its_event(model: EventTableModel) -> None:
    show(model, [calling("a")])
    model.add_tool_agent_event(partial("Once"), ("a",))
    assert rows(model)[-1].startswith("strea")
    model.add_tool_agent_event(said("Once upon a time"), ("a",))
    assert [row[:5] for row in rows(model)] == ["invoc", "event", "tool ", "tool "]


def test_the_held_row_is_marked(model: EventTableModel) -> None:
    show(model, [calling("a")])
    event = said("x", author="helper")
    model.add_tool_agent_event(event, ("a",))
    model.set_held(event.id)
    assert model.stream_row(3).held
    model.set_held(None)
    assert not model.stream_row(3).held
