"""Files that an agent saves are stored beside the database, copied with forks and copies, restored by a rewind,
and opened from the event that saved them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from google.genai import types
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_files import files_folder, files_of
from inspector_app.widgets.value_tree import FILES
from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from tests.agent_folders import write_agent
from tests.fixture_paths import copy_of, fixtures_dir
from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder

AGENT = """
from google.genai import types
from runtime.agents import LlmAgent, ToolContext
from runtime.apps import App, ResumabilityConfig
from runtime.models.scripted_llm import ScriptedLlm
async def note(text: str, tool_context: ToolContext) -> dict:
    await tool_context.save_artifact("note.txt", types.Part(text=text))
    if text == "fail":
        raise OSError("the pen broke")
    return {"noted": text}
def reply(request):
    part = request.contents[-1].parts[-1]
    return "done" if part.function_response else {"calls": [["note", {"text": part.text}]]}
agent = LlmAgent(name="writer", model=ScriptedLlm(replies=[reply] * 20), tools=[note])
app = App(name="writer", root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=True))
"""

SAVING_AGENT = """
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
def writer(inspector: Inspector, tmp_path: Path, opened: Callable[..., None]) -> Inspector:
    folder = Path(write_agent(tmp_path / "writer", AGENT))
    trust_folder(inspector, folder)
    opened(folder)
    return inspector


@pytest.fixture
def saved(inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot) -> Inspector:
    folder = Path(write_agent(tmp_path / "writer", SAVING_AGENT))
    trust_folder(inspector, folder)
    opened(folder)
    with qtbot.waitSignal(inspector.run.run_ended, timeout=10_000):
        inspector.run.send("write")
    inspector.window.parts.detail.tabs.setCurrentIndex(0)
    return inspector


def content(inspector: Inspector, address: SessionAddress, qtbot: QtBot) -> str | None:
    """Return the content of a session's note."""
    source = inspector.databases.source(address.database)
    assert source is not None
    key = address.key
    found: list[types.Part | None] = []

    async def load() -> None:
        names = {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id, "filename": "note.txt"}
        found.append(await source.files.load_artifact(**names))

    inspector.tasks.spawn(load(), "Loading a file")
    qtbot.waitUntil(lambda: bool(found))
    return found[0].text if found[0] is not None else None


