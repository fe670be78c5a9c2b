from __future__ import annotations

import random

import pytest
from google.genai import types
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester

from inspector_app.presentation.signs import SIGNS
from inspector_app.presentation.spans import HeldTime
from inspector_app.stream.event_cells import Column
from inspector_app.stream.event_table_model import EventTableModel
from runtime.events import Event
from runtime.events.marks import RESUMED
from tests.gui.events import changed, partial, said, turns
from tests.gui.stream.documents import append, show
from tests.gui.stream.stream_rows import rows


@pytest.fixture
def model(qtbot) -> EventTableModel:
    made = EventTableModel()
    made.tester = QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Warning)
    return made


def text(model: EventTableModel, row: int, column: Column) -> str:
    return model.data(model.index(row, column))


def test_events_are_grouped_by_invocation(model: EventTableModel) -> None:
    show(model, turns(6, per_invocation=4))
    assert rows(model) == [
        "invocation: text 0",
        *(f"event: text {number}" for number in range(4)),
        "invocation: text 4",
        "event: text 4",
        "event: text 5",
    ]
    assert [model.index_at(row) for row in range(8)] == [None, 0, 1, 2, 3, None, 4, 5]
    assert [model.row_of_index(index) for index in range(6)] == [1, 2, 3, 4, 6, 7]
    assert model.event_at(0) is None
    assert model.event_at(6) is model.committed(4)
    assert model.row_of(model.committed(5).id) == 7
    assert model.row_of("no such id") is None


def test_cells_of_a_row(model: EventTableModel) -> None:
    event = changed({"total": 1, "user:tier": "gold"}, author="order_desk")
    event.usage_metadata = types.GenerateContentResponseUsageMetadata(total_token_count=1234)
    show(model, [event])
    assert text(model, 1, Column.NUMBER) == "1"
    assert text(model, 1, Column.AUTHOR) == "order_desk"
    assert text(model, 1, Column.DELTA) == "Δ2"
    assert text(model, 1, Column.TOKENS) == "1,234"
    assert len(text(model, 1, Column.TIME)) == 8
    assert model.total_tokens == 1234
    model.make.temp_keys_of = {event.id: ["temp:draft"]}.__getitem__
    model.refresh_rows()
    assert text(model, 1, Column.DELTA) == "Δ3"


def test_an_event_with_only_temp_changes_says_so(model: EventTableModel) -> None:
    event = changed({})
    show(model, [event])
    assert text(model, 1, Column.EVENT) == "no content and no change"
    model.make.temp_keys_of = {event.id: ["temp:draft"]}.__getitem__
    model.refresh_rows()
    assert text(model, 1, Column.EVENT) == "changed for this run only, in temp:"


def test_took_is_the_time_since_the_event_that_an_event_followed(model: EventTableModel) -> None:
    fork, left, right, joined = "fan", "fan.left", "fan.right", None
    branches = ((fork, 0), (left, 1), (right, 3), (left, 4), (right, 9), (joined, 12))
    events = [said("x", branch=branch, number=number) for branch, number in branches]
    resumed = said("again", number=15, custom_metadata={RESUMED: True})
    show(model, [*events, resumed, said("later", invocation="e-2", number=20)])
    rows = [row for row in range(model.rowCount()) if not model.is_header(row)]
    assert [text(model, row, Column.TOOK) for row in rows] == ["", "1.0 s", "3.0 s", "3.0 s", "6.0 s", "3.0 s", "", ""]
    tooltip = model.index(rows[2], Column.TIME).data(Qt.ItemDataRole.ToolTipRole)
    assert "3.0 s after the event that it followed" in tooltip


def test_time_at_a_hold_does_not_count(model: EventTableModel) -> None:
    first, second = said("x", number=0), said("x", number=9)
    model.make.holds = lambda: [HeldTime(first.timestamp + 1.0, first.timestamp + 7.0, None)]
    show(model, [first, second])
    assert text(model, 2, Column.TOOK) == "3.0 s"


