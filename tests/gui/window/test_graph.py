"""The agent graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.graph.graph_pane import AgentGraph
from tests.gui.window.driver import WindowDriver
from tests.recorded_desk import write_desk


@pytest.fixture
def graph(story: Inspector, qtbot: QtBot) -> AgentGraph:
    story.window.workbench.raise_pane("graph")
    graph = story.window.parts.graph.graph
    qtbot.waitUntil(lambda: graph.shown is not None and "ToneCheck" in names(graph) and bool(graph.shown.sums))
    return graph


def names(graph: AgentGraph) -> list[str]:
    assert graph.shown is not None
    return [node.name for node in graph.shown.root.nodes()]


def test_the_loaded_agents_tree_has_counts(graph: AgentGraph, story: Inspector) -> None:
    assert names(graph)[:2] == ["StoryFlow", "StoryGenerator"]
    assert {"Critic", "Reviser", "GrammarCheck", "ToneCheck"} <= set(names(graph))
    assert graph.shown is not None and graph.shown.sums["Critic"].events == 2
    assert story.window.parts.graph.note == ""


def test_the_graph_never_asks_to_load_the_loaded_agent(story: Inspector, driver: WindowDriver) -> None:
    pane = story.window.parts.graph
    story.window.workbench.raise_pane("graph")
    driver.run_until(lambda: pane.graph.shown is not None)
    assert "ToneCheck" in names(pane.graph) and pane.note == ""


def test_a_click_or_an_arrow_key_selects_an_agents_newest_event(graph: AgentGraph, story: Inspector, qtbot: QtBot) -> None:
    graph.verticalScrollBar().setValue(0)
    qtbot.mouseClick(graph.viewport(), Qt.MouseButton.LeftButton, pos=graph.centre_of("StoryFlow"))
    assert story.cursor.event_index == 4
    qtbot.keyClick(graph, Qt.Key.Key_Right)
    assert graph.shown is not None and graph.shown.selected is not None
    assert graph.shown.selected.name in graph.accessibleDescription()
    assert graph.shown.selected.column == 1


def test_a_double_click_and_enter_open_the_code_of_an_agent(graph: AgentGraph, story: Inspector, qtbot: QtBot) -> None:
    wanted: list[tuple[str, int]] = []
    graph.code_requested.disconnect()  # would start an editor
    graph.code_requested.connect(lambda file, line: wanted.append((Path(file).name, line)))
    graph.select_agent("Critic")
    qtbot.mouseDClick(graph.viewport(), Qt.MouseButton.LeftButton, pos=graph.centre_of("Critic"))
    qtbot.keyClick(graph, Qt.Key.Key_Return)
    lines = (Path(__file__).parents[3] / "resources/samples/story/agent.py").read_text("utf-8").splitlines()
    assert wanted == [("agent.py", line) for line in [wanted[0][1]] * 2]
    assert any("Critic" in line for line in lines[wanted[0][1] - 1 : wanted[0][1] + 2])


def test_a_held_agent_is_lit_and_the_light_goes_out(graph: AgentGraph, story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    story.run.send("one more", paused=True)
    driver.run_until_held()
    assert graph.shown is not None
    qtbot.waitUntil(lambda: graph.shown is not None and graph.shown.state == "held")
    assert graph.shown.active in [*names(graph), None]
    with qtbot.waitSignal(story.run.run_ended, timeout=30_000):
        story.run.continue_run()
    qtbot.waitUntil(lambda: graph.shown is not None and graph.shown.state == "")


def test_a_session_without_its_agent_shows_its_authors(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    write_desk(tmp_path / "desk.db")
    opened(tmp_path / "desk.db")
    pane = inspector.window.parts.graph
    inspector.window.workbench.raise_pane("graph")
    combo = pane.findChild(QComboBox, "graph_range")
    combo.setCurrentIndex(combo.findData("session"))
    qtbot.waitUntil(lambda: pane.graph.shown is not None and "shipping" in pane.graph.shown.sums)
    assert names(pane.graph) == ["desk", "shipping"]
    assert pane.graph.shown is not None
    text = pane.graph.describe(pane.graph.shown.root.below[0])
    assert "track: 2 × · 1.8 s" in text
    assert "Load the agent" in pane.note
    file = tmp_path / "agents.svg"
    pane.picture.save(str(file))
    assert "shipping" in file.read_text("utf-8")
