"""Exports a session as a capsule: shows what it would hold and what is replaced, then writes it."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector_app.capsules.capsule_dialog import CapsuleChoice, CapsuleDialog
from inspector_app.documents.event_notes import EventNotes
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import DatabaseSource, Source
from inspector_app.engines.protocol import Agent
from inspector_app.exchange.capsule import Capsule
from inspector_app.exchange.capsule_files import save_capsule, save_test
from inspector_app.exchange.exported_session import session_of_history, started_from
from inspector_app.presentation.values import counted, size
from inspector_app.widgets.file_dialogs import ask_where_to_write
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.workspace import Workspace
from runtime.errors import KnownError
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from inspector_app.exchange import capsule_check, capsule_session
else:
    capsule_check = lazy_module("inspector_app.exchange.capsule_check")
    capsule_session = lazy_module("inspector_app.exchange.capsule_session")


class CapsuleController(QObject):
    """A controller that asks what a capsule holds, and writes it off the GUI thread.

    Args:
        work: the owners.
        hint: shows where the capsule was written.
    """

    def __init__(self, work: Workspace, hint: HintBar) -> None:
        super().__init__(hint)
        self._work = work
        self._hint = hint
        self._dialog: CapsuleDialog | None = None
        self._wanted = (0, 0)

    def ask(self, target: str, key: SessionKey) -> None:
        """Show what a capsule of a session would hold.

        Args:
            target: its database.
            key: the session.
        """
        self._work.tasks.spawn(self._ask(SessionAddress(target, key)), "Reading the session for a capsule")

    def write(self, address: SessionAddress, choice: CapsuleChoice, out: str) -> None:
        """Write a capsule.

        Args:
            address: the session.
            choice: what the user chose.
            out: the file, which is replaced if it exists.
        """
        self._work.tasks.spawn(self._write(address, choice, out), f"Writing {Path(out).name}")

    def ask_for_selected(self) -> None:
        """Show what a capsule of the selected session would hold."""
        if self._work.cursor.session is None:
            self._work.messages.info("Select the session to export first.")
        else:
            self.ask(self._work.cursor.session.database, self._work.cursor.session.key)

    def _agent_of(self, key: SessionKey) -> Agent | None:
        loaded = self._work.agents.loaded
        return loaded if loaded is not None and loaded.name == key.app_name else None

    async def _ask(self, address: SessionAddress) -> None:
        source = self._work.databases.source(address.database)
        if source is None:
            return
        count = len((await source.history(address.key)).events)
        if not count:
            self._work.messages.info("The session has no events, so there is nothing for a capsule.")
            return
        agent = self._agent_of(address.key)
        known = f"With the description of {agent.name}, which is loaded." if agent is not None else ""
        described = known or "Without a description of the agent: it is not loaded."
        no_test = "" if agent is not None else f"Open {address.key.app_name}'s agent first: the test runs it."
        dialog = CapsuleDialog(f"Session {address.key.session_id}", count, described, no_test, self._hint.window())
        self._dialog = dialog
        dialog.slice_changed.connect(lambda first, last: self._show(address, first, last))
        dialog.write_requested.connect(lambda choice: self._on_write_requested(address, choice))
        dialog.finished.connect(self._on_dialog_finished)
        dialog.open()
        self._show(address, 0, count - 1)

    def _show(self, address: SessionAddress, first: int, last: int) -> None:
        self._wanted = first, last
        self._work.tasks.spawn(self._show_content(address, first, last), "Reading the session for a capsule")

    async def _show_content(self, address: SessionAddress, first: int, last: int) -> None:
        try:
            made = await self._made(address, CapsuleChoice(first, last, frozenset(), test=False))
        except KnownError as error:
            if self._dialog is not None and self._wanted == (first, last):
                self._dialog.say(str(error))
            return
        if self._dialog is None or self._wanted != (first, last):
            return
        parts = [counted(len(made.events), "event"), counted(len(made.requests), "recorded request"), counted(len(made.artifacts), "file")]
        holds = f"The capsule holds {', '.join(parts)}. It opens without the agent's code and without a key."
        self._dialog.show_content(holds, [(place, made.samples.get(place, "")) for place in made.about["replaced"]])

    async def _made(self, address: SessionAddress, choice: CapsuleChoice) -> Capsule:
        source, key = self._work.databases.source(address.database), address.key
        if source is None:
            raise KnownError("The session's database was closed.")
        agent = self._agent_of(key)
        description = dict(agent.described) if agent is not None else None
        if isinstance(source, DatabaseSource):
            return await run_in_thread(_of_database, source, key, description, choice)
        history = await source.history(key)
        session = session_of_history(history, key, await source.created(key), first=choice.first, last=choice.last, kept=choice.kept)
        session.started = started_from(session, history, choice.first, choice.last)
        return await capsule_session.capsule_with(session, "", [], source.files, description)

    def _on_write_requested(self, address: SessionAddress, choice: CapsuleChoice) -> None:
        name, formats = address.key.session_id, {"Capsules (*.capsule)": ".capsule"}
        ask_where_to_write(self._hint.window(), "Write the capsule", name, formats, lambda out: self.write(address, choice, out))

    async def _write(self, address: SessionAddress, choice: CapsuleChoice, out: str) -> None:
        self._hint.suggest(f"Writing {Path(out).name}", "", "file-export", "accent", closable=False)
        try:
            made = await self._made(address, choice)
            notes = await self._add_asked(made) if choice.test else ""
            await run_in_thread(save_capsule, made, out, replaces=True)
            test = await self._save_test(out) if choice.test else ""
            written = await run_in_thread(lambda: Path(out).stat().st_size)
        except BaseException:
            self._hint.hide()
            raise
        kept = f" {counted(len(choice.kept), 'place')} kept what looks like a secret." if choice.kept else ""
        count = len(made.about["replaced"])
        secrets = f" {counted(count, 'place')} replaced.{kept}" if count else kept or " Nothing in it looked like a secret."
        text = f"{out} was written: {counted(len(made.events), 'event')}, {size(written)}.{secrets}{test}{notes}"
        self._hint.suggest(text, "", "file-export", "accent")

    async def _add_asked(self, made: Capsule) -> str:
        """Add what the agent's models would be asked, for the test; return what has changed since the recording as a sentence."""
        path = self._work.agents.path
        made.about["asked"], divergences = await run_in_thread(lambda: capsule_check.replay(path, made, run_tools=False))
        return f" The agent no longer does what was recorded: {divergences[0]}" if divergences else ""

    async def _save_test(self, out: str) -> str:
        place = Path(out).with_name(f"test_{Path(out).stem.replace('-', '_').replace(' ', '_')}.py")
        await run_in_thread(save_test, str(place), out, self._work.agents.path)
        self._hint.suggest(f"Running {place.name} once", "", "file-export", "accent", closable=False)
        failure = await run_in_thread(capsule_check.try_check, out, self._work.agents.path)
        return f" {place.name} beside it is a test for pytest. {capsule_check.trial_sentence(failure)}"

    def _on_dialog_finished(self) -> None:
        self._dialog = None


def _of_database(source: Source, key: SessionKey, agent: dict[str, object] | None, choice: CapsuleChoice) -> Capsule:
    """Return a capsule of a stored session. Runs on a thread."""
    with closing(StoredDatabase.open(source.target)) as database:
        notes = EventNotes(source.target).of(database, key)
        made = capsule_session.capsule_of(
            database, source.target, key, source.files, agent, notes, first=choice.first, last=choice.last, kept=choice.kept
        )
        return asyncio.run(made)
