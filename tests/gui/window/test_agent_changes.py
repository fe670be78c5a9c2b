"""A change in a loaded agent's code is reported, and the agent can be reloaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from tests.agent_folders import write_agent
from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder

AGENT = """
from runtime.agents import LlmAgent
from runtime.models import ScriptedLlm
from .words import ANSWER
root_agent = LlmAgent(name="helper", model=ScriptedLlm(replies=[ANSWER] * 9))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = Path(write_agent(tmp_path / "helper", AGENT))
    (folder / "words.py").write_text("ANSWER = 'first'\n", "utf-8")
    return folder


@pytest.fixture
def loaded(inspector: Inspector, folder: Path, opened: Callable[..., None]) -> Inspector:
    trust_folder(inspector, folder)
    opened(folder)
    return inspector


def said(inspector: Inspector) -> list[str]:
    events = inspector.current.session.events if inspector.current.session else []
    return [part.text or "" for event in events for part in (event.content.parts if event.content else None) or []]


def test_a_change_is_reported_and_the_button_reloads_the_agent(loaded: Inspector, folder: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    hint = loaded.window.parts.agent_hint
    driver.run_message("hello")
    assert hint.isHidden()
    (folder / "words.py").write_text("ANSWER = 'second, and longer'\n", "utf-8")
    qtbot.waitUntil(lambda: hint.text == "The code of helper has changed since it was loaded.")
    driver.run_message("again")
    qtbot.mouseClick(hint.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: hint.isHidden() and not loaded.tasks.running)
    driver.run_message("and now")
    assert said(loaded) == ["hello", "first", "again", "first", "and now", "second, and longer"]


def test_a_broken_change_can_be_fixed_and_reloaded(loaded: Inspector, folder: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    window, hint = loaded.window, loaded.window.parts.agent_hint
    (folder / "agent.py").write_text("def broken(:\n", "utf-8")
    qtbot.waitUntil(lambda: bool(hint.text))
    window.commands.reload.trigger()
    qtbot.waitUntil(lambda: window.page is window.parts.problem and not loaded.tasks.running)
    assert "SyntaxError" in window.parts.problem.text
    replacement = folder / "agent.py.new"  # as editors save
    replacement.write_text(AGENT.replace("ANSWER]", "'mended']"), "utf-8")
    replacement.replace(folder / "agent.py")
    qtbot.mouseClick(window.parts.problem.findChild(object, "problem_retry"), Qt.MouseButton.LeftButton)  # type: ignore[call-overload]
    qtbot.waitUntil(lambda: window.page is window.workbench and not loaded.tasks.running)
    driver.run_message("hello")
    assert said(loaded) == ["hello", "mended"]


def test_a_reverted_change_hides_the_hint(loaded: Inspector, folder: Path, qtbot: QtBot) -> None:
    hint, init = loaded.window.parts.agent_hint, folder / "__init__.py"
    init.write_text("x = 1\n", "utf-8")
    qtbot.waitUntil(lambda: bool(hint.text))
    init.unlink()
    qtbot.waitUntil(hint.isHidden)
