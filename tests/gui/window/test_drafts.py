"""A message runs in the session under which it was written, or is not sent."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.documents.session_address import SessionAddress
from inspector_app.workspace.new_sessions import NewSessions
from runtime.storage.writing.deletion import delete_sessions
from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder
from tests.interop.google_adk import adk_python
from tests.sweep import count

ECHO = """
from google.adk.agents import BaseAgent
from google.adk.events import Event


class Echo(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield Event(author=self.name, invocation_id=ctx.invocation_id)


root_agent = Echo(name="echo")
"""


@pytest.fixture
def edit(inspector: Inspector) -> QPlainTextEdit:
    return inspector.window.findChild(QPlainTextEdit, "composer_edit")


@pytest.fixture
def echo(agent: Callable[[str, str], Inspector]) -> Inspector:
    """Return the window with an agent that answers at once."""
    return agent("echo", ECHO)


class Gate:
    """Holds the creation of sessions up, as a slow service does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._waiting: list[asyncio.Event] = []
        self.is_slow = True
        create = NewSessions.create

        async def slow(sessions: NewSessions, *args: Any, **options: Any) -> SessionAddress:
            if self.is_slow:
                self._waiting.append(asyncio.Event())
                await self._waiting[-1].wait()
            return await create(sessions, *args, **options)

        monkeypatch.setattr(NewSessions, "create", slow)

    def release(self) -> None:
        """Hold up no creation from now on."""
        self.is_slow = False
        self.open()

    def open(self) -> None:
        """Let the creations begun so far end."""
        while self._waiting:
            self._waiting.pop().set()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)


def messages(inspector: Inspector) -> dict[str, list[str]]:
    """Return session id → the user's messages that are stored there."""
    found: dict[str, list[str]] = {}

    async def read() -> None:
        for source in inspector.databases.sources:
            for summary in await source.sessions():
                events = await source.events(summary.key)
                users = [event for event in events if event.author == "user" and event.content and event.content.parts]
                found[summary.key.session_id] = [event.content.parts[0].text or "" for event in users]  # type: ignore[union-attr,index]

    inspector.tasks.spawn(read(), "Reading the messages")
    return found


def all_messages(inspector: Inspector, driver: WindowDriver) -> dict[str, list[str]]:
    found = messages(inspector)
    driver.run_until_idle()
    return found


def test_a_message_written_right_after_new_session_never_runs_in_the_session_before(
    echo: Inspector, driver: WindowDriver, edit: QPlainTextEdit, gate: Gate, qtbot: QtBot
) -> None:
    gate.is_slow = False
    before = driver.run_message("first")
    gate.is_slow = True
    edit.setPlainText("for the first")
    echo.window.commands.new_session.trigger()
    assert edit.toPlainText() == "", "that draft belongs to the first session"
    qtbot.keyClicks(edit, "second")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert "The new session is being created" in driver.log_text()
    assert echo.run.phase == "idle" and edit.toPlainText() == "second"
    gate.release()
    driver.run_until(lambda: echo.cursor.session != before and echo.current.session is not None)
    driver.run_until_idle()
    assert edit.toPlainText() == "second"
    with qtbot.waitSignal(echo.run.run_ended, timeout=10_000):
        qtbot.keyClick(edit, Qt.Key.Key_Return)
    driver.run_until_idle()
    after = echo.cursor.session
    assert after is not None and edit.toPlainText() == ""
    assert all_messages(echo, driver) == {before.key.session_id: ["first"], after.key.session_id: ["second"]}
    echo.cursor.select_session(before)
    driver.run_until_idle()
    assert edit.toPlainText() == "for the first"
    edit.clear()


def test_selecting_another_session_keeps_each_draft(echo: Inspector, driver: WindowDriver, edit: QPlainTextEdit) -> None:
    first = driver.run_message("one")
    echo.window.commands.new_session.trigger()
    driver.run_until_idle()
    second = echo.cursor.session
    edit.setPlainText("for the second\nin two lines ")
    echo.cursor.select_session(first)
    assert edit.toPlainText() == ""
    edit.setPlainText("for the first")
    echo.cursor.select_session(second)
    assert edit.toPlainText() == "for the second\nin two lines "
    echo.cursor.select_session(None)
    assert edit.toPlainText() == ""
    echo.cursor.select_session(first)
    assert edit.toPlainText() == "for the first"
    edit.clear()
    echo.cursor.select_session(second)
    edit.clear()


def write_for_a_new_one(inspector: Inspector, driver: WindowDriver, edit: QPlainTextEdit, gate: Gate) -> SessionAddress:
    """Run a message, and write one for a new session, whose creation is held up; return the first one's session."""
    gate.is_slow = False
    before = driver.run_message("first")
    gate.is_slow = True
    inspector.cursor.select_session(None)
    driver.run_until_idle()
    edit.setPlainText("for a new one")
    return before


