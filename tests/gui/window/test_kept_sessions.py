"""Sessions that are in no database of the user's survive the window's process, and are offered by the next start."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.documents.session_address import MEMORY, SessionAddress
from inspector_app.documents.sources import Source
from inspector_app.shell.settings_dialog import SettingsDialog
from inspector_app.support.kept_folder import KeptFolder
from inspector_app.support.settings import Settings
from inspector_app.workspace import unsaved_sessions
from runtime.sessions.note import Note
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.recordings.recording import recording_beside
from tests.end2end.processes import ROOT
from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder
from tests.interop.google_adk import adk_python
from tests.sweep import count

WINDOW = Path(__file__).with_name("unsaved_window.py")
SECRET = "kestrel-in-temp"

COUNTER = f"""
import asyncio
from google.adk.agents import BaseAgent
from google.adk.events import Event, EventActions


class Counter(BaseAgent):
    async def _run_async_impl(self, ctx):
        first = ctx.session.state.get("count", 0)
        for number in range(first + 1, first + 201):
            delta = {{"count": number, "user:count": number, "temp:secret": "{SECRET}"}}
            yield Event(author=self.name, invocation_id=ctx.invocation_id, actions=EventActions(state_delta=delta))
            await asyncio.sleep(0.003)


root_agent = Counter(name="counter")
"""

SHORT = COUNTER.replace("201", "4")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return the settings that a window in another process has, too."""
    return Settings(tmp_path / "agent-inspector")


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    """Return the folder of an agent that counts."""
    folder = tmp_path / "counter"
    folder.mkdir()
    (folder / "agent.py").write_text(COUNTER)
    return folder


class OtherWindow:
    """A window in another process. It is killed at the end of the test at the latest."""

    def __init__(self, agent: Path, engine: str, data: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(data / "config"), "XDG_DATA_HOME": str(data)}
        command = [sys.executable, str(WINDOW), str(agent), engine, adk_python() if engine == "adk" else ""]
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.told: list[str] = []

    def read_until(self, word: str, times: int = 1) -> None:
        """Read what it prints until a line has begun with `word` this often."""
        assert self.process.stdout is not None
        while sum(line.startswith(word) for line in self.told) < times:
            line = self.process.stdout.readline()
            assert line, self.process.communicate()[1]
            self.told.append(line.strip())

    def kill(self) -> list[str]:
        """Kill it, and return the ids of the events that it had shown."""
        self.process.kill()
        self.told += self.process.communicate()[0].splitlines()
        return [line.partition(" ")[2] for line in self.told if line.startswith("event ")]


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Callable[[Path, str], OtherWindow]]:
    """Return a function that opens an agent in the window of another process, on an engine."""
    windows: list[OtherWindow] = []

    def start(agent: Path, engine: str = "embedded") -> OtherWindow:
        windows.append(OtherWindow(agent, engine, tmp_path))
        return windows[-1]

    yield start
    for window in windows:
        window.kill()


def list_left(inspector: Inspector, driver: WindowDriver) -> list[Source]:
    """List what earlier windows left, as a start does."""
    inspector.tasks.spawn(inspector.list_left(), "Listing")
    driver.run_until_idle()
    return [source for source in inspector.databases.sources if source.is_left]


def select_only(inspector: Inspector, driver: WindowDriver, source: Source) -> SessionAddress:
    (summary,) = inspector.catalog.sessions(source.target)
    address = SessionAddress(source.target, summary.key)
    inspector.cursor.select_session(address)
    driver.run_until_idle()
    return address


def save_as(inspector: Inspector, driver: WindowDriver, file: Path) -> None:
    """Save with the command and its dialog."""
    inspector.window.commands.save_as.trigger()
    (dialog,) = inspector.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(file))
    dialog.close()
    dialog.deleteLater()
    driver.run_until_idle()