def test_a_header_has_a_sign_for_the_status_and_count_time_and_tokens(model: EventTableModel) -> None:
    show(model, turns(4))
    model.document.set_statuses({"e-0": "waiting"})
    assert text(model, 0, Column.EVENT) == "text 0   4 events · 3.0 s"
    index = model.index(0, Column.EVENT)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "waiting text 0 4 events · 3.0 s"
    assert "waiting: a person has to answer" in index.data(Qt.ItemDataRole.ToolTipRole)
    assert (model.stream_row(0).icon, model.stream_row(0).role) == SIGNS["waiting"][:2]
    model.document.set_statuses({"e-0": "finished"})
    assert model.stream_row(0).event_kind == "finished"


def test_an_invocation_is_called_by_its_message_in_all_its_groups(model: EventTableModel) -> None:
    asked = said("A trip to\n Lisbon " + "x" * 100, invocation="x", author="user")
    show(model, [asked, said("b", invocation="y"), said("c", invocation="x")])
    title = "A trip to Lisbon " + "x" * 62 + "…"
    assert [row for row in rows(model) if row.startswith("invocation")] == [
        f"invocation: {title}",
        "invocation: invocation y",
        f"invocation: {title} (continued)",
    ]
    assert "invocation x" in model.index(0, Column.EVENT).data(Qt.ItemDataRole.ToolTipRole)
    model.set_filter(lambda event: False)
    model.add_hits([2])
    assert rows(model) == [f"invocation: {title}", "event: c"], "a filter that hides the message keeps the title"
    model.set_filter(None)
    append(model, [said("new", invocation="z"), said("late", invocation="z", author="user")])
    assert "invocation: late" in rows(model)


def test_appending_continues_the_last_group_and_opens_others(model: EventTableModel) -> None:
    events = turns(11, per_invocation=4)
    show(model, events[:2])
    counted = []
    model.events_appended.connect(counted.append)
    append(model, events[2:3])
    append(model, events[3:])
    whole = EventTableModel()
    show(whole, events)
    assert rows(model) == rows(whole)
    assert counted == [1, 8]
    assert model.event_count == 11


@pytest.mark.rule("E6")
def test_partial_events_grow_in_one_row_that_the_final_event_replaces(model: EventTableModel) -> None:
    show(model, [said("go", author="user")])
    inserted, removed = [], []
    model.rowsInserted.connect(lambda *_: inserted.append(1))
    model.rowsRemoved.connect(lambda *_: removed.append(1))
    for piece in ("Once ", "upon ", "a time"):
        model.show_partial(partial(piece))
    assert rows(model)[-1] == "streaming: Once upon a time"
    assert model.event_count == 1
    assert len(inserted) == 1
    final = said("Once upon a time.")
    append(model, [final])
    assert rows(model)[-1] == "event: Once upon a time."
    assert (len(inserted), len(removed)) == (1, 0), "the row stays and becomes the event's"
    assert model.row_of(final.id) == 2


@pytest.mark.rule("E6")
def test_a_partial_event_with_the_whole_text_so_far_replaces_it(model: EventTableModel) -> None:
    for piece in ("One", "One two", "One two three", " four"):
        model.show_partial(partial(piece))
    assert rows(model) == ["streaming: One two three four"]
    grown = model.event_at(0)
    assert grown is not None and grown.partial
    assert grown.content.parts[0].text == "One two three four"


def test_thought_and_text_stream_separately(model: EventTableModel) -> None:
    thought = partial("")
    thought.content.parts = [types.Part(text="let me see", thought=True)]
    append(model, [thought])
    assert rows(model) == ["streaming: let me see"]
    append(model, [partial("Yes")])
    assert rows(model) == ["streaming: Yes"]


def test_parallel_agents_stream_in_separate_rows(model: EventTableModel) -> None:
    show(model, [said("go", author="user")])
    append(model, [partial("a1", author="a"), partial("b1", author="b"), partial("a2", author="a")])
    assert rows(model)[2:] == ["streaming: a1a2", "streaming: b1"]
    append(model, [said("B", author="b")])
    assert rows(model)[2:] == ["event: B", "streaming: a1a2"]
    model.clear_partials()
    assert rows(model)[2:] == ["event: B"]


