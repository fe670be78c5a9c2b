from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from pytestqt.qtbot import QtBot

from inspector_app.state.delta import DIFFERENCE_ROLE, MOST_SHOWN, DeltaModel, ground
from inspector_app.state.delta_view import DeltaView
from inspector_app.state.state_tree import StateTreeModel
from inspector_app.widgets.value_tree import MAX_CHILDREN, MORE_AT_ONCE, ValueTreeModel
from runtime.history.scoped_state import ScopedState
from runtime.sessions.state import Change


def tree(model: QAbstractItemModel, parent: QModelIndex | None = None) -> list[Any]:
    """Return the texts of a model as nested lists."""
    above = parent or QModelIndex()
    found = []
    for row in range(model.rowCount(above)):
        index = model.index(row, 0, above)
        line = " | ".join(str(model.index(row, column, above).data()) for column in range(model.columnCount(above)))
        inside = tree(model, index)
        found.append([line, *inside] if inside else line)
    return found


def test_an_empty_key_is_shown_in_quotes(tested) -> None:
    model = tested(StateTreeModel())
    model.set_state(ScopedState(session={"": "empty key"}), [], "State at 3")
    assert tree(model)[0] == ["session | 1", '"" | "empty key"']
    delta = tested(DeltaModel())
    delta.set_changes([Change("", None, "empty key", "added")])
    assert delta.index(0, 0).data() == '""'


def test_four_lanes_with_counts_and_nested_values(tested) -> None:
    model = tested(StateTreeModel())
    assert tree(model) == ["session | 0", "user: | 0", "app: | 0", "temp: | 0"]
    model.set_state(ScopedState(session={"step": "PRICED", "cart": [{"sku": "PA4"}]}, user={"user:tier": "gold"}), [], "State at 3")
    assert tree(model) == [
        ["session | 2", ['cart | [{sku: "PA4"}]', ['[0] | {sku: "PA4"}', 'sku | "PA4"']], 'step | "PRICED"'],
        ["user: | 1", 'user:tier | "gold"'],
        "app: | 0",
        "temp: | 0",
    ]
    assert model.headerData(0, Qt.Orientation.Horizontal) == "State at 3"


def test_changed_cleared_unknown_and_removed_keys_are_marked(tested) -> None:
    model = tested(StateTreeModel())
    state = ScopedState(
        session={"total": 154.56, "new": 1, "wiped": None, "old_null": None}, app={"app:vat": 0.2}, temp={"temp:q": 5}, unknown=["app:vat"]
    )
    changes = [
        Change("total", 168.0, 154.56, "changed"),
        Change("new", None, 1, "added"),
        Change("wiped", "x", None, "changed"),
        Change("user:gone", 7, None, "removed"),
        Change("temp:q", None, 5, "added"),
    ]
    model.set_state(state, changes)
    assert tree(model) == [
        ["session | 4", "new | 1", "old_null | cleared (null)", "total | 168.0 → 154.56", 'wiped | "x" → cleared (null)'],
        ["user: | 1", "user:gone | 7 → removed"],
        ["app: | 1", "app:vat | earlier value not recorded"],
        ["temp: | 1", "temp:q | 5"],
    ]
    lane = model.index(0, 0)
    marks = [model.node(model.index(row, 0, lane)).mark for row in range(4)]
    assert marks == ["added", "null", "changed", "cleared"]


def test_unrecorded_and_rewritten_values_are_not_shown_as_changes(tested) -> None:
    model = tested(StateTreeModel())
    changes = [Change("a", None, 1, "written"), Change("b", [2], [2], "changed"), Change("c", 1, True, "changed")]
    model.set_state(ScopedState(session={"a": 1, "b": [2], "c": True}), changes)
    nodes = model.node(model.index(0, 0)).children
    assert [(node.text, node.mark) for node in nodes] == [("1", "changed"), ("[2]", ""), ("1 → true", "changed")]
    delta = tested(DeltaModel())
    delta.set_changes(changes)
    assert [delta.index(row, 1).data() for row in range(3)] == ["not recorded", "[2]", "1"]
    grounds = [[ground(delta.row(row), column) for column in range(3)] for row in range(len(changes))]
    assert grounds == [["", "", "added"], ["", "", ""], ["", "removed", "added"]]


