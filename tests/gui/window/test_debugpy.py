"""An editor's debugger beside the window: the engine menu starts the agent under debugpy."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QMenu

from inspector_app.engines.child_agent import ChildAgent
from tests.gui.window.driver import WindowDriver
from tests.gui.window.test_own_environment import STEPS, WEATHER, open_agent
from tests.interop.engines.debug_adapter import DebugAdapter
from tests.interop.google_adk import adk_python


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return an agent's folder below a folder with a `.venv` that has google-adk and debugpy."""
    if subprocess.run([adk_python(), "-c", "import debugpy"], capture_output=True, check=False).returncode != 0:
        pytest.skip("debugpy is not installed beside google-adk: pip install debugpy there")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".venv").symlink_to(Path(adk_python()).parent.parent)
    return Path(shutil.copytree(STEPS, tmp_path / "project" / "steps", ignore=shutil.ignore_patterns("__pycache__")))


def toggle(driver: WindowDriver) -> ChildAgent:
    """Choose debugpy in the engine menu, and wait for the agent."""
    engine = driver.inspector.window.status.findChild(QLabel, "status_engine")
    driver.qtbot.mouseClick(engine, Qt.MouseButton.LeftButton)
    menu = driver.inspector.window.findChild(QMenu, "engine_menu")
    driver.run_until(menu.isVisible)
    action = next(action for action in menu.actions() if action.objectName() == "engine_debugpy")
    with driver.qtbot.waitSignal(driver.inspector.agents.agent_loaded, timeout=60_000):
        action.trigger()
    menu.hide()
    driver.run_until_idle()
    loaded = driver.inspector.agents.loaded
    assert isinstance(loaded, ChildAgent)
    return loaded


def test_a_breakpoint_of_an_editor_stops_a_tool_and_the_window_stays_alive(driver: WindowDriver, project: Path) -> None:
    open_agent(driver, project)
    loaded = toggle(driver)
    assert loaded.debugpy is not None
    port = loaded.debugpy.port
    assert driver.inspector.window.status.text("engine") == f"steps_app · google-adk 2.13.0 · debugpy {port}"
    assert f"debugpy listens on 127.0.0.1:{port}: attach VS Code" in driver.log_text()
    file = project / "agent.py"
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if "looking up" in text)
    editor = DebugAdapter(port)
    attached = driver.inspector.tasks.spawn(editor.attach({str(file): [line]}), "Attaching")
    driver.run_until(attached.done, timeout=60_000)
    attached.result()
    stopped = asyncio.ensure_future(editor.event("stopped"))
    driver.bench.parts.composer.set_text(WEATHER)
    driver.inspector.window.commands.run.trigger()
    driver.run_until(stopped.done, timeout=60_000)
    assert driver.inspector.run.phase == "running"
    assert driver.inspector.window.commands.pause.isEnabled() and driver.inspector.window.commands.stop.isEnabled()
    driver.stream.select(0)
    assert driver.bench.parts.detail.event_id == driver.stream.ids()[0], "the window answers"
    driver.inspector.window.commands.pause.trigger()
    continued = asyncio.ensure_future(editor.request("continue", threadId=stopped.result()["threadId"]))
    driver.run_until(continued.done, timeout=60_000)
    driver.run_until_held()
    driver.inspector.window.commands.run.trigger()
    driver.run_until(lambda: driver.inspector.run.phase == "idle", timeout=60_000)
    assert driver.stream.results("weather") == [{"sky": "blue over Bern"}]
    closed = asyncio.ensure_future(editor.close())
    driver.run_until(closed.done)
    assert toggle(driver).debugpy is None, "the menu switches it off again"


def test_an_environment_without_debugpy_says_how_to_install_it(
    driver: WindowDriver, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.parent / "hidden").mkdir()
    (project.parent / "hidden" / "debugpy.py").write_text("raise ImportError\n")
    open_agent(driver, project)
    monkeypatch.setenv("PYTHONPATH", str(project.parent / "hidden"))
    with driver.qtbot.waitSignal(driver.inspector.agents.agent_failed, timeout=60_000):
        driver.inspector.tasks.spawn(driver.inspector.agents.set_debugpy(5678), "Starting")
    driver.run_until_idle()
    assert "-m pip install debugpy" in driver.inspector.window.parts.problem.text
    assert driver.inspector.agents.debugpy is None
    assert driver.inspector.agents.loaded is not None
