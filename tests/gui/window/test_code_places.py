"""The file and line behind an event and a held agent, opened in the user's editor."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog

from inspector_app.widgets.code_button import CodeButton
from tests.gui.window.driver import WindowDriver
from tests.gui.window.test_own_environment import STEPS, WEATHER, open_agent
from tests.interop.google_adk import adk_python

pytestmark = pytest.mark.usefixtures("prepared_pythons")

BROKEN = json.dumps([["call", "broken", {"number": 3}], ["done"]])


@pytest.fixture(params=["adk", "embedded"])
def project(request: pytest.FixtureRequest, driver: WindowDriver, tmp_path: Path) -> Path:
    """Return the folder of a loaded agent."""
    (tmp_path / "project").mkdir()
    if request.param == "adk":
        (tmp_path / "project" / ".venv").symlink_to(Path(adk_python()).parent.parent)
    folder = Path(shutil.copytree(STEPS, tmp_path / "project" / "steps", ignore=shutil.ignore_patterns("__pycache__")))
    open_agent(driver, folder)
    return folder


def line_of(file: Path, text: str) -> int:
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)


def links(button: CodeButton) -> list[tuple[str, str, int]]:
    return [(link.what, Path(link.file).name, link.line) for link in button.links]


def test_each_event_names_the_code_behind_it(driver: WindowDriver, project: Path) -> None:
    driver.run_message(WEATHER)
    weather = ("tool weather", "agent.py", line_of(project / "agent.py", "def weather"))
    steps = ("agent steps", "agent.py", line_of(project / "agent.py", "root_agent = LlmAgent("))
    code = driver.bench.parts.detail.code
    driver.stream.select(0)
    assert links(code) == [] and code.isHidden()
    assert not driver.inspector.window.commands.open_code.isEnabled()
    for index, expected in ((1, [weather, steps]), (2, [weather, steps]), (3, [steps])):
        driver.stream.select(index)
        assert links(code) == expected
        assert code.isVisible() and code.text() == f"agent.py:{expected[0][2]}"


def test_the_code_opens_in_the_chosen_editor(driver: WindowDriver, project: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = f"import sys; open({str(seen)!r}, 'a').write(' '.join(sys.argv[1:]) + chr(10))"
    driver.inspector.settings.editor = f'{sys.executable} -c "{script}" {{file}} {{line}}'
    driver.run_message(WEATHER)
    driver.stream.select(2)
    driver.qtbot.mouseClick(driver.bench.parts.detail.code, Qt.MouseButton.LeftButton)
    driver.run_until_idle()
    expected = f"{project / 'agent.py'} {line_of(project / 'agent.py', 'def weather')}\n"
    driver.run_until(lambda: seen.exists() and seen.read_text() == expected)
    driver.inspector.window.commands.open_code.trigger()
    driver.run_until_idle()
    driver.run_until(lambda: seen.read_text() == 2 * expected)


def test_the_held_card_names_the_tool_and_the_line_that_raised(driver: WindowDriver, project: Path) -> None:
    driver.breakpoints.add("", when="error")
    commands = driver.inspector.window.commands
    driver.bench.parts.composer.set_text(BROKEN)
    commands.step.trigger()
    driver.run_until_held()
    commands.step_into.trigger()
    driver.run_until(lambda: driver.inspector.run.hold is not None and driver.inspector.run.hold.place == "before tool")
    broken = ("tool broken", "agent.py", line_of(project / "agent.py", "def broken"))
    assert links(driver.bench.parts.held.code)[0] == broken
    commands.run.trigger()
    driver.run_until(lambda: driver.inspector.run.hold is not None and driver.inspector.run.hold.place == "error")
    raised = ("raised here", "agent.py", line_of(project / "agent.py", "raise ValueError"))
    assert links(driver.bench.parts.held.code)[:2] == [raised, broken]
    commands.stop.trigger()
    driver.run_until(lambda: driver.inspector.run.phase == "idle")
    driver.run_until_idle()


def test_an_error_names_the_line_that_raised_it_first(driver: WindowDriver, project: Path) -> None:
    driver.run_message(BROKEN)
    driver.stream.select(len(driver.stream.events()) - 1)
    raised = ("raised here", "agent.py", line_of(project / "agent.py", "raise ValueError"))
    driver.run_until(lambda: links(driver.bench.parts.detail.code)[:1] == [raised])
    driver.stream.select(0)
    assert links(driver.bench.parts.detail.code) == []


def test_an_agent_that_cannot_be_loaded_offers_the_line(driver: WindowDriver, project: Path) -> None:
    (project / "agent.py").write_text("import os\nraise OSError('no key')\n")
    with driver.qtbot.waitSignal(driver.inspector.agents.agent_failed, timeout=60_000):
        driver.inspector.features.opening.opening.open_path(str(project))
    driver.run_until_idle()
    assert links(driver.inspector.window.parts.problem.code) == [("the failure", "agent.py", 2)]
    assert "OSError: no key (agent.py, line 2)" in driver.inspector.window.parts.problem.text


def test_the_editor_is_chosen_in_a_dialog(driver: WindowDriver) -> None:
    driver.inspector.window.commands.choose_editor.trigger()
    dialog = driver.inspector.window.findChild(QInputDialog, "editor_dialog")
    driver.run_until(dialog.isVisible)
    dialog.setTextValue(" kate ")
    dialog.accept()
    assert driver.inspector.settings.editor == "kate"
