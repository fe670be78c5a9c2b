"""Stepping through an agent tree with a transfer, an agent called as a tool, and parallel branches, with the real widgets."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.stream.event_cells import Column
from runtime.events.marks import EDITED
from tests.gui.window.driver import WindowDriver

OFFICE = '''
from runtime.agents import LlmAgent, ParallelAgent, SequentialAgent
from runtime.apps import App, ResumabilityConfig
from runtime.models import ScriptedLlm
from runtime.tools import AgentTool, ToolContext


async def look_up(name: str, tool_context: ToolContext) -> dict:
    """Look up a person."""
    tool_context.state["looked_up"] = name
    return {"name": name, "known": True}


async def work() -> dict:
    """Work."""
    return {"done": True}


def scripted(*replies):
    return ScriptedLlm(replies=list(replies))


checker = LlmAgent(
    name="checker",
    description="Checks people.",
    tools=[look_up],
    model=scripted({"calls": [["look_up", {"name": "maria"}]]}, "maria is known"),
)
expert = LlmAgent(name="expert", description="Knows.", model=scripted("the expert says yes"))
front = LlmAgent(
    name="front",
    tools=[AgentTool(checker)],
    sub_agents=[expert],
    model=scripted({"calls": [["checker", {"request": "is maria known?"}]]}, {"calls": [["transfer_to_agent", {"agent_name": "expert"}]]}),
)
branches = [LlmAgent(name=name, tools=[work], model=scripted({"calls": [["work", {}]]}, f"{name} is done")) for name in ("left", "right")]
fan = ParallelAgent(name="fan", sub_agents=branches)
app = App(
    name="office",
    root_agent=SequentialAgent(name="office", sub_agents=[front, fan]),
    resumability_config=ResumabilityConfig(is_resumable=True),
)
'''


@pytest.fixture
def office(agent: Callable[[str, str], Inspector]) -> Inspector:
    return agent("office", OFFICE)


def begin(driver: WindowDriver) -> None:
    driver.inspector.window.parts.composer.set_text("hello")
    driver.inspector.window.commands.step.trigger()
    driver.run_until_held()


INTO, OVER, OUT = (Qt.Key.Key_F11, False), (Qt.Key.Key_F10, True), (Qt.Key.Key_F11, True)


def go(office: Inspector, qtbot: QtBot, *keys: tuple[Qt.Key, bool]) -> str:
    """Press step keys, each once the agent is held again, and return where it is held."""
    for key, shift in keys:
        before = office.run.hold
        assert before is not None
        qtbot.keyClick(office.window, key, Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier)
        qtbot.waitUntil(lambda: office.run.hold is not None and office.run.hold is not before, timeout=10_000)  # noqa: B023
    return office.window.run_bar.detail_text


def step_to(office: Inspector, qtbot: QtBot, place: str) -> None:
    """Press F11 until the agent is held at a place."""
    for _ in range(20):
        if go(office, qtbot, INTO) == place:
            return
    raise AssertionError(f"never held {place}")


def finish(office: Inspector, qtbot: QtBot) -> None:
    with qtbot.waitSignal(office.run.run_ended, timeout=10_000) as ended:
        office.window.commands.run.trigger()
    assert ended.args[0].error is None


def tool_agent_rows(office: Inspector) -> list[str]:
    model = office.features.stream.events
    rows = map(model.stream_row, range(model.rowCount()))
    return [f"{row.author}: {row.summary}" for row in rows if row.kind in ("tool agent", "tool agent event")]


INSIDE = [
    "checker: 3 events inside this call",
    'checker: call look_up(name="maria")',
    'checker: look_up → {name: "maria", known: true}',
    "checker: maria is known",
]


def test_step_into_an_agent_called_as_a_tool(office: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    begin(driver)
    step_to(office, qtbot, "before tool call checker")
    assert go(office, qtbot, INTO) == "at the start of checker"
    assert go(office, qtbot, INTO) == "before the model call of checker"
    assert go(office, qtbot, INTO) == "before tool call look_up"
    assert tool_agent_rows(office) == ["checker: 1 event inside this call", INSIDE[1]]
    assert go(office, qtbot, OVER) == "after checker's tool result inside a tool"
    assert go(office, qtbot, OUT) == "at the end of checker"
    assert tool_agent_rows(office) == INSIDE
    assert go(office, qtbot, OUT) == "at the end of front"
    finish(office, qtbot)
    assert tool_agent_rows(office) == INSIDE
    assert [event.author for event in driver.stream.events()].count("checker") == 0, "inner events are not stored"


def test_step_over_an_agent_called_as_a_tool_shows_its_events(office: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    begin(driver)
    step_to(office, qtbot, "before tool call checker")
    assert go(office, qtbot, OVER) == "after front's tool result"
    assert tool_agent_rows(office) == INSIDE
    assert driver.stream.results("checker") == [{"result": "maria is known"}]
    finish(office, qtbot)


def test_a_hold_at_an_event_inside_a_tool_shows_its_detail(office: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add('response == "look_up"')
    driver.composer.send("hello")
    driver.run_until_held()
    window, model = office.window, office.features.stream.events
    assert window.parts.held.text.startswith("Held after checker's tool result inside a tool breakpoint: ")
    stream, detail = window.parts.stream, window.parts.detail
    shown = stream.selected_tool_agent_event
    assert shown is not None and shown.author == "checker" and shown.get_function_responses()
    row = model.stream_row(stream.table.currentIndex().row())
    assert row.held and row.breakpoint == "on" and row.number == "" and row.lanes == 1
    assert detail.findChild(QLabel, "event_detail_title").text() == "checker · tool result"
    assert detail.findChild(QLabel, "event_facts").text().startswith("inside a tool · ")
    assert detail.delta.model.change(0).key == "looked_up" and detail.delta.model.change(0).after == "maria"
    stream.select_event(0)
    assert detail.findChild(QLabel, "event_facts").text().startswith("event 1 ")
    row_of_shown = model.row_of_tool_agent_event(shown.id)
    qtbot.keyClick(stream.table, Qt.Key.Key_Down)
    assert row_of_shown is not None and not stream.following
    finish(office, qtbot)
    assert not any(model.stream_row(row).held for row in range(model.rowCount()))


def test_an_edit_inside_a_tool_is_recorded_on_the_tools_response(office: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("", "before tool", "look_up")
    driver.composer.send("hello")
    driver.run_until_held()
    assert office.window.parts.held.text.startswith("Held before look_up")
    driver.held.editor.setPlainText('{"name": "anna"}')
    with qtbot.waitSignal(office.run.run_ended, timeout=10_000):
        driver.held.press("held_call")
    response = next(event for event in driver.stream.events() if any(one.name == "checker" for one in event.get_function_responses()))
    edited = (response.custom_metadata or {})[EDITED]["calls"]
    (inside,) = next(iter(edited.values()))["inside"]
    assert next(iter(inside["calls"].values()))["arguments"]["after"] == {"name": "anna"}
    assert response.actions.state_delta == {"looked_up": "anna"}


def test_inner_events_fold_by_keyboard_and_survive_a_reload(office: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    with qtbot.waitSignal(office.run.run_ended, timeout=10_000):
        driver.composer.send("hello")
    assert tool_agent_rows(office) == INSIDE
    table, model = office.window.parts.stream.table, office.features.stream.events
    header = next(row for row in range(model.rowCount()) if model.stream_row(row).kind == "tool agent")
    table.setCurrentIndex(model.index(header, Column.EVENT))
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Left)
    assert tool_agent_rows(office) == INSIDE[:1]
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert tool_agent_rows(office) == INSIDE
    with qtbot.waitSignal(office.current.session_loaded, timeout=10_000):
        office.window.commands.reload.trigger()
    assert tool_agent_rows(office) == INSIDE
    office.window.parts.filter_bar.set_text('author == "checker"')
    qtbot.waitUntil(lambda: not office.features.stream.controller.filtering, timeout=10_000)
    assert tool_agent_rows(office) == []


def test_step_into_and_over_a_transfer(office: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    begin(driver)
    step_to(office, qtbot, "before tool call transfer_to_agent")
    assert go(office, qtbot, INTO) == "at the start of expert"
    assert go(office, qtbot, OUT) == "at the end of expert"
    assert go(office, qtbot, OVER) == "after front's end of agent", "the transferring agent continues"
    finish(office, qtbot)


def test_step_over_a_transfer_runs_the_other_agent(office: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    begin(driver)
    step_to(office, qtbot, "before tool call transfer_to_agent")
    assert go(office, qtbot, OVER) == "after front's transfer"
    assert go(office, qtbot, OVER) == "after front's end of agent"
    assert any(event.author == "expert" for event in driver.stream.events())
    finish(office, qtbot)


def test_a_branch_is_stepped_alone_and_the_running_branch_is_shown(office: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    begin(driver)
    step_to(office, qtbot, "at the start of left")
    held = office.window.parts.held
    qtbot.waitUntil(lambda: "running: right (fan.right)" in held.beside, timeout=10_000)
    assert held.beside.startswith("fan.left is held")
    assert "fan.left is held" in office.window.run_bar.explained
    for _ in range(3):
        assert go(office, qtbot, OVER).startswith("after left's "), "events of the other branch do not hold"
    assert go(office, qtbot, OUT) == "at the end of left"
    assert office.window.run_bar.state_text.startswith("held at ")
    assert go(office, qtbot, OUT) == "at the end of fan"
    finish(office, qtbot)
    assert {"left", "right"} <= {event.author for event in driver.stream.events()}


def test_a_breakpoint_in_parallel_branches_holds_them_one_after_the_other(office: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("", "before tool", "work")
    driver.composer.send("hello")
    driver.run_until_held()
    held = office.window.parts.held
    # The other branch is at its tool by now, or its call is committed when this one continues.
    qtbot.waitUntil(lambda: "held next: " in held.beside or "running: " in held.beside, timeout=10_000)
    first = office.run.hold
    assert first is not None
    office.window.commands.run.trigger()
    qtbot.waitUntil(lambda: office.run.hold is not None and office.run.hold is not first, timeout=10_000)
    assert {first.agent, office.run.hold.agent} == {"left", "right"}
    finish(office, qtbot)


def test_agents_have_the_colours_of_their_places_in_the_app(office: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    begin(driver)
    finish(office, qtbot)
    colours = office.features.stream.events.make.colours
    spoke = [author for author in colours.authors if author in ("front", "expert", "left", "right")]
    assert [colours.role(name) for name in spoke] == ["author0", "author1", "author3", "author4"], (
        "checker, which spoke inside a call, is between"
    )
