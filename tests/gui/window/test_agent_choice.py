"""The page that asks which agent of a folder to load."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QPushButton

from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder

AGENT = """
from pathlib import Path
from runtime.agents import LlmAgent
from runtime.models import ScriptedLlm

Path(__file__).with_name("it-ran").touch()
root_agent = LlmAgent(name="helper", model=ScriptedLlm(rules=[]))
"""


def write_agents(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "agent.py").write_text(AGENT)
    return folder


def open_path(driver: WindowDriver, path: Path) -> None:
    driver.inspector.features.opening.opening.open_path(str(path))
    driver.run_until_idle()


def test_a_folder_of_agents_lists_them_before_any_code_runs(driver: WindowDriver, tmp_path: Path) -> None:
    agents, window = write_agents(tmp_path / "agents", "billing", "planner", "support"), driver.inspector.window
    open_path(driver, agents)
    assert window.page is window.parts.agent_choice
    listed = window.findChild(QListWidget, "agent_choice_list")
    assert [listed.item(row).text() for row in range(listed.count())] == ["billing", "planner", "support"]
    assert listed.hasFocus()
    assert not list(agents.rglob("it-ran"))
    driver.qtbot.keyClick(listed, Qt.Key.Key_Down)
    with driver.qtbot.waitSignal(driver.inspector.agents.trust_requested):
        driver.qtbot.keyClick(listed, Qt.Key.Key_Return)
    driver.run_until_idle()
    assert window.page is window.parts.trust
    driver.click(window.parts.trust, "trust_accept")
    driver.run_until(lambda: driver.inspector.agents.loaded is not None)
    driver.run_until_idle()
    assert [file.parent.name for file in agents.rglob("it-ran")] == ["planner"]
    assert driver.inspector.settings.recent[0] == str(agents / "planner")


def test_the_list_is_left_without_loading_anything(driver: WindowDriver, tmp_path: Path) -> None:
    window = driver.inspector.window
    open_path(driver, write_agents(tmp_path / "agents", "billing", "planner"))
    driver.click(window.parts.agent_choice, "agent_choice_close")
    assert window.page is window.parts.welcome
    open_path(driver, tmp_path / "agents")
    assert window.findChild(QPushButton, "agent_choice_open").text() == "Open billing"
    driver.qtbot.keyClick(window.findChild(QListWidget, "agent_choice_list"), Qt.Key.Key_Escape)
    assert window.page is window.parts.welcome
    assert driver.inspector.agents.loaded is None


def test_the_only_agent_in_a_folder_is_loaded(driver: WindowDriver, tmp_path: Path) -> None:
    project = write_agents(tmp_path / "project", "planner")
    trust_folder(driver.inspector, project / "planner")
    open_path(driver, project)
    assert driver.inspector.agents.loaded is not None
    assert driver.inspector.agents.loaded.folder == project / "planner"


def test_a_package_that_only_holds_agents_lists_them(driver: WindowDriver, tmp_path: Path) -> None:
    agents, window = write_agents(tmp_path / "agents", "billing", "planner"), driver.inspector.window
    (agents / "__init__.py").write_text("app = None\n")
    trust_folder(driver.inspector, agents)
    open_path(driver, agents)
    assert window.page is window.parts.agent_choice, "loading it found none"