def contents(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def check_counted(driver: WindowDriver, shown: list[str]) -> None:
    """Check that the displayed session has what the killed window had shown, and that its state is that at its last event."""
    ids = driver.stream.ids()
    assert ids[: len(shown)] == shown
    numbers = [event.actions.state_delta["count"] for event in driver.stream.events() if "count" in event.actions.state_delta]
    assert numbers == list(range(1, len(numbers) + 1))
    driver.stream.select(len(ids) - 1)
    driver.run_until_idle()
    values = {key: text.rpartition(" ")[2] for key, text in driver.state.values().items()}
    assert (values.get("count"), values.get("user:count")) == ((str(len(numbers)),) * 2 if numbers else (None, None))


@pytest.mark.parametrize("engine", ["embedded", "embedded-process", "adk"])
def test_what_a_killed_window_had_committed_is_listed_continued_and_saved(
    engine: str,
    counter: Path,
    other: Callable[[Path, str], OtherWindow],
    inspector: Inspector,
    driver: WindowDriver,
    opened: Callable[..., None],
    tmp_path: Path,
) -> None:
    window = other(counter, engine)
    window.read_until("event", 12)
    assert list_left(inspector, driver) == [], "it lives"
    shown = window.kill()
    (source,) = list_left(inspector, driver)
    tiles = inspector.window.parts.welcome.findChildren(QWidget, "recent_item")
    assert f"Open {source.title}" in [tile.accessibleName() for tile in tiles]
    assert f"Earlier windows left 1 session unsaved: see {source.title} in the session list." in driver.log_text()
    select_only(inspector, driver, source)
    check_counted(driver, shown)
    assert not source.repeatable and inspector.work.unsaved.count() == 0, "it is not deleted with this window"

    (counter / "agent.py").write_text(SHORT)
    if engine != "embedded":
        inspector.settings.keep_engine(counter, {"kind": engine, "python": adk_python() if engine == "adk" else None})
    trust_folder(inspector, counter)
    opened(counter)
    before = len(driver.stream.ids())
    driver.run_message("again")
    check_counted(driver, shown)
    assert len(driver.stream.ids()) == before + 4

    file = tmp_path / "saved.db"
    save_as(inspector, driver, file)
    assert inspector.cursor.session is not None and inspector.cursor.session.database == str(file)
    check_counted(driver, shown)
    assert not any(each.is_unsaved for each in inspector.databases.sources)
    assert not Path(source.target).exists()
    driver.run_message("once more")
    check_counted(driver, shown)
    assert SECRET.encode() not in contents(tmp_path / "agent-inspector") + file.read_bytes()


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(count(2, 60)))
def test_a_window_killed_at_any_moment_loses_nothing_that_it_had_shown(
    seed: int, counter: Path, other: Callable[[Path, str], OtherWindow], inspector: Inspector, driver: WindowDriver
) -> None:
    chance = random.Random(seed)
    window = other(counter, ("embedded", "embedded-process", "adk")[seed % 3])
    window.read_until("sending")
    time.sleep(chance.uniform(0, 1.5))  # the moment is what is tried
    shown = window.kill()
    left = list_left(inspector, driver)
    assert left or not shown
    for source in left:
        select_only(inspector, driver, source)
        check_counted(driver, shown)


def test_a_second_window_lists_nothing_of_a_living_one(
    settings: Settings, counter: Path, other: Callable[[Path, str], OtherWindow], inspector: Inspector, driver: WindowDriver
) -> None:
    first, second = other(counter, "embedded"), other(counter, "embedded")
    for window in (first, second):
        window.read_until("event", 2)
    assert len(list((settings.folder / "unsaved").glob("*/sessions-1.db"))) == 2
    second.kill()
    assert len(list_left(inspector, driver)) == 1
    assert list_left(inspector, driver)[0].is_left
    first.kill()
    assert len(list_left(inspector, driver)) == 2


@pytest.fixture
def short(agent: Callable[[str, str], Inspector]) -> Inspector:
    """Return the window with an agent that counts to three."""
    return agent("short", SHORT)