def test_a_message_in_flight_stays_with_its_new_session_when_another_one_is_selected(
    echo: Inspector, driver: WindowDriver, edit: QPlainTextEdit, gate: Gate, qtbot: QtBot
) -> None:
    before = write_for_a_new_one(echo, driver, edit, gate)
    with qtbot.waitSignal(echo.run.run_ended, timeout=10_000) as ended:
        qtbot.keyClick(edit, Qt.Key.Key_Return)
        echo.cursor.select_session(before)
        edit.setPlainText("for the first")
        gate.release()
    driver.run_until_idle()
    assert echo.cursor.session == before, "the user had left"
    assert edit.toPlainText() == "for the first"
    made = ended.args[0].address
    assert all_messages(echo, driver) == {before.key.session_id: ["first"], made.key.session_id: ["for a new one"]}
    echo.cursor.select_session(made)
    assert edit.toPlainText() == ""
    echo.cursor.select_session(before)
    edit.clear()


def test_what_is_written_for_another_new_session_stays_when_the_one_in_flight_was_created(
    echo: Inspector, driver: WindowDriver, edit: QPlainTextEdit, gate: Gate, qtbot: QtBot
) -> None:
    before = write_for_a_new_one(echo, driver, edit, gate)
    echo.run.session_created.connect(lambda _: edit.insertPlainText("for the next one"))
    with qtbot.waitSignal(echo.run.run_ended, timeout=10_000) as ended:
        qtbot.keyClick(edit, Qt.Key.Key_Return)
        echo.cursor.select_session(before)
        echo.cursor.select_session(None)
        edit.clear()
        gate.release()
    driver.run_until_idle()
    assert echo.cursor.session is None and edit.toPlainText() == "for the next one"
    echo.cursor.select_session(ended.args[0].address)
    driver.run_until_idle()
    assert edit.toPlainText() == ""
    echo.cursor.select_session(None)
    edit.clear()


