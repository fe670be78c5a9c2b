"""An agent's code changes between runs and during one, on every engine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from inspector_app.engines.engine_choice import EngineChoice
from tests.gui.window.driver import WindowDriver
from tests.gui.window.test_own_environment import STEPS, WEATHER, open_agent
from tests.interop.google_adk import adk_python


@pytest.fixture(params=["adk", "embedded", "embedded-process"])
def project(request: pytest.FixtureRequest, driver: WindowDriver, tmp_path: Path) -> Path:
    """Return the folder of a loaded agent whose tools are in a module of their own."""
    (tmp_path / "project").mkdir()
    if request.param == "adk":
        (tmp_path / "project" / ".venv").symlink_to(Path(adk_python()).parent.parent)
    folder = Path(shutil.copytree(STEPS, tmp_path / "project" / "steps", ignore=shutil.ignore_patterns("__pycache__")))
    (folder / "skies.py").write_text('SKY = "blue"\n')
    code = (folder / "agent.py").read_text().replace('f"blue over {city}"', 'f"{SKY} over {city}"')
    (folder / "agent.py").write_text(code.replace("from .scripted", "from .skies import SKY\nfrom .scripted"))
    driver.inspector.agents._engine = EngineChoice(request.param)
    open_agent(driver, folder)
    return folder


def change(driver: WindowDriver, folder: Path, sky: str) -> str:
    """Change an imported module; return the hint."""
    (folder / "skies.py").write_text(f'SKY = "{sky}"\n')
    driver.run_until(lambda: bool(driver.bench.parts.agent_hint.text))
    return driver.bench.parts.agent_hint.text


def accept(driver: WindowDriver) -> None:
    driver.qtbot.mouseClick(driver.bench.parts.agent_hint.button, Qt.MouseButton.LeftButton)


def test_a_changed_module_is_reported_and_reloaded(driver: WindowDriver, project: Path) -> None:
    driver.run_message(WEATHER)
    assert change(driver, project, "dark grey") == "The code of steps has changed since it was loaded."
    with driver.qtbot.waitSignal(driver.inspector.agents.agent_loaded, timeout=60_000):
        accept(driver)
    driver.run_until_idle()
    assert "steps_app was loaded again." in driver.log_text()
    driver.run_message(WEATHER)
    assert driver.stream.results("weather") == [{"sky": "blue over Bern"}, {"sky": "dark grey over Bern"}]


def test_a_run_keeps_its_code_and_the_reload_follows_it(driver: WindowDriver, project: Path) -> None:
    commands = driver.inspector.window.commands
    driver.bench.parts.composer.set_text(WEATHER)
    commands.step.trigger()
    driver.run_until_held()
    assert "The run keeps the code that it began with." in change(driver, project, "dark grey")
    accept(driver)
    assert driver.bench.parts.agent_hint.text == "steps is loaded again when the run has ended."
    with driver.qtbot.waitSignal(driver.inspector.agents.agent_loaded, timeout=60_000):
        commands.run.trigger()
    driver.run_until_idle()
    assert driver.stream.results("weather") == [{"sky": "blue over Bern"}]
    driver.run_message(WEATHER)
    assert driver.stream.results("weather")[1] == {"sky": "dark grey over Bern"}


@pytest.mark.parametrize("project", ["adk"], indirect=True)
@pytest.mark.parametrize(
    ("steps", "effect"),
    [
        ([["call", "broken", {"number": 3}]], "Its failed invocation continues with the new code when it is resumed;"),
        ([["call", "order", {"item": "lamp"}]], "Its waiting invocation continues with the new code when it is answered;"),
    ],
)
def test_the_window_says_what_a_reload_does_to_an_unfinished_invocation(
    driver: WindowDriver, project: Path, steps: list[object], effect: str
) -> None:
    driver.run_message(json.dumps([*steps, ["done"]]))
    assert effect in change(driver, project, "dark grey")
    with driver.qtbot.waitSignal(driver.inspector.agents.agent_loaded, timeout=60_000):
        accept(driver)
    driver.run_until_idle()
    assert f"steps_app was loaded again. {effect}" in driver.log_text()
