"""The question whether a folder is trusted, asked once per folder before its agent's code runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QListWidget, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from tests.gui.window.trusting import trust_folder

AGENT = """
from pathlib import Path
from runtime.agents import LlmAgent
from runtime.models import ScriptedLlm

Path(__file__).with_name("it-ran").touch()
root_agent = LlmAgent(name="echo", model=ScriptedLlm(rules=[]))
"""

SEES = """
import os
from runtime.agents import LlmAgent
from runtime.models import ScriptedLlm

def look():
    return {"seen": os.environ.get("SEEN_IN_A_RUN")}

root_agent = LlmAgent(name="sees", model=ScriptedLlm(replies=[{"calls": [["look", {}]]}, "done"]), tools=[look])
"""


@pytest.fixture
def agent_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "echo_agent"
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT)
    return folder


def press(inspector: Inspector, name: str, qtbot: QtBot) -> None:
    button = inspector.window.findChild(QPushButton, name)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=10_000)


def test_no_code_runs_before_the_folder_is_trusted(
    inspector: Inspector, agent_folder: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(agent_folder)
    window = inspector.window
    assert window.page is window.parts.trust
    files = window.parts.trust.findChild(QListWidget, "trust_files")
    assert [files.item(row).text() for row in range(files.count())] == ["agent.py"]
    press(inspector, "trust_decline", qtbot)
    assert window.page is window.parts.welcome
    assert inspector.agents.loaded is None
    assert not (agent_folder / "it-ran").exists()

    opened(agent_folder)
    assert window.page is window.parts.trust, "declining is not remembered"
    accept = window.parts.trust.findChild(QPushButton, "trust_accept")
    accept.click()
    accept.click()  # changes nothing
    assert accept.text() == accept.accessibleName() == "Loading…"
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=10_000)
    assert (agent_folder / "it-ran").exists()
    assert window.page is window.workbench
    assert inspector.agents.loaded is not None

    (agent_folder / "it-ran").unlink()
    opened(agent_folder)
    assert (agent_folder / "it-ran").exists(), "the folder is trusted from now on"
    assert window.page is window.workbench


def text_of(inspector: Inspector, name: str) -> str:
    label = inspector.window.parts.trust.findChild(QLabel, name)
    return label.text() if not label.isHidden() else ""


def test_the_question_names_the_variables_of_the_env_file_and_no_value(
    inspector: Inspector, agent_folder: Path, opened: Callable[..., None]
) -> None:
    (agent_folder / ".env").write_text("FIRST_KEY=a-secret\nSECOND_KEY=another\n")
    opened(agent_folder)
    assert text_of(inspector, "trust_env") == f"{agent_folder / '.env'} sets FIRST_KEY, SECOND_KEY."
    assert not any("a-secret" in label.text() for label in inspector.window.parts.trust.findChildren(QLabel))


@pytest.mark.rule("I6")
def test_changed_code_is_asked_about_again(inspector: Inspector, agent_folder: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    trust_folder(inspector, agent_folder, changes=False)
    opened(agent_folder)
    assert inspector.window.page is inspector.window.workbench
    (agent_folder / "it-ran").unlink()
    (agent_folder / "helper.py").write_text("import os\n")
    opened(agent_folder)
    assert inspector.window.page is inspector.window.parts.trust
    assert "has changed" in text_of(inspector, "trust_title")
    assert not (agent_folder / "it-ran").exists()
    press(inspector, "trust_accept", qtbot)
    assert (agent_folder / "it-ran").exists()
    opened(agent_folder)
    assert inspector.window.page is inspector.window.workbench


@pytest.mark.rule("I6")
def test_changes_are_loaded_without_a_question_if_the_user_chose_so(
    inspector: Inspector, agent_folder: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(agent_folder)
    changes = inspector.window.parts.trust.findChild(QCheckBox, "trust_changes")
    assert not changes.isChecked()
    changes.click()
    press(inspector, "trust_accept", qtbot)
    (agent_folder / "it-ran").unlink()
    (agent_folder / "helper.py").write_text("import os\n")
    opened(agent_folder)
    assert inspector.window.page is inspector.window.workbench
    assert (agent_folder / "it-ran").exists()


@pytest.mark.rule("I6")
@pytest.mark.parametrize("changes", [True, False])
def test_a_replaced_folder_is_asked_about_again(
    inspector: Inspector, agent_folder: Path, opened: Callable[..., None], tmp_path: Path, changes: bool
) -> None:
    trust_folder(inspector, agent_folder, changes=changes)
    agent_folder.rename(tmp_path / "moved away")
    agent_folder.mkdir()
    (agent_folder / "agent.py").write_text(AGENT)
    opened(agent_folder)
    assert inspector.window.page is inspector.window.parts.trust
    assert "has been replaced" in text_of(inspector, "trust_title")
    assert not (agent_folder / "it-ran").exists()


def test_code_that_changes_while_the_question_is_displayed_is_asked_about_again(
    inspector: Inspector, agent_folder: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(agent_folder)
    (agent_folder / "helper.py").write_text("import os\n")
    press(inspector, "trust_accept", qtbot)
    assert inspector.window.page is inspector.window.parts.trust
    assert not (agent_folder / "it-ran").exists()


def test_the_agents_code_sees_its_env_file_in_a_run_of_the_window(
    agent: Callable[[str, str], Inspector], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SEEN_IN_A_RUN", raising=False)
    (tmp_path / ".env").write_text("SEEN_IN_A_RUN=yes\n")
    inspector = agent("sees", SEES)
    inspector.run.send("look")
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=10_000)
    session = inspector.current.session
    assert session is not None
    responses = [response.response for event in session.events for response in event.get_function_responses()]
    assert responses == [{"seen": "yes"}]
    assert "SEEN_IN_A_RUN" not in os.environ


def test_trust_does_not_extend_to_subfolders(inspector: Inspector, agent_folder: Path, tmp_path: Path, opened: Callable[..., None]) -> None:
    trust_folder(inspector, tmp_path)
    opened(agent_folder)
    assert inspector.window.page is inspector.window.parts.trust