def test_paths_can_be_pasted_into_code(tested) -> None:
    state = {"cart": [{"it's": 1}]}
    model = tested(StateTreeModel())
    model.set_state(ScopedState(session=state), [])
    node = model.node(model.index(0, 0)).children[0].children[0].children[0]
    assert eval(node.path, {"state": state}) == 1


def test_a_huge_container_is_shown_in_part_with_a_note(tested) -> None:
    model = ValueTreeModel()
    model.set_values({"rows": list(range(1_000_000))})
    top = model.index(0, 0)
    assert model.hasChildren(top)
    assert model.rowCount(top) == MAX_CHILDREN + 1
    last = model.index(MAX_CHILDREN, 0, top)
    assert last.siblingAtColumn(1).data() == "Show 50,000 more of 1,000,000"
    model.show_more(last)
    assert model.rowCount(top) == MAX_CHILDREN + MORE_AT_ONCE + 1


def test_all_children_of_a_long_container_are_shown_on_request(tested) -> None:
    model = tested(ValueTreeModel())
    model.set_values({"rows": list(range(1_500)), "few": list(range(MAX_CHILDREN + 1))})
    top = model.index(0, 0)
    last = model.index(MAX_CHILDREN, 0, top)
    assert last.siblingAtColumn(1).data() == "Show all 1,500"
    model.show_more(last)
    assert model.rowCount(top) == 1_500
    assert [model.index(row, 1, top).data() for row in (MAX_CHILDREN, 1_499)] == [str(MAX_CHILDREN), "1499"]
    assert model.rowCount(model.index(1, 0)) == MAX_CHILDREN + 1, "a row that offers a single one takes its place"


def test_a_click_shows_all_keys_of_a_long_delta(qtbot: QtBot) -> None:
    view = DeltaView()
    qtbot.addWidget(view)
    view.resize(600, 400)
    view.show()
    view.set_changes([Change(f"key_{number:05}", None, number, "added") for number in range(3_000)])
    assert view.model.rowCount() == MOST_SHOWN + 1
    last = view.model.index(MOST_SHOWN, 0)
    assert last.data() == "Show all 3,000 keys"
    assert view.context_menu(MOST_SHOWN) is None
    view.table.scrollTo(last)
    qtbot.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=view.table.visualRect(last).center())
    assert view.model.rowCount() == 3_000
    assert view.model.index(2_999, 0).data() == "key_02999"


def test_the_delta_is_sorted_by_scope_with_a_dash_for_absent_values(tested) -> None:
    model = tested(DeltaModel())
    model.set_changes(
        [
            Change("temp:quote_id", None, "q-5531", "added"),
            Change("total", 168.0, 154.56, "changed"),
            Change("user:gone", 1, None, "removed"),
            Change("note", "x", None, "changed"),
        ],
        "delta of 142",
    )
    shown = [[model.index(row, column).data() for column in range(3)] for row in range(model.rowCount())]
    assert shown == [
        ["total", "168.0", "154.56"],
        ["note", '"x"', "null (cleared)"],
        ["user:gone", "1", "–"],
        ["temp:quote_id", "–", '"q-5531"'],
    ]
    assert model.headerData(0, Qt.Orientation.Horizontal) == "delta of 142"
    model.set_changes([])
    assert model.rowCount() == 0


