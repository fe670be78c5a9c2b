"""One event with very many calls: no pane takes more than time proportional to their number, and rows are capped."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from google.genai import types
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector_app.branches.aspect_view import MOST_SHOWN, AspectView
from inspector_app.branches.comparison_aspects import aspects_of
from inspector_app.detail.event_cards import EventCards
from inspector_app.detail.event_detail import EventDetail
from inspector_app.detail.note_bar import NoteBar
from inspector_app.detail.prose import Prose
from inspector_app.detail.request_values import unrecorded_values
from inspector_app.detail.request_view import RequestView
from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.event_summary import SUMMARY_LIMIT, describe
from inspector_app.presentation.spans import activity
from inspector_app.presentation.timeline_rows import MOST_TOOLS, OTHER_TOOLS, Section, Timeline
from inspector_app.presentation.timeline_rows import timeline as timeline_of
from inspector_app.running.pending_pane import PendingPane, PendingRow
from inspector_app.state.delta_view import DeltaView
from inspector_app.state.state_view import StateView
from inspector_app.stream.stream_row import event_row
from inspector_app.timeline.timeline_view import TimelineView
from inspector_app.widgets.json_view import MAX_SHOWN, JsonView
from inspector_app.widgets.value_tree import MAX_CHILDREN
from runtime.events.event import Event
from runtime.history.invocations import invocations
from runtime.history.scoped_state import ScopedState
from runtime.history.state_at import History
from runtime.sessions.session import SessionKey
from runtime.sessions.state import Change

FEW = 400  # calls; below every cap, so that all of them take part


def calls(count: int, *, tool: str = "look_up", waits: bool = False) -> Event:
    parts = [types.Part(function_call=types.FunctionCall(name=tool, id=f"c{number}", args={"n": number})) for number in range(count)]
    waiting = {f"c{number}" for number in range(count)} if waits else None
    content = types.Content(role="model", parts=parts)
    return Event(author="clerk", invocation_id="e-1", timestamp=1e9, content=content, long_running_tool_ids=waiting)


def responses(count: int, result: Any = "ok") -> Event:
    parts = [
        types.Part(function_response=types.FunctionResponse(name="look_up", id=f"c{number}", response={"result": number, "of": result}))
        for number in range(count)
    ]
    return Event(author="clerk", invocation_id="e-1", timestamp=1e9 + 1, content=types.Content(role="user", parts=parts))


def timeline(events: list[Event]) -> Timeline:
    return timeline_of([Section("", activity(events))])


def failures(count: int) -> Event:
    event = responses(count)
    for response in event.get_function_responses():
        response.response = {"error": "out of order"}
    return event


def writes(count: int) -> list[Change]:
    return [Change(f"key_{number}", number, number + 1, "changed") for number in range(count)]


def state(count: int) -> ScopedState:
    return ScopedState({f"key_{number}": number for number in range(count)})


def branched(count: int) -> list[Event]:
    return [
        Event(author="clerk", branch=f"desk.clerk_{number}", invocation_id="e-1", timestamp=1e9 + number, content=text)
        for number, text in enumerate([types.Content(role="model", parts=[types.Part(text="ok")])] * count)
    ]


def cards() -> EventCards:
    return EventCards(DeltaView(), NoteBar())


def fill_content(event: Event) -> Callable[[], object]:
    view = cards()
    return lambda: (view.set_event(event), view.show_tree(True), view.show_tree(False))


def compared(count: int) -> Callable[[], object]:
    left, right = History([calls(count)], baseline={}), History([calls(count, tool="other")], baseline={})
    return lambda: aspects_of(left, 0, right, 0, frozenset())


def filled_pending(count: int) -> Callable[[], object]:
    pane = PendingPane()
    address = SessionAddress("orders.db", SessionKey("orders", "user", "s"))
    event = calls(count, waits=True)
    return lambda: pane.set_rows([PendingRow(address, item, "", "") for entry in invocations([event]) for item in entry.pending], address)


PANES: dict[str, Callable[[int], Callable[[], object]]] = {
    "summary": lambda count: lambda: describe(calls(count)),
    "row": lambda count: lambda: event_row(responses(count), 0, "author0", False, (), 0, "", None),
    "content of calls": lambda count: fill_content(calls(count)),
    "content of responses": lambda count: fill_content(responses(count)),
    "content of failures": lambda count: fill_content(failures(count)),
    "title": lambda count: lambda: EventDetail().show_event(0, calls(count)),
    "JSON": lambda count: lambda: JsonView().set_json(calls(count).model_dump_json(indent=2)),
    "delta": lambda count: lambda: DeltaView().set_changes(writes(count)),
    "state": lambda count: lambda: StateView().set_state(state(count), writes(count), "state", {}),
    "timeline": lambda count: lambda: TimelineView().set_timeline(timeline([calls(count), responses(count)]), {}),
    "timeline of branches": lambda count: lambda: timeline(branched(count)),
    "request": lambda count: lambda: RequestView().set_request(unrecorded_values(calls(count), [calls(count).content or types.Content()])),
    "pending": filled_pending,
    "compare": compared,
}


def lines_run(work: Callable[[], object]) -> int:
    """Return how many lines of Python a function runs: a measure of its time that does not depend on the machine."""
    count = 0

    def on_line(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return on_line

    before = sys.gettrace()
    sys.settrace(on_line)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("pane", list(PANES))
def test_the_work_of_a_pane_is_proportional_to_the_number_of_calls(pane: str, qtbot: QtBot) -> None:
    PANES[pane](FEW)()  # caches and imports
    once, twice = lines_run(PANES[pane](FEW)), lines_run(PANES[pane](2 * FEW))
    assert twice <= 2.3 * once


def test_equal_titles_are_numbered_and_a_tool_may_have_such_a_name(qtbot: QtBot) -> None:
    view = cards()
    qtbot.addWidget(view)
    event = calls(3)
    assert event.content is not None and event.content.parts is not None
    named_so = types.FunctionCall(name="look_up (2)", id="x", args={"n": 9})
    event.content.parts.insert(1, types.Part(function_call=named_so))
    view.set_event(event)
    view.show_tree(True)
    model = view.model
    keys = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert keys == ["call look_up", "call look_up (2)", "call look_up (3)", "call look_up (4)"]


def test_thirty_thousand_calls_are_shown_in_part_and_all_on_request(qtbot: QtBot) -> None:
    view = cards()
    qtbot.addWidget(view)
    view.resize(500, 600)
    view.show()
    view.set_event(calls(30_000))
    assert "more, see JSON" in view.calls.findChild(Prose).toPlainText()
    view.show_tree(True)
    tree, model = view.tree, view.model
    assert model.rowCount() == MAX_CHILDREN + 1
    last = model.index(MAX_CHILDREN, 0)
    assert model.index(MAX_CHILDREN, 1).data() == "Show all 30,000"
    tree.scrollTo(last)
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.visualRect(last).center())
    assert model.rowCount() == 30_000
    assert model.index(29_999, 0).data() == "call look_up (30000)"


def test_the_json_of_thirty_thousand_calls_fills_the_pane_and_no_more(qtbot: QtBot) -> None:
    view = JsonView()
    qtbot.addWidget(view)
    view.set_json(calls(30_000).model_dump_json(exclude_none=True, indent=2))
    assert MAX_SHOWN * 0.8 < len(view.text) <= MAX_SHOWN * 1.1
    assert '"n": 5' in view.text


def test_a_summary_reads_no_more_calls_than_it_shows() -> None:
    assert len(describe(calls(30_000)).summary) <= SUMMARY_LIMIT + 1


def test_calls_of_one_tool_that_end_together_are_one_bar() -> None:
    rows = timeline([calls(8_000), responses(8_000)]).rows
    assert [len(row.bars) for row in rows if row.label == "look_up"] == [1]


def test_the_timeline_has_one_row_for_the_tools_after_the_first_thousand() -> None:
    called = Event(author="clerk", invocation_id="e-1", timestamp=1e9, content=types.Content(role="model", parts=[]))
    assert called.content is not None
    called.content.parts = [types.Part(function_call=types.FunctionCall(name=f"tool_{n}", id=f"c{n}")) for n in range(3_000)]
    rows = timeline([called]).rows
    assert len(rows) == 1 + MOST_TOOLS + 1
    assert (rows[-1].label, len(rows[-1].bars)) == (OTHER_TOOLS, 1)


def test_all_aspects_of_a_comparison_are_listed_on_request(qtbot: QtBot) -> None:
    view = AspectView()
    qtbot.addWidget(view)
    view.resize(900, 400)
    view.show()
    left, right = History([calls(2_000)], baseline={}), History([calls(2_000, tool="other")], baseline={})
    view.set_aspects(aspects_of(left, 0, right, 0, frozenset()))
    names = view.names
    assert names.count() == MOST_SHOWN + 1
    last = names.item(MOST_SHOWN)
    names.scrollToItem(last)
    qtbot.mouseClick(names.viewport(), Qt.MouseButton.LeftButton, pos=names.visualItemRect(last).center())
    assert names.count() == len(view.aspects) > 2_000
    assert names.item(MOST_SHOWN).text() == view.aspects[MOST_SHOWN].name