def test_sessions_are_in_files_that_only_the_user_can_read_without_temp(short: Inspector, driver: WindowDriver) -> None:
    folder = short.settings.folder
    assert not (folder / "unsaved").exists(), "only a session makes it"
    driver.run_message("go")
    (kept,) = (folder / "unsaved").glob("2*")
    entries = [kept.parent, kept, *kept.rglob("*")]
    modes = (
        {stat.S_IMODE(entry.stat().st_mode) for entry in entries if entry.is_dir()},
        {stat.S_IMODE(entry.stat().st_mode) for entry in entries if entry.name.startswith("sessions-")},
    )
    assert modes == ({0o700}, {0o600})
    assert SECRET.encode() not in contents(folder)
    assert b"counter" in contents(folder) or b"short" in contents(folder)


@pytest.mark.logs("in memory only")
def test_sessions_are_in_memory_where_the_folder_cannot_be_written(short: Inspector, driver: WindowDriver) -> None:
    (short.settings.folder / "unsaved").write_text("in the way")
    assert driver.run_message("go").database == MEMORY
    assert driver.log_text().count("New sessions of this window are in memory only.") == 1
    short.window.commands.new_session.trigger()
    driver.run_until_idle()
    assert driver.run_message("go").database == MEMORY
    assert driver.log_text().count("New sessions of this window are in memory only.") == 1


@pytest.mark.logs("in memory only")
def test_new_sessions_are_in_memory_once_the_file_can_no_longer_be_written(short: Inspector, driver: WindowDriver) -> None:
    first = driver.run_message("go")
    with closing(sqlite3.connect(first.database)) as other:
        other.execute("DROP TABLE sessions")
    short.window.commands.new_session.trigger()
    driver.run_until_idle()
    assert short.cursor.session is not None and short.cursor.session.database == MEMORY
    assert driver.log_text().count("New sessions of this window are in memory only.") == 1
    assert driver.run_message("go").database == MEMORY


def test_do_not_keep_counts_from_the_next_session_on(short: Inspector, driver: WindowDriver) -> None:
    first = driver.run_message("go")
    short.window.commands.settings.trigger()
    dialog = short.window.findChild(SettingsDialog)
    days = dialog.findChild(QComboBox, "settings_unsaved_days")
    assert days.currentText() == "Keep for 30 days"
    days.setCurrentText("Do not keep")
    days.activated.emit(days.currentIndex())
    assert not dialog.findChild(QComboBox, "settings_unsaved_megabytes").isEnabled()
    dialog.close()
    short.window.commands.new_session.trigger()
    driver.run_until_idle()
    assert driver.run_message("kept nowhere").database == MEMORY
    assert b"kept nowhere" not in contents(short.settings.folder)
    short.cursor.select_session(first)
    driver.run_until_idle()
    assert driver.run_message("more").database == first.database
    assert short.work.unsaved.count() == 2
    short.settings.unsaved_days = 7
    short.window.commands.new_session.trigger()
    driver.run_until_idle()
    assert short.cursor.session is not None and short.cursor.session.database == first.database


def test_saving_continues_the_session_with_its_notes_requests_and_files(orders: Inspector, driver: WindowDriver, tmp_path: Path) -> None:
    driver.run_message("2 desk lamps")
    orders.window.commands.toggle_bookmark.trigger()
    driver.run_until_idle()
    ids = driver.stream.ids()
    before = orders.databases.unsaved[0]
    assert before.recording is not None and before.recording.is_file()
    file = tmp_path / "mine.db"
    save_as(orders, driver, file)
    assert orders.cursor.session is not None and orders.cursor.session.database == str(file)
    assert driver.stream.ids() == ids
    assert recording_beside(file).is_file()
    assert str(file) in orders.settings.recent
    assert not orders.window.commands.save_as.isEnabled()
    with StoredDatabase.open(str(file)) as stored:
        (notes,) = stored.notes().values()
    assert [note.is_bookmark for note in notes.values()] == [True]
    orders.window.commands.new_session.trigger()
    driver.run_until_idle()
    assert orders.cursor.session.database == str(file)
    orders.cursor.select_session(None)
    orders.tasks.spawn(orders.databases.close_database(str(file)), "Closing")
    driver.run_until_idle()
    assert driver.run_message("a lamp").database != before.target