def test_places_inside_a_changed_value_are_listed_below_it(tested) -> None:
    delta = tested(DeltaModel())
    before, after = {"n": 1, "text": "twelve boxes", "gone": 0}, {"n": 2, "text": "twenty boxes", "new": [1]}
    delta.set_changes([Change("cart", before, after, "changed"), Change("k", 1, 2, "changed")])
    cells = [[delta.index(row, column).data() for column in range(3)] for row in range(delta.rowCount())]
    assert cells[1:] == [
        [".n", "1", "2"],
        [".text", '"twelve boxes"', '"twenty boxes"'],
        [".gone", "0", "–"],
        [".new", "–", "[1]"],
        ["k", "1", "2"],
    ]
    assert [delta.change(row).key for row in range(6)] == ["cart"] * 5 + ["k"]
    assert [[ground(delta.row(row), column) for column in (1, 2)] for row in (1, 3, 4)] == [
        ["removed", "added"],
        ["removed", ""],
        ["", "added"],
    ]
    part = delta.index(2, 2).data(DIFFERENCE_ROLE)
    assert part.text[part.start : part.end] == "twenty", "whole words"


def test_each_key_shows_its_writer(tested) -> None:
    tree = tested(StateTreeModel())
    state = ScopedState(session={"a": 1, "b": 2, "old": 3}, user={"user:x": 1, "user:y": 1}, app={}, temp={}, unknown=[])
    tree.set_state(state, [], writers={"a": (132, "find_product"), "b": (0, ""), "user:x": (-2, "")})
    written = {node.key: (node.writer, node.writer_index) for lane in range(4) for node in tree.node(tree.index(lane, 0)).children}
    assert written == {
        "a": ("#133 find_product", 132),
        "b": ("#1", 0),
        "old": ("at creation", None),
        "user:x": ("another session", None),
        "user:y": ("not recorded", None),
    }
    assert [tree.headerData(section, Qt.Orientation.Horizontal) for section in range(tree.columnCount())] == [
        "State",
        "Value",
        "Written by",
    ]


def test_pinned_keys_come_first_even_when_not_set(tested) -> None:
    model = tested(StateTreeModel())
    model.set_state(ScopedState(session={"step": 1}, user={"user:tier": "gold"}), [], "State at 3", {"user:tier": (2, "desk")})
    model.set_pinned(["user:tier", "later"])
    assert tree(model)[0] == ["pinned | 2 | ", 'user:tier | "gold" | #3 desk', "later | not set | "]
    model.set_state(ScopedState(session={"step": 1, "later": True}), [], "State at 9")
    assert tree(model)[:2] == [["pinned | 2", "user:tier | not set", "later | true"], ["session | 2", "later | true", "step | 1"]]
    model.set_pinned([])
    assert tree(model)[0] == ["session | 2", "later | true", "step | 1"]


def test_a_search_matches_keys_and_nested_values(tested) -> None:
    model = tested(StateTreeModel())
    model.set_pinned(["step"])
    model.set_state(ScopedState(session={"step": 1, "cart": [{"sku": "PA4-Ü"}]}, app={"app:cart_limit": 3}), [])
    model.search("pa4-ü")
    assert [line if isinstance(line, str) else line[0] for line in tree(model)] == [
        "session | 1 of 2",
        "user: | 0 of 0",
        "app: | 0 of 1",
        "temp: | 0 of 0",
    ]
    model.search("CART")
    assert [len(line) if isinstance(line, list) else 0 for line in tree(model)] == [2, 0, 2, 0]
    model.search("")
    assert tree(model)[0] == ["pinned | 1", "step | 1"]


@pytest.mark.parametrize("width", [400, 300])
def test_the_columns_fit_after_the_pane_became_narrower_while_nothing_was_changed(width: int, qtbot: QtBot) -> None:
    view = DeltaView()
    qtbot.addWidget(view)
    view.resize(1_000, 200)
    view.show()
    view.set_changes([Change("draft_of_the_second_chapter", "once upon a time there was", "the end", "changed")])
    view.set_changes([])
    view.resize(width, 200)
    view.set_changes([Change("draft_of_the_second_chapter", "once upon a time there was a ferry", "the end of the story", "changed")])
    header = view.table.horizontalHeader()
    qtbot.waitUntil(lambda: view.table.viewport().width() <= width)
    assert header.length() <= view.table.viewport().width()
    assert header.sectionSize(2) >= width * 0.25
