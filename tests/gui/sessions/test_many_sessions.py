"""Databases with so many sessions that the tree is laid out in slices and has pages."""

from __future__ import annotations

import gc
import random
import weakref

import pytest
from PySide6.QtCore import QModelIndex

from inspector_app.presentation.session_info import DatabaseInfo, ForkInfo
from inspector_app.presentation.values import counted
from inspector_app.sessions import session_layout, session_moves, session_order, session_tree
from inspector_app.sessions.session_node import TreeNode
from inspector_app.sessions.session_order import NEWEST_FIRST, ORDERS
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.sessions.sessions_pane import SessionsPane
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import SessionSummary
from tests.gui.sessions.summaries import key, summary
from tests.sweep import count

INFO = DatabaseInfo("big.db")


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay out forty sessions in several slices."""
    for module in (session_layout, session_order):
        monkeypatch.setattr(module, "STEP", 2)


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_layout, "PAGE", 4)
    monkeypatch.setattr(session_moves, "MOST_HELD", 8)


def many(count: int = 40) -> list[SessionSummary]:
    listed = [summary(key("u", f"s-{number:02}"), 3, 1000.0 - number) for number in range(count)]
    return random.Random(1).sample(listed, count)


def users(model: SessionTreeModel) -> list[TreeNode]:
    """Return the nodes above sessions: of users, or of an app or a database with one user."""

    def below(node: TreeNode) -> list[TreeNode]:
        if node.summaries or any(page.meaning == "sessions" for page in node.pages):
            return [node]
        return [user for branch in node.branches for user in below(branch)]

    return below(model.node(QModelIndex()))


def above(user: TreeNode) -> TreeNode:
    """Return the node above a user."""
    node = user.parent
    assert node is not None
    while node.kind == "page":
        node = node.parent
        assert node is not None
    return node


def shown(model: SessionTreeModel) -> list[SessionKey]:
    """Return the sessions of the tree in order, after checking their indexes and the names of the pages."""
    found = []
    for user in users(model):
        first = 1
        for holder in user.pages or [user]:
            assert 0 < len(holder.children) == len(holder.summaries)
            if holder.kind == "page":
                assert holder.name == f"{first:,}–{first + len(holder.summaries) - 1:,}"
                first += len(holder.summaries)
            found += [each.key for each in holder.summaries]
            for row, each in enumerate(holder.summaries):
                index = model.index_of(user.database, each.key)
                assert (index.row(), model.node(index.parent())) == (row, holder)
        listed = model._databases[user.database].sessions
        assert user.detail == (f"{user.count:,}" if user.kind != "database" else counted(len(listed), "session"))
    assert len(found) == model.shown_sessions
    return found


@pytest.mark.sweep
@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("order", list(ORDERS))
@pytest.mark.parametrize(("user_names", "most"), [("uv", 40), ("abcdefghijklmnopqrst", 3)])
def test_sessions_keep_their_order_across_pages_while_they_are_added_changed_and_removed(
    tested, order: str, user_names: str, most: int
) -> None:
    chance, rank = random.Random(11), ORDERS[order].rank or ORDERS[NEWEST_FIRST].rank  # the figures are all unknown
    assert rank is not None
    model = tested(SessionTreeModel(now=lambda: 1000.0))
    model.set_order(order)
    there: dict[SessionKey, SessionSummary] = {}
    model.set_database("big", INFO, [])
    paged = 0
    turns = count(quick=40, full=120)
    for turn in range(turns):
        changed = {
            name: summary(name, chance.randrange(9), float(chance.randrange(50)))
            for name in [SessionKey("a", chance.choice(user_names), f"s{chance.randrange(most)}") for _ in range(chance.randrange(4))]
        }
        gone = chance.sample(sorted(there), min(len(there), chance.randrange(6 if turn % 40 > 30 else 2)))
        removed = [name for name in gone if name not in changed]
        there.update(changed)
        for session in removed:
            del there[session]
        model.update_sessions("big", list(changed.values()), removed)
        expected = sorted(there.values(), key=lambda each: (each.key.user_id, rank(each)))
        assert shown(model) == [each.key for each in expected]
        branches = users(model) if most > 3 else list({above(user).path: above(user) for user in users(model)}.values())
        paged += any(branch.pages for branch in branches)
        for branch in branches:
            sizes = [len(page.children) for page in branch.pages] or [len(branch.children)]
            assert max(sizes) <= 8
            first = [sum(sizes[:number]) + 1 for number in range(len(sizes))]
            named = [f"{start:,}–{start + size - 1:,}" for start, size in zip(first, sizes, strict=True)]
            assert [page.name for page in branch.pages] in ([], named)
    assert paged > turns / 2, "most steps had pages"


def test_an_app_with_many_users_has_pages(qtbot, tested) -> None:
    model = tested(SessionTreeModel(now=lambda: 1000.0))
    pane = SessionsPane(model)
    qtbot.addWidget(pane)
    model.set_database("big", INFO, [summary(key(f"user-{number:03}", "s")) for number in range(700)])
    top = model.node(model.index(0, 0))  # of the only app
    assert [(page.name, page.detail, len(page.children)) for page in top.pages] == [
        ("1–500", "user-000", 500),
        ("501–700", "user-500", 200),
    ]
    (last,) = (user for user in users(model) if user.path == ("big", "order_desk", "user-699"))
    assert model.sessions_below(last) == [key("user-699", "s")]
    assert pane.select_session("big", key("user-600", "s"))


def test_a_user_with_many_sessions_has_pages_and_only_the_first_is_expanded(qtbot) -> None:
    model = SessionTreeModel(now=lambda: 1000.0)
    pane = SessionsPane(model)
    qtbot.addWidget(pane)
    model.set_database("big", INFO, many(1_300))
    (user,) = users(model)
    assert [(page.name, len(page.children)) for page in user.pages] == [("1–500", 500), ("501–1,000", 500), ("1,001–1,300", 300)]
    assert user.pages[0].detail == "1970-01-01"
    assert pane.tree.isExpanded(model.index_of("big", key("u", "s-00")).parent())
    assert not pane.tree.isExpanded(model.index_of("big", key("u", "s-700")).parent())
    assert pane.select_session("big", key("u", "s-700"))
    assert pane.tree.isExpanded(model.index_of("big", key("u", "s-700")).parent())
    menu = pane.context_menu(model.index_of("big", key("u", "s-700")).parent())
    assert menu is not None
    assert [entry.text() for entry in menu.actions() if not entry.isSeparator()] == ["Collapse all"]
    assert len(model.sessions_below(user)) == 1_300
    made = sum(child is not None for page in user.pages for child in page.children)
    assert made <= 1_000, "nodes are made when they are displayed"


@pytest.mark.usefixtures("few_steps")
def test_while_a_large_tree_is_laid_out_the_old_one_is_displayed_and_changes_wait(qtbot, tested) -> None:
    model = tested(SessionTreeModel(now=lambda: 1000.0))
    model.set_database("big", INFO, many(1))
    with qtbot.waitSignal(model.modelReset):
        model.set_database("big", INFO, many())
        model.update_sessions("big", [summary(key("u", "s-05"), 9, 2000.0), summary(key("u", "new"), 1, 3000.0)], [key("u", "s-07")])
        assert [session.session_id for session in shown(model)] == ["s-00"]
    assert [session.session_id for session in shown(model)[:4]] == ["new", "s-05", "s-00", "s-01"]
    assert model.shown_sessions == 40
    assert not model.index_of("big", key("u", "s-07")).isValid()


@pytest.mark.usefixtures("few_steps")
def test_a_newer_list_overrides_waiting_changes(qtbot, tested) -> None:
    model = tested(SessionTreeModel(now=lambda: 1000.0))
    with qtbot.waitSignal(model.modelReset):
        model.set_database("big", INFO, many())
        model.update_sessions("big", [], [key("u", "s-07")])
        model.set_database("big", INFO, many())
    assert model.shown_sessions == 40


def test_forks_in_a_circle_are_displayed_below_their_user(tested) -> None:
    model = tested(SessionTreeModel(now=lambda: 1000.0))
    model.set_database("big", INFO, many(3))
    names = [key("u", f"s-{number:02}") for number in range(3)]
    parents = {names[0]: names[1], names[1]: names[0], names[2]: names[2]}
    model.set_forks("big", {fork: ForkInfo(parent, "forked", "") for fork, parent in parents.items()})
    assert model.shown_sessions == 3
    assert {model.node(model.index_of("big", name).parent()).kind for name in (names[1], names[2])} == {"database"}
    assert model.node(model.index_of("big", names[0]).parent()).session == names[1]


@pytest.mark.usefixtures("few_steps")
def test_a_filter_an_order_and_a_closed_database_restart_the_layout(qtbot, tested) -> None:
    model = tested(SessionTreeModel(now=lambda: 1000.0))
    with qtbot.waitSignal(model.modelReset):
        model.set_database("big", INFO, many())
        model.set_filter("s-1")
        model.set_order("By id")
    assert [session.session_id for session in shown(model)] == [f"s-1{number}" for number in range(10)]
    with qtbot.waitSignal(model.modelReset):
        model.set_database("other", DatabaseInfo("other.db"), many())
        model.set_filter("")
        model.remove_database("big")
        assert model.rowCount() == 0
        assert not model.index_of("big", key("u", "s-10")).isValid()
    assert [node.database for node in model.node(QModelIndex()).branches] == ["other"]
    assert len(shown(model)) == 40


@pytest.mark.usefixtures("few_steps")
def test_a_session_selected_before_it_is_displayed_is_selected_when_it_appears(qtbot) -> None:
    model = SessionTreeModel(now=lambda: 1000.0)
    pane = SessionsPane(model)
    qtbot.addWidget(pane)
    with qtbot.assertNotEmitted(pane.session_selected), qtbot.waitSignal(model.modelReset):
        model.set_database("big", INFO, many())
        assert not pane.select_session("big", key("u", "s-30"))
    assert model.node(pane.tree.currentIndex()).session == key("u", "s-30")


def test_many_changes_at_once_cause_a_new_layout(qtbot, tested) -> None:
    model = tested(SessionTreeModel(now=lambda: 1000.0))
    model.set_database("big", INFO, many())
    model.set_marks("big", {key("u", "s-03"): "held", key("u", "s-04"): "held"})
    newer = [summary(each.key, 5, 9000.0 - each.last_update_time) for each in many(session_tree.MOST_ONE_BY_ONE + 5)]
    with qtbot.waitSignal(model.modelReset, timeout=0, raising=False) as was_reset:
        model.update_sessions("big", newer, [key("u", "s-04")])
    assert was_reset.signal_triggered
    assert [session.session_id for session in shown(model)][:2] == ["s-54", "s-53"]
    assert model._databases["big"].marks == {key("u", "s-03"): "held"}


def test_forks_stay_below_their_parents_when_either_changes(tested) -> None:
    model = tested(SessionTreeModel(now=lambda: 1000.0))
    model.set_database("big", INFO, many(4))
    fork = ForkInfo(key("u", "s-01"), "forked", "all")
    model.set_forks("big", {key("u", "s-03"): fork, key("u", "later"): ForkInfo(key("u", "s-03"), "again", "all")})
    assert [session.session_id for session in sorted(model.sessions_below(users(model)[0]))] == ["s-00", "s-01", "s-02", "s-03"]

    def below(session: str) -> list[str]:
        index = model.index_of("big", key("u", session))
        return [model.node(model.index(row, 0, index)).pieces[1] for row in range(model.rowCount(index))]

    model.update_sessions("big", [summary(key("u", "s-03"), 4, 3000.0), summary(key("u", "s-01"), 4, 2000.0)])
    assert below("s-01") == ["forked"]
    assert model.index_of("big", key("u", "s-01")).row() == 0
    model.update_session("big", summary(key("u", "later")))
    assert below("s-03") == ["again"]
    model.update_sessions("big", [], [key("u", "s-01")])
    assert model.node(model.index_of("big", key("u", "s-03")).parent()).kind == "database"
    assert below("s-03") == ["again"]
    assert model.shown_sessions == 4


def test_a_replaced_tree_is_freed_at_once(qtbot) -> None:
    model = SessionTreeModel(now=lambda: 1000.0)
    model.set_database("big", INFO, many(1_300))
    model.index_of("big", key("u", "s-700"))
    gone = [weakref.ref(node) for user in users(model) for node in (user, *user.pages, *user.pages[1].children) if node is not None]
    assert len(gone) > 4
    gc.disable()
    try:
        model.set_filter("s-1")
        assert [node() for node in gone if node() is not None] == []
    finally:
        gc.enable()