@pytest.mark.parametrize("grown", [0, 1, 3])
@pytest.mark.parametrize("again", [False, True])
def test_pieces_that_arrive_after_their_commit_leave_no_row(model: EventTableModel, grown: int, again: bool) -> None:
    show(model, [said("go", author="user")])
    pieces = [said(word, partial=True, number=number) for number, word in enumerate(("In ", "June ", "the moon"))]
    for piece in pieces[:grown]:
        model.show_partial(piece)
    final = said("In June the moon", number=3, id=pieces[-1].id)
    append(model, [final])
    if again:
        show(model, [said("go", author="user"), final])
    for piece in pieces[grown:]:
        model.show_partial(piece)
    assert rows(model)[2:] == ["event: In June the moon"]
    model.show_partial(said("shines", partial=True, number=4))
    model.show_partial(said("other", author="other", partial=True, number=1))
    assert rows(model)[3:] == ["streaming: shines", "streaming: other"]


def test_groups_fold_in_the_model(model: EventTableModel) -> None:
    show(model, turns(8))
    model.set_folded(0, True)
    assert [model.index_at(row) for row in range(model.rowCount())] == [None, None, 4, 5, 6, 7]
    assert model.row_of_index(2) is None
    assert model.header_row_of_index(2) == 0
    assert model.stream_row(0).folded
    model.set_folded(2, True)
    assert model.rowCount() == 6, "an event's row is no header"
    append(model, [said("late", invocation="e-1")])
    model.set_folded(1, True)
    append(model, [said("later", invocation="e-1"), said("other", invocation="e-2")])
    assert rows(model)[-1] == "event: other"
    assert model.rowCount() == 4
    model.set_folded(0, False)
    model.set_folded(5, False)
    assert model.rowCount() == model.event_count + 3
    model.fold_all(True)
    assert model.rowCount() == 3


def test_the_held_event_is_marked_once(model: EventTableModel) -> None:
    show(model, turns(3))
    for index in (0, 2):
        model.set_held(model.committed(index).id)
        assert [model.stream_row(row).held for row in range(1, 4)] == [number == index for number in range(3)]
    assert "held here" in model.data(model.index(3, Column.EVENT), Qt.ItemDataRole.AccessibleTextRole)
    model.set_held(None)
    assert not model.stream_row(3).held


def test_agents_get_colours_in_the_order_they_speak(model: EventTableModel) -> None:
    show(model, [said("x", author=author) for author in ("user", "desk", "pricing", "desk")])
    assert [model.stream_row(row).author_role for row in range(1, 5)] == ["text", "author0", "author1", "author0"]
    assert model.authors == ["desk", "pricing"]


def test_tooltips_contain_no_markup(model: EventTableModel) -> None:
    show(model, [said('<img src="file:///dev/zero">')])
    for column in Column:
        tip = model.data(model.index(1, column), Qt.ItemDataRole.ToolTipRole)
        assert tip is None or "<img" not in tip


def test_rows_match_the_events_after_any_sequence_of_changes(model: EventTableModel) -> None:
    chance = random.Random(7)
    show(model, turns(3))
    for step in range(120):
        action = chance.randrange(6)
        if action == 0:
            append(model, [said(f"s{step}", author=chance.choice("ab"), invocation=f"e-{chance.randrange(3)}") for _ in range(3)])
        elif action == 1:
            model.show_partial(partial("p", author=chance.choice("ab"), invocation=f"e-{chance.randrange(3)}"))
        elif action in (2, 3):
            model.set_folded(chance.randrange(max(model.rowCount(), 1)), chance.random() < 0.5)
        elif action == 4:
            model.clear_partials()
        else:
            model.set_held(model.committed(chance.randrange(model.event_count)).id)
        shown = [index for row in range(model.rowCount()) if (index := model.index_at(row)) is not None]
        assert shown == sorted(shown)
        for row in range(model.rowCount()):
            index = model.index_at(row)
            assert index is None or model.row_of_index(index) == row
            model.stream_row(row)
    model.fold_all(False)
    events: list[Event] = [event for row in range(model.rowCount()) if (event := model.event_at(row)) and not event.partial]
    assert events == [model.committed(index) for index in range(model.event_count)]


def test_a_long_streaming_text_is_kept_whole_and_its_row_shows_the_end(model: EventTableModel) -> None:
    pieces = [f"{number} " for number in range(3_000)]
    for piece in pieces:
        model.show_partial(partial(piece))
    assert rows(model) == ["streaming: …" + "".join(pieces)[-160:]]
    grown = model.event_at(0)
    assert grown is not None and grown.content.parts[0].text == "".join(pieces)