@pytest.mark.parametrize("place", ["existing", "kept file", "link to it", "recording", "no folder", "a file as folder"])
def test_saving_replaces_nothing(place: str, short: Inspector, driver: WindowDriver, tmp_path: Path) -> None:
    address = driver.run_message("go")
    ids, kept = driver.stream.ids(), Path(address.database)
    (tmp_path / "existing.db").write_text("mine")
    (tmp_path / "some.rec.db").write_text("mine")
    (tmp_path / "link.db").symlink_to(kept)
    places = {
        "existing": tmp_path / "existing.db",
        "kept file": kept,
        "link to it": tmp_path / "link.db",
        "recording": tmp_path / "some.db",
        "no folder": tmp_path / "nowhere" / "x.db",
        "a file as folder": tmp_path / "existing.db" / "x.db",
    }
    save_as(short, driver, places[place])
    assert any(words in driver.log_text() for words in ("already exists", "cannot be written"))
    assert short.cursor.session == address and driver.stream.ids() == ids
    assert (tmp_path / "existing.db").read_text() == "mine"
    save_as(short, driver, tmp_path / "good.db")
    assert driver.stream.ids() == ids and short.cursor.session.database == str(tmp_path / "good.db")


def test_saving_during_a_run_stores_what_is_committed(short: Inspector, driver: WindowDriver, tmp_path: Path, qtbot: QtBot) -> None:
    short.run.send("go", paused=True)
    driver.run_until_held()
    address, ids = short.cursor.session, driver.stream.ids()
    short.window.commands.save_as.trigger()
    (dialog,) = short.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "early.db"))
    dialog.close()
    driver.run_until(lambda: "stays unsaved" in driver.log_text())
    assert short.cursor.session == address and short.run.phase == "paused"
    with StoredDatabase.open(str(tmp_path / "early.db")) as stored:
        assert [event.id for event in stored.events(address.key)] == ids
    with qtbot.waitSignal(short.run.run_ended, timeout=10_000):
        short.window.commands.run.trigger()
    driver.run_until_idle()
    assert short.work.unsaved.count() == 1


def test_a_file_deleted_under_the_window_is_reported_when_it_is_saved(short: Inspector, driver: WindowDriver, tmp_path: Path) -> None:
    address = driver.run_message("go")
    shutil.rmtree(Path(address.database).parent)
    save_as(short, driver, tmp_path / "late.db")
    assert "sessions-1.db" in driver.log_text()
    assert not (tmp_path / "late.db").exists() and short.window.isVisible()


def close(inspector: Inspector, qtbot: QtBot, leave: Callable[[], None]) -> None:
    with qtbot.waitSignal(inspector.closed, timeout=20_000):
        leave()


@pytest.fixture
def window(running: object, qapp: object, settings: Settings, counter: Path, qtbot: QtBot) -> Inspector:
    """Return a window that the test closes, with an agent that counts to three."""
    from inspector_app.workspace.messages import MessageBus

    (counter / "agent.py").write_text(SHORT)
    inspector = Inspector(qapp, settings, MessageBus(), trust=True)  # type: ignore[arg-type]
    inspector.show((1280, 800))
    inspector.tasks.spawn(inspector.open([str(counter)]), "Opening")
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
    return inspector