def test_a_session_that_cannot_be_created_keeps_what_was_written_for_it(
    echo: Inspector, driver: WindowDriver, edit: QPlainTextEdit, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.is_slow = False
    before = driver.run_message("first")

    async def fail(*_: Any, **__: Any) -> SessionAddress:
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(NewSessions, "create", fail)
        edit.setPlainText("for the first")
        echo.window.commands.new_session.trigger()
        edit.setPlainText("for a new one")
        driver.run_until_idle()
    assert echo.cursor.session == before and edit.toPlainText() == "for the first"
    echo.window.commands.new_session.trigger()
    driver.run_until_idle()
    assert edit.toPlainText() == "for a new one"
    edit.clear()


def test_a_draft_is_not_cleared_by_another_run(echo: Inspector, driver: WindowDriver, edit: QPlainTextEdit, qtbot: QtBot) -> None:
    driver.run_message("first")
    edit.setPlainText("later")
    with qtbot.waitSignal(echo.run.run_ended, timeout=10_000):
        echo.run.send("now")
    driver.run_until_idle()
    assert edit.toPlainText() == "later"
    edit.clear()


def test_what_is_written_while_a_message_is_being_sent_stays(
    echo: Inspector, driver: WindowDriver, edit: QPlainTextEdit, gate: Gate, qtbot: QtBot
) -> None:
    edit.setPlainText("first")
    with qtbot.waitSignal(echo.run.run_ended, timeout=10_000) as ended:
        qtbot.keyClick(edit, Qt.Key.Key_Return)
        edit.moveCursor(edit.textCursor().MoveOperation.End)
        qtbot.keyClicks(edit, " and more")
        gate.release()
    driver.run_until_idle()
    assert edit.toPlainText() == "and more"
    assert all_messages(echo, driver) == {ended.args[0].address.key.session_id: ["first"]}
    edit.clear()


def test_a_draft_goes_with_a_session_that_is_saved(echo: Inspector, driver: WindowDriver, edit: QPlainTextEdit, tmp_path: Path) -> None:
    driver.run_message("first")
    edit.setPlainText("next")
    echo.tasks.spawn(echo.work.unsaved.save_as(tmp_path / "mine.db"), "Saving")
    driver.run_until_idle()
    assert echo.cursor.session is not None and echo.cursor.session.database == str(tmp_path / "mine.db")
    assert edit.toPlainText() == "next"
    edit.clear()


def test_sessions_selected_one_right_after_the_other_end_with_the_last(echo: Inspector, driver: WindowDriver) -> None:
    first = driver.run_message("one")
    echo.window.commands.new_session.trigger()
    driver.run_until_idle()
    second = driver.run_message("two")
    for _ in range(3):
        echo.cursor.select_session(first)
        echo.cursor.select_session(second)
    driver.run_until_idle()
    assert echo.cursor.session == second and echo.current.session is not None and echo.current.session.address == second


class User:
    """A user who does things in any order, and writes into each message where it was written.

    Attributes:
        created: ids of the sessions that messages without a session were for, in order.
    """

    def __init__(self, seed: int, inspector: Inspector, driver: WindowDriver, edit: QPlainTextEdit, gate: Gate, qtbot: QtBot) -> None:
        self.chance = random.Random(seed)
        self.inspector, self.driver, self.edit, self.gate, self.qtbot = inspector, driver, edit, gate, qtbot
        self.created: list[str] = []
        self.typed = 0
        self._asked_for_new = False
        inspector.run.session_created.connect(lambda address: self.created.append(address.key.session_id))
        inspector.cursor.session_changed.connect(self._on_session_changed)

    def _on_session_changed(self) -> None:
        self._asked_for_new = False

    @property
    def sessions(self) -> list[SessionAddress]:
        catalog, sources = self.inspector.catalog, self.inspector.databases.sources
        return [SessionAddress(source.target, each.key) for source in sources for each in catalog.sessions(source.target)]

    def step(self) -> None:
        actions: list[Callable[[], None]] = [self.type] * 4 + [self.send] * 4 + [self.ask_for_new] * 2 + [self.select] * 3
        actions += [self.gate.open] * 2 + [self.delete, self.reload, self.wait]
        self.chance.choice(actions)()
        for _ in range(self.chance.randrange(6)):
            QApplication.processEvents()

    def type(self) -> None:
        selected = self.inspector.cursor.session
        place = f"new{len(self.created)}" if self._asked_for_new or selected is None else selected.key.session_id
        self.typed += 1
        self.qtbot.keyClicks(self.edit, f"t{self.typed}@{place} ")

    def send(self) -> None:
        self.qtbot.keyClick(self.edit, Qt.Key.Key_Return)

    def ask_for_new(self) -> None:
        command = self.inspector.window.commands.new_session
        if command.isEnabled():
            self._asked_for_new = True
            command.trigger()

    def select(self) -> None:
        self.inspector.cursor.select_session(self.chance.choice([*self.sessions, None]))

    def delete(self) -> None:
        run = self.inspector.run
        idle = [address for address in self.sessions if run.phase == "idle" or address != run.address]
        if len(idle) > 2:
            self.inspector.tasks.spawn(self._delete(self.chance.choice(idle)), "Deleting")

    async def _delete(self, address: SessionAddress) -> None:
        source = self.inspector.databases.source(address.database)
        assert source is not None
        if self.inspector.cursor.session == address:
            self.inspector.cursor.select_session(None)
        await delete_sessions(await source.service(), [address.key], lambda _: None)
        await self.inspector.databases.relist(source)

    def reload(self) -> None:
        if self.inspector.run.phase == "idle":
            self.inspector.tasks.spawn(self.inspector.agents.load_again(), "Loading again")

    def wait(self) -> None:
        self.gate.open()
        self.qtbot.waitUntil(lambda: self.inspector.run.phase == "idle" or bool(self.gate._waiting), timeout=20_000)


def check(user: User, inspector: Inspector, driver: WindowDriver) -> None:
    """Check that each part of each message was written in the session that has it, and is nowhere else."""
    seen: set[str] = set()
    for session_id, texts in all_messages(inspector, driver).items():
        for number, place in re.findall(r"t(\d+)@(\S+)", " ".join(texts)):
            assert number not in seen, f"t{number} was sent twice"
            seen.add(number)
            if place.startswith("new"):
                assert session_id in user.created[int(place[3:]) :], f"t{number} was written for another session"
            else:
                assert place == session_id, f"t{number} was written for another session"


def wander(user: User, inspector: Inspector, driver: WindowDriver, steps: int) -> None:
    for _ in range(steps):
        user.step()
    user.gate.release()
    driver.run_until_idle()
    check(user, inspector, driver)
    for address in [*user.sessions, None]:
        inspector.cursor.select_session(address)
        user.edit.clear()
    driver.run_until_idle()


@pytest.mark.sweep
@pytest.mark.logs("was deleted", "does not exist", "not found")
@pytest.mark.parametrize("seed", range(count(4, 400)))
def test_in_any_order_of_actions_a_message_runs_where_it_was_written(
    seed: int, echo: Inspector, driver: WindowDriver, edit: QPlainTextEdit, gate: Gate, qtbot: QtBot
) -> None:
    wander(User(seed, echo, driver, edit, gate, qtbot), echo, driver, 60)


@pytest.mark.sweep
@pytest.mark.logs("was deleted", "does not exist", "not found")
@pytest.mark.parametrize("seed", range(count(1, 60)))
def test_in_any_order_of_actions_a_message_runs_where_it_was_written_by_google_adk(
    seed: int,
    inspector: Inspector,
    driver: WindowDriver,
    edit: QPlainTextEdit,
    gate: Gate,
    qtbot: QtBot,
    tmp_path: Path,
    opened: Callable[..., None],
) -> None:
    folder = tmp_path / "echo"
    folder.mkdir()
    (folder / "agent.py").write_text(ECHO)
    inspector.settings.keep_engine(folder, {"kind": "adk", "python": adk_python()})
    trust_folder(inspector, folder)
    opened(folder)
    wander(User(seed, inspector, driver, edit, gate, qtbot), inspector, driver, 40)