def test_file_versions_are_shown_with_the_state_and_copied_into_a_fork(writer: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.run_message("one")
    original = driver.run_message("two")
    assert driver.state.files() == [("note.txt", "version 1", "#8 writer")]
    writer.window.parts.stream.select_event(3)
    assert driver.state.files() == [("note.txt", "version 0", "#3 writer")]
    writer.window.parts.stream.select_event(1)
    assert driver.state.files() == []
    driver.fork.ask(3)
    facts = [label.text() for label in writer.window.parts.fork_card.findChildren(QLabel)]
    assert "Files copied at their versions: note.txt (version 0)." in facts
    driver.fork.choose("fork")
    fork = driver.fork.wait(original)
    driver.run_until_idle()
    assert (content(writer, fork, qtbot), content(writer, original, qtbot)) == ("one", "two")
    assert driver.state.files() == [("note.txt", "version 0", "#3 writer")]
    assert not any("files" in message.text for message in writer.window.message_bar.messages)


def test_a_session_id_that_is_no_folder_name_gives_no_files_and_no_error(
    inspector: Inspector, opened: Callable[..., None], tmp_path: Path, qtbot: QtBot
) -> None:
    async def write() -> None:
        async with DatabaseSessionService(str(tmp_path / "odd.db")) as service:
            session = await service.create_session(app_name="a", user_id="u", session_id="team/1")
            await service.append_event(session, Event(author="user"))

    inspector.tasks.spawn(write(), "Writing")
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    opened(tmp_path / "odd.db")
    assert inspector.features.stream.events.event_count == 1
    assert [message.text for message in inspector.window.message_bar.messages] == []


@pytest.mark.rule("R6")
def test_a_version_without_an_event_is_unconfirmed(writer: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.run_message("one")
    driver.run_message("fail")
    assert driver.state.files() == [
        ("note.txt", "version 0", "#3 writer"),
        ("note.txt", "version 1 · unconfirmed: no event refers to it", ""),
    ]
    tree = writer.window.parts.detail.state.tree
    model = writer.window.parts.detail.state.model
    lane = next(model.index(row, 0) for row in range(model.rowCount()) if model.node(model.index(row, 0)).lane == FILES)
    tree.setCurrentIndex(model.index(1, 0, lane))
    assert tree.selected_key() is None, "a file is not a state key"
    qtbot.keyClick(tree, Qt.Key.Key_P)
    assert model.pinned == []


def test_a_rewind_restores_file_versions(writer: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.run_message("one")
    address = driver.run_message("two")
    bench = writer.window.workbench
    bench.parts.stream.select_event(5)
    writer.window.commands.rewind.trigger()
    qtbot.waitUntil(lambda: bench.parts.rewind_card.title != "", timeout=10_000)
    button = bench.parts.rewind_card.button("rewind")
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    driver.run_until_idle()
    assert content(writer, address, qtbot) == "one"


def test_files_are_stored_in_a_folder_beside_the_database(tmp_path: Path) -> None:
    assert files_folder(str(tmp_path / "s.db")) == tmp_path / "s.artifacts"
    assert files_folder(f"sqlite:///{tmp_path / 's.db'}") == tmp_path / "s.artifacts"
    assert files_folder(str(tmp_path / ".adk" / "session.db")) == tmp_path / ".adk" / "artifacts"
    assert files_folder("postgresql://somewhere/db") is None
    names = {"app_name": "a", "user_id": "u", "session_id": "s", "filename": "f.txt"}
    files = files_of(str(tmp_path / "s.db"))
    assert asyncio.run(files.load_artifact(**names)) is None
    assert not (tmp_path / "s.artifacts").exists(), "loading a file creates no folder"
    asyncio.run(files.save_artifact(**names, artifact=types.Part(text="x")))
    assert (tmp_path / "s.artifacts").is_dir()


def test_a_copy_of_a_database_has_its_files(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver
) -> None:
    file = copy_of("open/adk2.13.0-v1-rewind.db", tmp_path)
    shutil.copytree(fixtures_dir() / "open/adk2.13.0-v1-rewind.artifacts", file.with_suffix(".artifacts"))
    opened(file)
    driver.run_until_idle()
    first = driver.state.files()
    assert first and not any("unconfirmed" in text for _, text, _ in first)
    inspector.window.commands.work_on_copy.trigger()
    driver.run_until_idle()
    assert inspector.cursor.session is not None and inspector.cursor.session.database == str(file.with_name(f"{file.stem}-copy.db"))
    assert driver.state.files() == first
    assert (tmp_path / f"{file.stem}-copy.artifacts").is_dir()


def test_a_long_session_shows_its_files(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = copy_of("open/adk2.13.0-v1-rewind.db", tmp_path)
    shutil.copytree(fixtures_dir() / "open/adk2.13.0-v1-rewind.artifacts", file.with_suffix(".artifacts"))

    def at_each_event() -> list[list[tuple[str, str, str]]]:
        opened(file)
        found = []
        for index in range(inspector.features.stream.events.event_count):
            inspector.window.parts.stream.select_event(index)
            driver.run_until_idle()
            found.append(driver.state.files())
        return found

    whole = at_each_event()
    assert any(whole) and whole[0] != whole[-1]
    inspector.window.commands.close_database.trigger()
    driver.run_until_idle()
    monkeypatch.setattr("inspector_app.documents.sources.LONG", 2)
    assert at_each_event() == whole
    assert inspector.current.session is not None and inspector.current.session.pages is not None


MEMORY_AGENT = """
from runtime.agents import LlmAgent, ToolContext
from runtime.apps import App
from runtime.models.scripted_llm import ScriptedLlm
async def recall(what: str, tool_context: ToolContext) -> dict:
    found = await tool_context.search_memory(what)
    return {"memories": [part.text for memory in found.memories for part in memory.content.parts]}
async def remember(callback_context):
    await callback_context.add_session_to_memory()
def reply(request):
    part = request.contents[-1].parts[-1]
    return "done" if part.function_response else {"calls": [["recall", {"what": part.text}]]}
agent = LlmAgent(name="writer", model=ScriptedLlm(replies=[reply] * 20), tools=[recall], after_agent_callback=remember)
app = App(name="writer", root_agent=agent)
"""


def test_agents_share_memory_across_the_sessions_of_a_window(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver
) -> None:
    folder = Path(write_agent(tmp_path / "writer", MEMORY_AGENT))
    trust_folder(inspector, folder)
    opened(folder)
    driver.run_message("the ferry is late")
    inspector.window.commands.new_session.trigger()
    driver.run_until_idle()
    driver.run_message("ferry")
    result = inspector.features.stream.events.committed(2).get_function_responses()[0].response
    assert result is not None and "the ferry is late" in result["memories"]


def press_file(inspector: Inspector, qtbot: QtBot, words: str) -> None:
    buttons = inspector.window.parts.detail.findChildren(QPushButton, "open_artifact")
    button = next(button for button in buttons if button.text().startswith(words) and button.isVisible())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not inspector.tasks.running)


def test_a_saved_file_is_opened_and_a_missing_one_reported(saved: Inspector, qtbot: QtBot) -> None:
    press_file(saved, qtbot, "report.md  v0")
    dialog = saved.window.findChild(QDialog, "text_dialog")
    assert dialog.windowTitle() == "report.md · version 0"
    assert dialog.findChild(QPlainTextEdit, "full_text").toPlainText() == "Grüße & more"
    assert dialog.height() < 300, "a short text gets a small dialog"
    dialog.close()
    press_file(saved, qtbot, "lost.bin  v3")
    assert "Version 3 of lost.bin is not in" in saved.window.message_bar.messages[-1].text


def test_the_message_about_a_missing_file_names_its_folder(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(story_db)
    inspector.window.parts.detail.cards.artifact_requested.emit("report.md", 0)
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert f"in {story_db.with_suffix('.artifacts')}" in inspector.window.message_bar.messages[-1].text