def test_a_deleted_session_leaves_nothing_when_the_window_is_closed(window: Inspector, settings: Settings, qtbot: QtBot) -> None:
    address = WindowDriver(window, qtbot).run_message("a very private matter")
    assert b"private matter" in contents(settings.folder)
    source = window.databases.source(address.database)
    assert source is not None

    async def delete() -> None:
        key, service = address.key, await source.service()
        await service.delete_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        await window.databases.relist(source)

    window.tasks.spawn(delete(), "Deleting")
    qtbot.waitUntil(lambda: not window.tasks.running)
    close(window, qtbot, window.window.commands.quit.trigger)
    assert list((settings.folder / "unsaved").glob("2*")) == []
    assert b"private matter" not in contents(settings.folder)


@pytest.mark.parametrize("how", ["signal", "person"])
def test_a_window_that_is_closed_leaves_its_sessions(window: Inspector, settings: Settings, qtbot: QtBot, how: str) -> None:
    WindowDriver(window, qtbot).run_message("go")
    close(window, qtbot, window.close if how == "signal" else window.window.commands.quit.trigger)
    (file,) = (settings.folder / "unsaved").glob("2*/sessions-1.db")
    assert [path.name for path in file.parent.glob("sessions-1.db*")] == ["sessions-1.db"], "one file, without a log"
    assert file.stat().st_size > 0


def test_a_window_without_a_persons_work_leaves_nothing(window: Inspector, settings: Settings, qtbot: QtBot) -> None:
    window.window.commands.new_session.trigger()
    qtbot.waitUntil(lambda: window.cursor.session is not None and not window.tasks.running)
    close(window, qtbot, window.close)
    assert list((settings.folder / "unsaved").glob("2*")) == []


def test_what_earlier_windows_left_is_left_again(window: Inspector, settings: Settings, story_db: Path, qtbot: QtBot) -> None:
    folder = KeptFolder.make(settings.folder / "unsaved")
    file = folder.path / "sessions-1.db"
    shutil.copy(story_db, file)
    folder.release()
    driver = WindowDriver(window, qtbot)
    (source,) = list_left(window, driver)
    select_only(window, driver, source)
    window.window.commands.quit.trigger()
    qtbot.waitUntil(lambda: not window.tasks.running, timeout=20_000)
    assert file.exists()


def test_the_newest_of_many_windows_are_listed(
    inspector: Inspector, driver: WindowDriver, settings: Settings, story_db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsaved_sessions, "MOST_OPENED", 2)
    files = []
    for age in (4, 3, 2, 1):
        folder = KeptFolder.make(settings.folder / "unsaved")
        files.append(folder.path / "sessions-1.db")
        shutil.copy(story_db, files[-1])
        written = time.time() - age * 60
        os.utime(files[-1], (written, written))
        folder.release()
    assert {source.target for source in list_left(inspector, driver)} == {str(file) for file in files[2:]}
    assert f"2 older databases are not listed: they are in {settings.folder / 'unsaved'}." in driver.log_text()
    assert all(file.exists() for file in files)


def test_a_new_session_is_never_created_among_those_of_an_earlier_window(
    short: Inspector, driver: WindowDriver, settings: Settings, story_db: Path
) -> None:
    folder = KeptFolder.make(settings.folder / "unsaved")
    shutil.copy(story_db, folder.path / "sessions-1.db")
    folder.release()
    (source,) = list_left(short, driver)
    assert driver.run_message("go").database != source.target
    select_only(short, driver, source)
    short.window.commands.new_session.trigger()
    driver.run_until_idle()
    assert short.cursor.session is not None and short.cursor.session.database == short.databases.unsaved[0].target


def test_a_fork_of_an_unsaved_session_is_unsaved_too(short: Inspector, driver: WindowDriver) -> None:
    before = driver.run_message("go")
    driver.fork.ask(1)
    driver.fork.choose("fork")
    fork = driver.fork.wait(before)
    assert fork.database == before.database
    assert short.work.unsaved.count() == 2


