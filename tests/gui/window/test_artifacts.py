"""Files that an event saved are opened if they are stored, and otherwise their expected place is reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector

AGENT = """
from google.genai import types
from runtime.agents import BaseAgent
from runtime.events import Event, EventActions

class Writer(BaseAgent):
    async def _run_async_impl(self, ctx):
        where = dict(app_name=ctx.session.app_name, user_id=ctx.session.user_id, session_id=ctx.session.id)
        text = types.Part.from_bytes(data="Grüße & more".encode(), mime_type="text/markdown")
        await ctx.artifact_service.save_artifact(**where, filename="report.md", artifact=text)
        await ctx.artifact_service.save_artifact(**where, filename="report.md", artifact=types.Part(text="a newer one"))
        yield Event(author=self.name, actions=EventActions(artifact_delta={"report.md": 0, "lost.bin": 3}))

root_agent = Writer(name="writer")
"""


@pytest.fixture
def saved(inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot) -> Inspector:
    folder = tmp_path / "writer"
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT)
    inspector.settings.trust(folder)
    opened(folder)
    with qtbot.waitSignal(inspector.run.run_ended, timeout=10_000):
        inspector.run.send("write")
    inspector.window.workbench.detail.tabs.setCurrentIndex(0)
    return inspector


def press(inspector: Inspector, qtbot: QtBot, words: str) -> None:
    buttons = inspector.window.workbench.detail.findChildren(QPushButton, "open_artifact")
    button = next(button for button in buttons if button.text().startswith(words) and button.isVisible())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not inspector.tasks.running)


def test_a_saved_file_is_opened_and_a_missing_one_reported(saved: Inspector, qtbot: QtBot) -> None:
    press(saved, qtbot, "report.md  v0")
    dialog = saved.window.findChild(QDialog, "text_dialog")
    assert dialog.windowTitle() == "report.md · version 0"
    assert dialog.findChild(QPlainTextEdit, "full_text").toPlainText() == "Grüße & more"
    assert dialog.height() < 300, "a short text gets a small dialog"
    dialog.close()
    press(saved, qtbot, "lost.bin  v3")
    assert "Version 3 of lost.bin is not here" in saved.window.message_bar.messages[-1].text


def test_the_message_about_a_missing_file_names_its_folder(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(story_db)
    inspector.window.workbench.detail.content.artifact_asked.emit("report.md", 0)
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert f"in {story_db.with_suffix('.artifacts')}" in inspector.window.message_bar.messages[-1].text
