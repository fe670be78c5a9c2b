"""The layout of the panes in the window."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from PySide6.QtCore import QByteArray, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QDockWidget, QPushButton, QTabBar, QTreeWidget
from pytestqt.qtbot import QtBot

from inspector_app.documents.session_address import SessionAddress
from inspector_app.running.breakpoints_pane import BreakpointRow
from inspector_app.running.held_card import CallKind
from inspector_app.running.pending_pane import PendingRow
from inspector_app.running.view_data import HoldText
from inspector_app.shell.dock_layout import LAYOUT_VERSION
from inspector_app.shell.features import Features
from inspector_app.shell.workbench import Workbench
from inspector_app.widgets import theme
from inspector_app.widgets.places import Places
from runtime.history.invocations import PendingItem
from runtime.sessions.session import SessionKey

ITEM = PendingItem("long_running", "e-1", "call-1", "approve", {"total": 168.0}, None, "event-1", "desk")
ROW = PendingRow(SessionAddress("orders.db", SessionKey("orders", "user", "s1")), ITEM)
FORM_NEEDS = 130


def made_bench() -> Workbench:
    places = Places()
    Features(places)
    bench = Workbench(places)
    places.setParent(bench)
    for page in places.pages:
        page.setParent(bench)  # no window has them, and Python's garbage collector would delete them on an arbitrary thread
    return bench


@pytest.fixture
def bench(qtbot: QtBot) -> Workbench:
    bench = made_bench()
    qtbot.addWidget(bench)
    bench.resize(1280, 740)
    bench.show()
    qtbot.waitUntil(lambda: abs(width(bench, "detail") / bench.width() - 0.33) < 0.01)
    return bench


def height(bench: Workbench, name: str) -> int:
    dock = cast(QDockWidget, bench.findChild(QDockWidget, f"dock_{name}"))
    return dock.height() if not dock.visibleRegion().isEmpty() else 0


def show_pending(bench: Workbench, rows: list[PendingRow]) -> None:
    bench.parts.pending.set_rows(rows, rows[0].address if rows else None)


def test_there_is_room_for_the_form_of_a_pending_item(bench: Workbench, qtbot: QtBot) -> None:
    show_pending(bench, [ROW])
    qtbot.waitUntil(lambda: height(bench, "pending") > FORM_NEEDS)


def test_a_layout_reset_while_hidden_hides_the_titles_of_tabbed_panes(bench: Workbench, qtbot: QtBot) -> None:
    bench.hide()
    bench.layout_of_docks.reset_layout()
    bench.show()
    tabs = [cast(QDockWidget, bench.findChild(QDockWidget, f"dock_{name}")) for name in ("pending", "breakpoints", "log")]
    qtbot.waitUntil(lambda: all(dock.titleBarWidget() is not None for dock in tabs))


def width(bench: Workbench, name: str) -> int:
    return cast(QDockWidget, bench.findChild(QDockWidget, f"dock_{name}")).width()


def test_the_side_panes_keep_their_share_of_a_window_that_grows(bench: Workbench, qtbot: QtBot) -> None:
    shares = {name: width(bench, name) / bench.width() for name in ("sessions", "detail")}
    for size in (1700, 2200, 2560):
        bench.resize(size, 1400)
        qtbot.waitUntil(lambda: abs(width(bench, "detail") / bench.width() - shares["detail"]) < 0.01)
        assert abs(width(bench, "sessions") / bench.width() - shares["sessions"]) < 0.01
    assert max(shares.values()) <= 1 / 3
    bench.resize(1280, 740)
    qtbot.waitUntil(lambda: abs(width(bench, "detail") / bench.width() - shares["detail"]) < 0.01)


def test_a_width_that_the_user_chose_grows_with_the_window(bench: Workbench, qtbot: QtBot) -> None:
    detail = cast(QDockWidget, bench.findChild(QDockWidget, "dock_detail"))
    bench.resize(1600, 1000)
    QApplication.processEvents()
    handle, there = QPoint(detail.x() - 2, detail.height() // 2), QPoint(bench.width() - 700, detail.height() // 2)
    qtbot.mouseMove(bench, handle)
    qtbot.mousePress(bench, Qt.MouseButton.LeftButton, pos=handle)
    qtbot.mouseMove(bench, there)
    qtbot.waitUntil(lambda: abs(width(bench, "detail") - 700) < 8)
    qtbot.mouseRelease(bench, Qt.MouseButton.LeftButton, pos=there)
    QApplication.processEvents()
    bench.resize(2400, 1000)
    qtbot.waitUntil(lambda: abs(width(bench, "detail") - 1050) < 12)


def shown(bench: Workbench) -> set[str]:
    docks = [dock for dock in bench.findChildren(QDockWidget) if not dock.isHidden()]
    return {dock.objectName().removeprefix("dock_") for dock in docks}


def test_a_perspective_shows_its_panes_and_a_reset_shows_all(bench: Workbench, qtbot: QtBot) -> None:
    everything = shown(bench)
    bench.layout_of_docks.show_only("left", "right")
    assert shown(bench) == {"sessions", "detail"}
    bench.layout_of_docks.show_only("right", "below")
    assert shown(bench) == {"detail", "pending", "breakpoints", "timeline", "log", "findings", "graph"}
    bench.raise_pane("sessions")
    assert "sessions" in shown(bench)
    bench.layout_of_docks.reset_layout()
    assert shown(bench) == everything


def places(bench: Workbench) -> dict[str, QRect]:
    QApplication.processEvents()
    docks = [dock for dock in bench.findChildren(QDockWidget) if not dock.isHidden()]
    return {dock.objectName(): dock.geometry() for dock in docks if not dock.visibleRegion().isEmpty()}


def test_a_perspective_asked_again_brings_back_what_it_hid(bench: Workbench, qtbot: QtBot) -> None:
    cast(QDockWidget, bench.findChild(QDockWidget, "dock_log")).close()
    bench.raise_pane("timeline")
    bench.resizeDocks([cast(QDockWidget, bench.findChild(QDockWidget, "dock_timeline"))], [300], Qt.Orientation.Vertical)
    before, visible = places(bench), shown(bench)
    for steps in ((("left", "right"),) * 2, (("right", "below"),) * 2, (("left", "right"), ("right", "below"), ("right", "below"))):
        for sides in steps:
            bench.layout_of_docks.show_only(*sides)  # type: ignore[arg-type]
        qtbot.waitUntil(lambda: places(bench) == before)
        assert shown(bench) == visible


@pytest.mark.parametrize("name", ["timeline", "log", "detail", "sessions"])
def test_a_pane_is_enlarged_and_put_back(bench: Workbench, qtbot: QtBot, name: str) -> None:
    bench.raise_pane(name)
    before, visible = places(bench), shown(bench)
    dock = cast(QDockWidget, bench.findChild(QDockWidget, f"dock_{name}"))
    widget = dock.widget()
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.setFocus()
    saved = bench.layout_of_docks.saved_layout()
    bench.enlarge()
    qtbot.waitUntil(lambda: dock.width() > 0.9 * bench.width() and dock.height() > 0.8 * bench.height())
    assert not bench.middle.isVisible()
    assert bench.layout_of_docks.saved_layout() == saved, "the next start shows all panes"
    bench.enlarge()
    qtbot.waitUntil(lambda: places(bench) == before)
    assert shown(bench) == visible and bench.middle.isVisible()


def test_a_double_click_on_a_tab_enlarges_its_pane_and_another_pane_puts_it_back(bench: Workbench, qtbot: QtBot) -> None:
    before = places(bench)
    tabs = next(bar for bar in bench.findChildren(QTabBar) if bar.isVisible() and bar.count() > 3)
    number = [tabs.tabText(index) for index in range(tabs.count())].index("Graph")
    at = tabs.tabRect(number).center()
    qtbot.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseDClick(tabs, Qt.MouseButton.LeftButton, pos=at)
    graph = cast(QDockWidget, bench.findChild(QDockWidget, "dock_graph"))
    qtbot.waitUntil(lambda: bench.layout_of_docks.enlarged is graph and graph.height() > 0.8 * bench.height())
    bench.raise_pane("timeline")
    assert bench.layout_of_docks.enlarged is graph, "it is behind the same tabs"
    bench.raise_pane("sessions")
    bench.raise_pane("pending")
    qtbot.waitUntil(lambda: places(bench) == before)


def test_the_lower_panes_are_six_and_who_wrote_and_keep_their_height(bench: Workbench, qtbot: QtBot) -> None:
    tabs = next(bar for bar in bench.findChildren(QTabBar) if bar.isVisible() and bar.count() > 3)
    titles = [tabs.tabText(index) for index in range(tabs.count())]
    assert [title for title in titles if title != "Who wrote"] == ["Pending", "Breakpoints", "Timeline", "Graph", "Findings", "Log"]
    before = height(bench, "pending")
    show_pending(
        bench, [replace(ROW, item=replace(ROW.item, kind="confirmation", payload={f"field {number}": "x" for number in range(8)}))]
    )
    for name in ("breakpoints", "timeline", "graph", "findings", "log", "pending"):
        bench.raise_pane(name)
        QApplication.processEvents()
        assert height(bench, name) == before, name
    form = bench.parts.pending.form
    buttons = [button for button in form.findChildren(QPushButton) if button.text() in ("Approve", "Reject")]
    assert all(button.isVisible() and not button.visibleRegion().isEmpty() for button in buttons) and len(buttons) == 2


HOLD = HoldText("Held before the model call of", "researcher_with_a_long_name", "before the call", "by Step into", "", "")
SCHEMA = {"properties": {name: {"type": "integer"} for name in ("adults", "children", "nights", "rooms", "beds", "price", "stars", "pets")}}


@pytest.mark.parametrize("size", [(1280, 740), (1152, 660)])
@pytest.mark.parametrize("kind", ["tool", "model"])
def test_a_hold_leaves_the_panes_their_places(bench: Workbench, size: tuple[int, int], kind: CallKind, qtbot: QtBot) -> None:
    bench.resize(*size)
    bench.layout_of_docks.reset_layout()
    before = places(bench)
    card = bench.parts.held
    for failure in ("", "ValueError: no\nin pay, agent.py line 3"):
        args = dict.fromkeys(SCHEMA["properties"], 3) if kind == "tool" else {"contents": [{"text": "x" * 40}] * 40}
        card.show_hold(replace(HOLD, failure=failure), kind, args, SCHEMA if kind == "tool" else None)
        qtbot.waitUntil(card.isVisible)
        assert places(bench) == before
        for button in card.findChildren(QPushButton):
            assert not button.isVisible() or not button.visibleRegion().isEmpty()
        lines = {button.y() for button in card.findChildren(QPushButton) if button.isVisible()}
        assert len(lines) == 1 or size[0] < 1280
        card.hide()
        assert places(bench) == before


def test_title_buttons_use_the_themes_icons(bench: Workbench, qtbot: QtBot, qapp: QApplication) -> None:
    dock = cast(QDockWidget, bench.findChild(QDockWidget, "dock_sessions"))
    choices: tuple[theme.Choice, ...] = ("light", "dark")
    for choice in choices:
        look = theme.apply(qapp, choice)
        dock.setFloating(choice == "dark")
        qapp.processEvents()
        for name in ("close", "float"):
            button = cast(QAbstractButton, dock.findChild(QAbstractButton, f"qt_dockwidget_{name}button"))
            picture = button.grab().toImage()
            pixels = [picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())]
            assert look.tokens.dim in pixels, name


def test_title_buttons_grow_with_the_text_and_name_their_pane(bench: Workbench, qtbot: QtBot) -> None:
    def buttons() -> dict[str, QSize]:
        QApplication.processEvents()
        found = cast(QDockWidget, bench.findChild(QDockWidget, "dock_sessions")).findChildren(QAbstractButton)
        return {button.accessibleName(): button.size() for button in found if button.objectName().startswith("qt_dock")}

    before = buttons()
    assert set(before) == {"Hide Sessions", "Sessions in a window of its own"}
    theme.current().set_scale(200)
    try:
        large = buttons()
    finally:
        theme.current().set_scale(100)
    for name, size in before.items():
        assert large[name].height() >= 1.5 * size.height() and large[name].width() >= 1.5 * size.width()


def test_a_combo_box_popup_fills_its_frame(bench: Workbench, qtbot: QtBot) -> None:
    bench.raise_pane("breakpoints")
    where = bench.parts.breakpoints.form.when
    where.showPopup()
    frame = where.view().parentWidget()
    qtbot.waitUntil(frame.isVisible)
    assert frame.rect() == where.view().geometry()
    where.hidePopup()


def test_rows_of_the_lower_panes_have_the_same_height(bench: Workbench) -> None:
    show_pending(bench, [ROW])
    bench.parts.breakpoints.set_rows([BreakpointRow(1, "event", "error", "", True, 0, 1, "", 3, "", "error")])
    lists = [bench.findChild(QTreeWidget, name) for name in ("pending_list", "breakpoint_list")]
    assert [each.visualItemRect(each.topLevelItem(0)).height() for each in lists] == [22, 22]
    hits = lists[1].headerItem().textAlignment(2)
    assert hits == lists[1].topLevelItem(0).textAlignment(2), "aligned like its numbers"


def test_a_layout_saved_in_a_small_window_gives_the_panes_their_shares_of_a_large_one(bench: Workbench, qtbot: QtBot) -> None:
    side = cast(QDockWidget, bench.findChild(QDockWidget, "dock_detail"))
    bench.resizeDocks([side], [520], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: width(bench, "detail") > 500)
    shares = {name: width(bench, name) / bench.width() for name in ("sessions", "detail")}
    saved = bench.layout_of_docks.saved_layout()
    large = made_bench()
    qtbot.addWidget(large)
    large.resize(2560, 1400)
    large.layout_of_docks.saved = saved
    large.show()
    qtbot.waitUntil(lambda: abs(width(large, "detail") / large.width() - shares["detail"]) < 0.01)
    assert abs(width(large, "sessions") / large.width() - shares["sessions"]) < 0.01


@pytest.mark.parametrize(("saved", "is_replaced"), [("old", True), ("nonsense", True), ("none", False), ("own", False)])
def test_a_layout_of_another_version_is_replaced_and_reported(bench: Workbench, qtbot: QtBot, saved: str, is_replaced: bool) -> None:
    states = {
        "old": bench.saveState(LAYOUT_VERSION - 1).data(),
        "nonsense": b"nonsense",
        "none": b"",
        "own": bench.saveState(LAYOUT_VERSION).data(),
    }
    made = made_bench()
    qtbot.addWidget(made)
    reported = []
    made.layout_of_docks.replaced.connect(lambda: reported.append(True))
    made.layout_of_docks.saved = QByteArray(b'{"sessions": 0.2}\n' + states[saved]) if saved != "none" else None
    made.resize(1280, 740)
    made.show()
    qtbot.waitUntil(lambda: made.layout_of_docks.saved_layout() is not None)
    assert reported == [True] * is_replaced
    assert shown(made) == shown(bench)
