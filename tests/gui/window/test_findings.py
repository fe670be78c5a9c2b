"""The pane of findings: it examines the displayed database when it comes to the front, and a click goes to the event."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.findings import findings_controller
from tests.unit.inspector_app.analysis.v1_file import called, returned, said, write_v1, wrote

EVENTS = [
    said("hello", "user"),
    returned("pay", "lost"),
    wrote({"total": 1}, branch="both.a", author="a"),
    wrote({"total": 2}, branch="both.b", author="b"),
    called("pay", "c"),
]


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    return write_v1(tmp_path / "damaged.db", EVENTS)


def test_the_findings_of_the_displayed_database_are_listed(
    inspector: Inspector, opened: Callable[..., None], damaged: Path, qtbot: QtBot
) -> None:
    opened(damaged)
    pane = inspector.window.parts.findings
    assert pane.findings == [], "nothing is examined while the pane is behind others"
    inspector.window.workbench.raise_pane("findings")
    qtbot.waitUntil(lambda: len(pane.findings) == 3)
    assert [finding.kind for finding in pane.findings] == ["orphan response", "unanswered call", "parallel overwrite"]
    assert pane.title.startswith(f"1 error, 2 warnings in {damaged}")
    dock = inspector.window.findChild(QDockWidget, "dock_findings")
    assert dock is not None
    assert dock.windowTitle() == "Findings  3"
    widths = [pane.tree.header().sectionSize(column) - pane.tree.sizeHintForColumn(column) for column in (0, 1)]
    assert min(widths) >= 10, "two columns do not touch"


def test_a_click_selects_the_event_and_explains_it(inspector: Inspector, opened: Callable[..., None], damaged: Path, qtbot: QtBot) -> None:
    opened(damaged)
    pane = inspector.window.parts.findings
    inspector.window.workbench.raise_pane("findings")
    qtbot.waitUntil(lambda: len(pane.findings) == 3)
    pane.tree.setCurrentItem(pane.tree.topLevelItem(0))
    qtbot.waitUntil(lambda: inspector.cursor.event_index == 1)
    assert "Models refuse a result without its call" in pane.details
    copy = pane.findChild(QPushButton, "copy_fix")
    assert copy is not None
    copy.click()
    assert QGuiApplication.clipboard().text() == f"agent-inspector fork {damaged} --app app --user user --session s --at e0 --into new.db"


def test_a_database_with_nothing_wrong_says_so(inspector: Inspector, opened: Callable[..., None], tmp_path: Path, qtbot: QtBot) -> None:
    opened(write_v1(tmp_path / "clean.db", [said("hello", "user"), said("bye")]))
    inspector.window.workbench.raise_pane("findings")
    pane = inspector.window.parts.findings
    qtbot.waitUntil(lambda: pane.text[0] == "No findings")


def test_of_a_large_database_only_the_session_is_examined_until_asked(
    inspector: Inspector, opened: Callable[..., None], damaged: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings_controller, "MOST_AT_ONCE", 2)
    opened(damaged)
    pane = inspector.window.parts.findings
    inspector.window.workbench.raise_pane("findings")
    qtbot.waitUntil(lambda: len(pane.findings) == 3)
    address = inspector.cursor.session
    assert address is not None
    assert f"in {inspector.work.titles.title(address)}, as of" in pane.title
    again = pane.findChild(QPushButton, "examine_again")
    assert again is not None
    assert again.text() == "Examine the whole database"
    again.click()
    assert pane.text[0] == "reading…"
    qtbot.waitUntil(lambda: str(damaged) in pane.title)
    assert again.text() == "Examine again"


def test_closing_the_database_clears_the_pane(inspector: Inspector, opened: Callable[..., None], damaged: Path, qtbot: QtBot) -> None:
    opened(damaged)
    pane = inspector.window.parts.findings
    inspector.window.workbench.raise_pane("findings")
    qtbot.waitUntil(lambda: len(pane.findings) == 3)
    inspector.window.commands.close_database.trigger()
    qtbot.waitUntil(lambda: pane.text[0] == "Nothing examined")


FLOW = """
from runtime.agents import LlmAgent, SequentialAgent

root_agent = SequentialAgent(name="flow", sub_agents=[LlmAgent(name="{name}")])
"""


def test_checkpoints_of_the_loaded_agents_app_are_compared_with_it(
    inspector: Inspector, opened: Callable[..., None], agent: Callable[[str, str], Inspector], tmp_path: Path, qtbot: QtBot
) -> None:
    checkpoint = {"author": "flow", "actions": {"agent_state": {"current_sub_agent": "writer"}}}
    opened(write_v1(tmp_path / "flow.db", [said("hello", "user"), checkpoint]))
    pane = inspector.window.parts.findings
    inspector.window.workbench.raise_pane("findings")
    qtbot.waitUntil(lambda: pane.text[0] == "No findings")
    agent("another", FLOW.format(name="author"))  # of another app than the session
    qtbot.waitUntil(lambda: "another were compared" in pane.title)
    assert pane.findings == []
    agent("app", FLOW.format(name="author"))
    qtbot.waitUntil(lambda: [finding.kind for finding in pane.findings] == ["missing agent"])