def test_a_damaged_file_is_reported_and_stays(inspector: Inspector, driver: WindowDriver, settings: Settings) -> None:
    folder = KeptFolder.make(settings.folder / "unsaved")
    file = folder.path / "sessions-1.db"
    file.write_bytes(b"SQLite format 3\0" + bytes(5_000))
    folder.release()
    assert list_left(inspector, driver) == []
    assert "Unsaved sessions of an earlier window cannot be read." in driver.log_text()
    assert file.exists()


def test_notes_on_an_unsaved_session_survive(
    counter: Path, other: Callable[[Path, str], OtherWindow], inspector: Inspector, driver: WindowDriver
) -> None:
    window = other(counter, "adk")
    window.read_until("event", 3)
    window.kill()
    (source,) = list_left(inspector, driver)
    address = select_only(inspector, driver, source)
    event_id = driver.stream.ids()[0]
    inspector.tasks.spawn(source.set_note(address.key, event_id, Note("Ask Ana.", False, 1.0)), "Noting")
    driver.run_until_idle()
    with StoredDatabase.open(source.target) as stored:
        assert [note.text for notes in stored.notes().values() for note in notes.values()] == ["Ask Ana."]
    assert list(Path(source.target).parent.glob("*backup*")) == []


WALLET = """
from google.adk.agents import BaseAgent
from google.adk.events import Event, EventActions


class Wallet(BaseAgent):
    async def _run_async_impl(self, ctx):
        name = ctx.user_content.parts[0].text
        for value in ("EUR", "CHF"):
            delta = {name: value, f"user:{name}": value}
            yield Event(author=self.name, invocation_id=ctx.invocation_id, actions=EventActions(state_delta=delta))


root_agent = Wallet(name="wallet")
"""


@pytest.fixture
def wallet(inspector: Inspector, tmp_path: Path) -> Path:
    """An agent on google-adk."""
    folder = tmp_path / "wallet"
    folder.mkdir()
    (folder / "agent.py").write_text(WALLET)
    inspector.settings.keep_engine(folder, {"kind": "adk", "python": adk_python()})
    trust_folder(inspector, folder)
    return folder


def test_a_creation_that_cannot_be_recorded_is_reported(
    inspector: Inspector, opened: Callable[..., None], driver: WindowDriver, wallet: Path
) -> None:
    opened(wallet)
    first = driver.run_message("currency")
    assert "could not be recorded" not in driver.log_text()
    with closing(sqlite3.connect(first.database)) as connection, connection:
        connection.execute("CREATE TRIGGER no_more BEFORE INSERT ON inspector_commits BEGIN SELECT RAISE(ABORT, 'no more records'); END")
    inspector.window.commands.new_session.trigger()
    driver.run_until_idle()
    second = inspector.cursor.session
    assert second is not None and (second.database, second.key != first.key) == (first.database, True)
    assert f"What session {second.key.session_id} was created with could not be recorded: " in driver.log_text()
    assert "no more records" in driver.log_text()


def test_first_writes_of_a_session_that_began_here_are_known_also_after_saving(
    inspector: Inspector, opened: Callable[..., None], driver: WindowDriver, tmp_path: Path, wallet: Path
) -> None:
    opened(wallet)

    def check(*names: str) -> None:
        session = inspector.cursor.session
        assert session is not None
        with StoredDatabase.open(session.database) as stored:
            history = stored.history(session.key)
            assert [list(history.state_at(index).unknown) for index in range(-1, len(history))] == [[]] * (len(history) + 1)
            for name in names:
                writes = stored.writes(session.key, name)
                assert [(write.known, write.is_new, write.before, write.after) for write in writes] == [
                    (True, True, None, "EUR"),
                    (True, False, "EUR", "CHF"),
                ]

    driver.run_message("currency")
    check("currency")
    driver.run_message("other")
    check("currency", "other")
    save_as(inspector, driver, tmp_path / "saved.db")
    check("currency", "other")
    driver.run_message("later")
    check("currency", "other", "later")
    inspector.window.commands.new_session.trigger()
    driver.run_until_idle()
    driver.run_message("second")
    check("second")
