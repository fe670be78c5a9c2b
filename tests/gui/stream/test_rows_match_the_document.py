"""The model's rows match the document's events after any sequence of changes."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication

from inspector_app.documents.session_document import Committed, SessionDocument
from inspector_app.documents.session_events import SessionEvents
from inspector_app.stream.event_table_model import EventTableModel
from runtime.events import Event
from runtime.history.state_at import History
from tests.gui.events import partial, said
from tests.gui.stream.documents import ADDRESS

LETTERS = "ab"
CHANGES = st.one_of(
    st.tuples(st.just("append"), st.lists(st.sampled_from(LETTERS), min_size=1, max_size=5)),
    st.tuples(st.just("stream"), st.sampled_from(LETTERS)),
    st.tuples(st.just("evict"), st.integers(1, 4)),
    st.tuples(st.just("filter"), st.sampled_from(["", *LETTERS])),
    st.tuples(st.just("fold"), st.integers(0, 40)),
    st.tuples(st.just("show again"), st.none()),
)


class Pages:
    """Reads evicted events from a list."""

    history: History | None = None

    def __init__(self, stored: list[Event]) -> None:
        self._stored = stored

    def evict(self, row_ids: Sequence[int], history: History, events: SessionEvents) -> None:
        self.history = history
        self._stored += events.in_memory[: len(row_ids)]
        events.evict(len(row_ids), lambda row: row)

    def close(self) -> None:
        """Close nothing."""


class Session:
    """A displayed session, and all its events as the test knows them."""

    def __init__(self) -> None:
        self.all: list[Event] = []
        self.stored: list[Event] = []
        self.wanted = ""
        self.document = SessionDocument(ADDRESS, SessionEvents(), History([], baseline={}))
        self.model = EventTableModel()
        self.tester = QAbstractItemModelTester(self.model, QAbstractItemModelTester.FailureReportingMode.Warning)
        self.model.set_document(self.document)

    def apply(self, change: str, value: object) -> None:
        """Make one of `CHANGES`."""
        if change == "append":
            assert isinstance(value, list)
            events = [said("x", author=letter, invocation=letter) for letter in value]
            self.all += events
            self.document.append([Committed(event, {}) for event in events])
        elif change == "stream":
            self.model.show_partial(partial("x", author=str(value), invocation=str(value)))
        elif change == "evict":
            assert isinstance(value, int)
            count = min(value, len(self.document.events.in_memory))
            if count:
                self.document.evict(list(range(count)), Pages(self.stored))
        elif change == "filter":
            self.wanted = str(value)
            self.model.set_filter((lambda event: event.author == value) if value else None)
            self.model.add_hits(self.hits if value else [])
        elif change == "fold":
            assert isinstance(value, int)
            self.model.set_folded(value, True)
        else:
            self.wanted = ""
            self.model.set_document(self.document)

    @property
    def hits(self) -> list[int]:
        return [place for place, event in enumerate(self.all) if self.wanted in ("", event.author)]

    def check(self) -> None:
        """Check that unfolded rows are the events that pass the filter, in order."""
        model = self.model
        assert model.event_count == len(self.all) == len(self.document.events)
        rows = {place: row for row in range(model.rowCount()) if (place := model.index_at(row)) is not None}
        assert list(rows) == [place for place in self.hits if model.row_of_index(place) is not None]
        assert all(model.row_of_index(place) == row for place, row in rows.items())
        model.fold_all(False)
        unfolded = [model.index_at(row) for row in range(model.rowCount())]
        assert [place for place in unfolded if place is not None] == self.hits


@given(changes=st.lists(CHANGES, max_size=20))
def test_rows_match_the_document_after_any_changes(qapp: QApplication, changes: list[tuple[str, object]]) -> None:
    session = Session()
    for change, value in changes:
        session.apply(change, value)
        assert session.model.event_count == len(session.all)
    session.check()
