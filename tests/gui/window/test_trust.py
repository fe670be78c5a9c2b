"""The question whether a folder is trusted, asked once per folder before its agent's code runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector

AGENT = """
from pathlib import Path
from runtime.agents import LlmAgent
from runtime.models import ScriptedLlm

Path(__file__).with_name("it-ran").touch()
root_agent = LlmAgent(name="echo", model=ScriptedLlm(rules=[]))
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
    assert window.page is window.trust
    files = window.trust.findChild(QListWidget, "trust_files")
    assert [files.item(row).text() for row in range(files.count())] == ["agent.py"]
    press(inspector, "trust_decline", qtbot)
    assert window.page is window.welcome
    assert inspector.agents.loaded is None
    assert not (agent_folder / "it-ran").exists()

    opened(agent_folder)
    assert window.page is window.trust, "declining is not remembered"
    press(inspector, "trust_accept", qtbot)
    assert (agent_folder / "it-ran").exists()
    assert window.page is window.workbench
    assert inspector.agents.loaded is not None

    (agent_folder / "it-ran").unlink()
    opened(agent_folder)
    assert (agent_folder / "it-ran").exists(), "the folder is trusted from now on"
    assert window.page is window.workbench


def test_trust_does_not_extend_to_subfolders(inspector: Inspector, agent_folder: Path, tmp_path: Path, opened: Callable[..., None]) -> None:
    inspector.settings.trust(tmp_path)
    opened(agent_folder)
    assert inspector.window.page is inspector.window.trust
