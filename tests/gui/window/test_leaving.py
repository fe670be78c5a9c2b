"""A person who closes the window is asked about sessions that have no database, and can save them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.shell.leave_dialog import LeaveDialog
from runtime.sessions.note import Note
from runtime.storage.reading.reader import StoredDatabase
from tests.gui.window.driver import WindowDriver

QUIET = """
from google.adk.agents import BaseAgent
from google.adk.events import Event


class Quiet(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield Event(author=self.name, invocation_id=ctx.invocation_id)


root_agent = Quiet(name="quiet")
"""


@contextmanager
def leaving(inspector: Inspector, qtbot: QtBot) -> Iterator[None]:
    """Wait until the window is to be closed. It stays open: the fixture closes it."""
    inspector.window.close_requested.disconnect(inspector.close)
    with qtbot.waitSignal(inspector.window.close_requested, timeout=10_000):
        yield
    inspector.window.close_requested.connect(inspector.close)


def ask(inspector: Inspector) -> LeaveDialog:
    """Quit, and return the question."""
    inspector.window.commands.quit.trigger()
    asked = inspector.window.findChild(LeaveDialog)
    assert asked is not None
    return asked


def choose_file(inspector: Inspector, asked: LeaveDialog, file: Path) -> None:
    asked.save_button.click()
    (dialog,) = inspector.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(file))
    dialog.close()


def keep_nothing(inspector: Inspector) -> None:
    """Choose in the settings that sessions without a database are in memory."""
    inspector.settings.unsaved_days = 0


def test_nothing_is_asked_about_sessions_that_the_program_keeps(
    agent: Callable[[str, str], Inspector], driver: WindowDriver, qtbot: QtBot
) -> None:
    inspector = agent("quiet", QUIET)
    driver.run_message("Anything?")
    address = inspector.cursor.session
    assert address is not None
    source = inspector.databases.source(address.database)
    assert source is not None and source.title == "not saved yet" and "Ctrl+S" in source.note
    with leaving(inspector, qtbot):
        inspector.window.commands.quit.trigger()
    assert inspector.features.shell.leaving.keeps, "the next window lists them"


def test_unsaved_sessions_are_saved_with_their_notes_before_the_window_closes(
    orders: Inspector, driver: WindowDriver, qtbot: QtBot, tmp_path: Path
) -> None:
    keep_nothing(orders)
    address = driver.run_message("2 desk lamps")
    driver.inspector.window.commands.toggle_bookmark.trigger()
    driver.run_until_idle()
    ids = driver.stream.ids()
    asked = ask(orders)
    assert asked.text() == "1 session is not saved."
    asked.reject()
    assert orders.window.isVisible()

    file = tmp_path / "kept.db"
    file.touch()
    choose_file(orders, ask(orders), file)
    driver.run_until(lambda: "already exists" in driver.log_text())
    assert orders.window.isVisible()

    file.unlink()
    with leaving(orders, qtbot):
        choose_file(orders, ask(orders), file)
    with StoredDatabase.open(str(file)) as stored:
        assert [event.id for event in stored.events(address.key)] == ids
        assert [note.is_bookmark for note in stored.notes(address.key)[address.key].values()] == [True]


def test_sessions_of_an_agent_in_another_process_keep_their_layout(
    inspector: Inspector, driver: WindowDriver, qtbot: QtBot, story_db: Path, tmp_path: Path
) -> None:
    keep_nothing(inspector)

    async def have_sessions() -> None:
        place = await inspector.databases.unsaved_place("story", needs_file=True)
        shutil.copy(story_db, place.target)
        source = await inspector.databases.unsaved_source(place, needs_file=True)
        (summary,) = await source.sessions()
        event = (await source.events(summary.key))[0]
        await source.set_note(summary.key, event.id, Note("Ask Ana.", False, 1.0))

    inspector.tasks.spawn(have_sessions(), "Preparing")
    driver.run_until_idle()
    file = tmp_path / "kept.db"
    with leaving(inspector, qtbot):
        choose_file(inspector, ask(inspector), file)
    with StoredDatabase.open(str(story_db)) as before, StoredDatabase.open(str(file)) as after:
        assert after.layout.kind == before.layout.kind
        assert [summary.key for summary in after.sessions()] == [summary.key for summary in before.sessions()]
        assert [note.text for notes in after.notes().values() for note in notes.values()] == ["Ask Ana."]


def test_nothing_is_asked_when_nothing_would_be_deleted(inspector: Inspector, qtbot: QtBot) -> None:
    with leaving(inspector, qtbot):
        inspector.window.commands.quit.trigger()


def test_unsaved_sessions_may_be_deleted(agent: Callable[[str, str], Inspector], driver: WindowDriver, qtbot: QtBot) -> None:
    inspector = agent("quiet", QUIET)
    keep_nothing(inspector)
    driver.run_message("Anything?")
    with leaving(inspector, qtbot):
        ask(inspector).delete_button.click()


def test_nothing_is_asked_after_a_sample_without_notes(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.run_message("2 desk lamps")
    with leaving(orders, qtbot):
        orders.window.commands.quit.trigger()


def test_the_session_of_a_held_run_is_asked_about(agent: Callable[[str, str], Inspector], driver: WindowDriver) -> None:
    inspector = agent("quiet", QUIET)
    keep_nothing(inspector)
    inspector.run.send("Anything?", paused=True)
    driver.run_until(lambda: inspector.run.hold is not None)
    assert ask(inspector).text() == "1 session is not saved."
