from __future__ import annotations

import pytest
from PySide6.QtTest import QAbstractItemModelTester

from inspector_app.documents.invocation_groups import InvocationGroups
from inspector_app.documents.session_events import PAGE, SessionEvents
from inspector_app.stream.event_table_model import EventTableModel
from runtime.events import Event
from tests.gui.events import partial, said, turns
from tests.gui.stream.documents import append, document_of, show
from tests.gui.stream.stream_rows import rows

STORED = turns(3 * PAGE, per_invocation=4)


@pytest.fixture
def model(qtbot) -> EventTableModel:
    made = EventTableModel()
    made.tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Warning)
    return made


def session() -> SessionEvents:
    events = SessionEvents(stored_count=len(STORED), decode=lambda row: row[1], on_request=lambda: None)
    events.store_page(2 * PAGE, [(event.id, event) for event in STORED[2 * PAGE :]])
    return events


def groups(first: int = 0) -> InvocationGroups:
    return InvocationGroups(((place, f"e-{place // 4}") for place in range(first, len(STORED), 4)), len(STORED), unread=first)


def test_rows_of_unread_events_are_filled_when_their_page_is_read(model: EventTableModel) -> None:
    events = session()
    model.set_document(document_of(events, groups()))
    assert model.rowCount() == len(STORED) + len(STORED) // 4
    assert model.stream_row(1).summary == "…"
    assert model.event_at(1) is None
    changed = []
    model.dataChanged.connect(lambda first, last: changed.append((first.row(), last.row())))
    assert events.next_requested_page() == (0, PAGE)
    model.document.put(0, [(event.id, event) for event in STORED[:PAGE]])
    assert changed == [(0, PAGE + PAGE // 4 - 1)]
    assert model.stream_row(1).summary == "text 0"
    assert model.stream_row(0).tokens == "4 events · 3.0 s"


def test_took_is_computed_when_the_event_before_is_read_later(model: EventTableModel) -> None:
    stored = turns(2 * PAGE, per_invocation=2 * PAGE)
    events = SessionEvents(stored_count=len(stored), decode=lambda row: row[1], on_request=lambda: None)
    events.store_page(PAGE, [(event.id, event) for event in stored[PAGE:]])
    model.set_document(document_of(events, InvocationGroups([(0, "e-0")], len(stored))))
    row = model.row_of_index(PAGE)
    assert model.stream_row(row).took == ""
    model.document.put(0, [(event.id, event) for event in stored[:PAGE]])
    assert model.stream_row(row).took == "1.0 s"


def test_a_header_of_unread_events_has_only_their_count(model: EventTableModel) -> None:
    model.set_document(document_of(session(), groups()))
    assert model.stream_row(0).tokens == "4 events"


def test_groups_found_later_replace_the_unread_ones(model: EventTableModel) -> None:
    known = 3 * PAGE - 8
    model.set_document(document_of(session(), groups(known)))
    assert model.stream_row(0).summary == f"{known} earlier events"
    assert model.row_of_index(known) == known + 2
    append(model, [said("live", invocation="e-95"), said("new", invocation="e-96")])
    around: list[str] = []
    model.regrouping.connect(lambda: around.append("before"))
    model.regrouped.connect(lambda: around.append("after"))
    model.document.set_groups(groups())
    assert around == ["before", "after"]
    assert rows(model)[-4:] == ["event: text 383", "event: live", "invocation: invocation e-96", "event: new"]
    assert model.row_of_index(0) == 1
    assert model.event_count == len(STORED) + 2


def test_the_filter_shows_hits_under_their_invocation(model: EventTableModel) -> None:
    show(model, turns(12))
    model.set_filter(lambda event: "1" in str(event.content))
    assert rows(model) == []
    counted = []
    model.shown_changed.connect(lambda: counted.append(model.shown_count))
    model.add_hits([1])
    model.add_hits([10, 11])
    assert rows(model) == [
        "invocation: text 0",
        "event: text 1",
        "invocation: text 8",
        "event: text 10",
        "event: text 11",
    ]
    assert counted == [1, 3]
    assert [model.index_at(row) for row in range(5)] == [None, 1, None, 10, 11]
    assert model.stream_row(3).number == "11"
    assert model.row_of_index(10) == 3
    assert model.row_of_index(2) is None
    assert model.header_row_of_index(2) is None
    assert (model.shown_after(1), model.shown_before(10), model.shown_after(11), model.shown_before(1)) == (10, 1, None, None)


def test_new_events_are_filtered_as_they_arrive(model: EventTableModel) -> None:
    show(model, turns(4))
    model.set_filter(lambda event: event.author == "user")
    model.add_hits([0])
    append(
        model, [said("no", invocation="e-0"), said("yes", author="user", invocation="e-0"), said("yes", author="user", invocation="e-9")]
    )
    model.show_partial(partial("grow", invocation="e-9"))
    append(model, [said("no", invocation="e-9")])
    assert rows(model) == [
        "invocation: text 0",
        "event: text 0",
        "event: yes",
        "invocation: yes",
        "event: yes",
    ]
    model.set_filter(None)
    assert model.event_count == 8
    assert [model.index_at(row) for row in range(model.rowCount()) if not model.is_header(row)] == list(range(8))


def test_hits_found_after_new_events_arrived_are_in_order(model: EventTableModel) -> None:
    show(model, turns(8))
    model.set_filter(lambda event: True)
    append(model, [said("live", invocation="e-1")])
    model.add_hits([2, 3, 8])
    assert [model.index_at(row) for row in range(model.rowCount()) if not model.is_header(row)] == [2, 3, 8]


def test_groups_fold_under_a_filter(model: EventTableModel) -> None:
    show(model, turns(12))
    model.set_filter(lambda event: True)
    model.add_hits([0, 1, 4, 5])
    model.set_folded(0, True)
    assert rows(model) == ["invocation: text 0", "invocation: text 4", "event: text 4", "event: text 5"]
    assert model.row_of_index(1) is None
    assert model.header_row_of_index(1) == 0
    model.set_filter(None)
    assert model.rowCount() == 15


def test_a_long_session_is_filtered_without_reading_its_events(model: EventTableModel) -> None:
    def refuse(event: Event) -> bool:
        raise AssertionError(event)

    model.set_document(document_of(session(), groups()))
    model.set_filter(refuse)
    model.add_hits([3, 4])
    assert [row.kind for row in map(model.stream_row, range(model.rowCount()))] == ["invocation", "event", "invocation", "event"]
