"""Forks: a new session from the past of the one on show; plain, with its message edited, or run again from what was recorded."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject

from inspector_app.branches.fork_text import EDIT, FORK, OVERRIDE, RERUN, Saved, fork_choices, fork_facts, fork_info, saved_by
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import SessionDocument
from inspector_app.documents.session_files import files_of
from inspector_app.documents.sources import MemorySource, Source
from inspector_app.engines.embedded import EmbeddedEngine
from inspector_app.presentation.event_summary import text_of
from inspector_app.presentation.result_override import changed_in, overridable_text, overridden_content
from inspector_app.presentation.values import visible
from inspector_app.shell.parts import Parts
from inspector_app.shell.window_status import WindowStatus
from inspector_app.support.data_folder import data_folder
from inspector_app.workspace.current_run import RunEnd
from runtime.errors.known_error import KnownError
from runtime.events.event import Event
from runtime.forks.fork import Cut, Files, fork_into, fork_session
from runtime.forks.recording import Recording, overridable_part, recording_until
from runtime.forks.rerun import Rerun
from runtime.sessions.lineage import Changed
from runtime.sessions.session import SessionKey
from runtime.support.worker_threads import run_in_thread


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the card is about: an event of a session, and its run up to there if it can be made again."""

    session: SessionDocument
    index: int
    event: Event
    recording: Recording | None


class ForkController(QObject):
    """Makes forks and shows where they come from.

    Attributes:
        is_drafting: the composer holds the message of a fork that is made when it is sent.

    Args:
        parts: of the window.
        status: says in the window what is being drafted.
    """

    def __init__(self, parts: Parts, status: WindowStatus, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bench = parts.window.workbench
        self._sessions = parts.sessions
        self._status = status
        self._messages = parts.messages
        self._tasks = parts.tasks
        self._cursor = parts.cursor
        self._agents = parts.agents
        self._browse = parts.browse
        self._run = parts.run
        self._asked: _Asked | None = None
        self._draft: _Asked | None = None
        self._overriding: _Asked | None = None
        self._rerun: Rerun | None = None
        parts.window.commands.fork.triggered.connect(self._on_fork)
        self._bench.stream.fork_asked.connect(self.ask)
        self._bench.fork_card.chosen.connect(self._on_chosen)
        self._bench.fork_card.cancelled.connect(self._on_cancelled)
        self._bench.override_card.submitted.connect(self._on_override)
        self._bench.override_card.cancelled.connect(self._on_cancelled)
        self._bench.fork_hint.accepted.connect(self._on_draft_cancelled)
        self._cursor.session_changed.connect(self._on_session_changed)
        self._browse.database_listed.connect(self._on_listed)
        self._run.run_ended.connect(self._on_run_ended)

    @property
    def is_drafting(self) -> bool:
        """Whether the next message makes a fork first."""
        return self._draft is not None

    def ask(self, index: int) -> None:
        """Show what forking at an event will do; nothing is made before a choice.

        Args:
            index: its place in the session on show.
        """
        session = self._browse.session
        event = session.events.cached(index) if session is not None and 0 <= index < len(session.events) else None
        if session is not None and event is not None:
            self._tasks.spawn(self._ask(session, index, event), "Looking at what forking will do")

    def send(self, text: str, *, paused: bool = False) -> None:
        """Make the fork whose message was edited, and send it there."""
        draft, self._draft, self._status.forking = self._draft, None, False
        if draft is not None and draft.recording is not None:
            self._tasks.spawn(self._fork_and_send(draft.session, draft.recording, text, paused), "Forking")

    async def _ask(self, session: SessionDocument, index: int, event: Event) -> None:
        events = session.events.in_memory if session.long is None else await session.source.events(session.address.key)
        recording, no_rerun = None, None
        try:
            recording = await run_in_thread(recording_until, list(events), event.id)
        except KnownError as error:
            no_rerun = str(error)
        if self._browse.session is not session:
            return
        loaded = self._agents.loaded
        root = loaded.app.root_agent if loaded is not None and loaded.name == session.address.key.app_name else None
        saved = saved_by(recording, root) if recording is not None else None
        blocked = self._run.blocked("fork")
        part = (
            overridable_part(event) if recording is not None and recording.last.id == event.id else None
        )  # what is by hand is not repeated
        self._asked = _Asked(session, index, event, recording)
        self._bench.resume_hint.hide()  # one offer at a time
        self._bench.fork_card.show_decision(
            f"Fork at event {index + 1:,}?",
            fork_facts(index, events, self._where(session.source), saved, recording.notes if recording is not None else []),
            fork_choices(saved, part, no_rerun or blocked, no_rerun or blocked),
            icon="code-branch",
        )

    def _where(self, source: Source) -> str:
        if source.writing_allowed:
            return f"The fork is made in {source.title}."
        return f"{source.title} is read only: the fork is made in {_forks_file(source).name}, beside it."

    def _on_fork(self) -> None:
        index = self._cursor.event_index
        if index is not None:
            self.ask(index)

    def _on_cancelled(self) -> None:
        self._status.show_session_hints()
        self._bench.stream.table.setFocus()

    def _on_chosen(self, choice: str) -> None:
        asked, self._asked = self._asked, None
        if asked is None:
            return
        if choice == FORK:
            self._tasks.spawn(self.fork(asked.session, Cut(at=asked.event.id)), "Forking")
        elif choice == EDIT:
            self._begin_draft(asked)
        elif choice == RERUN and asked.recording is not None:
            self._tasks.spawn(self._fork_and_rerun(asked, asked.recording), "Forking")
        elif choice == OVERRIDE:
            self._ask_for_another(asked)

    async def fork(self, session: SessionDocument, cut: Cut) -> None:
        """Make a fork and show it.

        Args:
            session: of which.
            cut: where.

        Raises:
            KnownError: it cannot be made; the text says why.
        """
        source, key = session.source, session.address.key
        if source.writing_allowed:
            history = await source.history(key)
            service, created, files = await source.service(), await source.created(key), Files(source.files)
            made = await fork_into(service, history, key, created, cut, same_place=True, database=None, files=files)
            target = source.target
        else:
            target = str(_forks_file(source))
            made = await fork_session(source.target, key, cut, into=target, files=Files(source.files, files_of(target)))
        if isinstance(source, MemorySource):
            await self._browse.memory(key.app_name)
        else:
            await self._browse.open_database(target)
        for note in made.notes:
            self._messages.info(note)
        self._cursor.select_session(SessionAddress(target, made.key))
        await self._browse.wait_until_loaded()

    # the message edited

    def _begin_draft(self, asked: _Asked) -> None:
        assert asked.recording is not None
        self._draft, self._status.forking = asked, True
        self._bench.composer.set_text(text_of(asked.recording.messages[0]))
        self._bench.composer.focus()
        name = asked.session.address.key.session_id
        self._bench.fork_hint.suggest(
            visible(f"Edit the message and send it: it begins a fork of {name}."), "Cancel", "code-branch", "accent"
        )
        self._status.show_run()

    def _on_draft_cancelled(self) -> None:
        self._draft, self._status.forking = None, False
        self._bench.fork_hint.hide()
        self._bench.composer.clear()
        self._status.show_run()

    async def _fork_and_send(self, session: SessionDocument, recording: Recording, text: str, paused: bool) -> None:
        first = recording.messages[0]
        await self.fork(session, Cut(before=first.id, changed=Changed("message", first.id, text_of(first), text)))
        self._run.send(text, paused=paused)

    # the run made again

    def _ask_for_another(self, asked: _Asked) -> None:
        """Let the answer or result at the event be written anew."""
        recording, event = asked.recording, asked.event
        assert recording is not None
        self._overriding = asked

        def read(text: str) -> Recording:
            try:
                return recording.with_override(overridden_content(event, text))
            except KnownError as error:
                raise ValueError(str(error)) from None

        what = f"{event.author}'s answer" if overridable_part(event) == "answer" else f"the result of {_tools(event)}"
        self._bench.override_card.ask(
            f"What if {what} at event {asked.index + 1:,} had been another one?",
            "Write it here. A fork is made in which the run is made again: answered from the recording up to here, with this in its place,"
            " and live from then on.",
            overridable_text(event),
            read,
        )

    def _on_override(self, text: str) -> None:
        asked, self._overriding = self._overriding, None
        if asked is not None and asked.recording is not None:
            changed = asked.recording.with_override(overridden_content(asked.event, text))
            self._tasks.spawn(self._fork_and_rerun(asked, changed), "Forking")

    async def _fork_and_rerun(self, asked: _Asked, recording: Recording) -> None:
        changed = changed_in([asked.event], recording)
        await self.fork(asked.session, Cut(before=recording.first_event_id, changed=changed, files_at=asked.event.id))

        def begin(engine: EmbeddedEngine, key: SessionKey) -> AsyncGenerator[Event, None]:
            self._rerun = engine.rerun(key, recording)
            return self._rerun.events()

        self._run.start(begin)

    def _on_run_ended(self, _end: RunEnd) -> None:
        if self._asked is not None and self._bench.fork_card.title:
            self.ask(self._asked.index)  # what could not be done while it ran can be now
        rerun, self._rerun = self._rerun, None
        if rerun is None:
            return
        replay = rerun.replay
        saved = Saved(replay.model_calls, replay.tool_calls)
        self._messages.info(f"Run again: {saved} came from the recording and were not made again.")
        for sentence in replay.divergences:
            self._messages.warning(sentence)

    # what happened

    def _on_session_changed(self, _address: SessionAddress | None) -> None:
        recording = self._draft.recording if self._draft is not None else None
        if recording is not None and self._bench.composer.text == text_of(recording.messages[0]).strip():
            self._bench.composer.clear()  # nobody edited it
        self._asked = self._draft = self._overriding = None
        self._status.forking = False
        self._bench.fork_card.hide()
        self._bench.override_card.hide()
        self._bench.fork_hint.hide()

    def _on_listed(self, source: Source, _sessions: object) -> None:
        self._tasks.spawn(self._show_forks(source), "Reading where forks come from")

    async def _show_forks(self, source: Source) -> None:
        lineages = await source.lineages()
        self._sessions.set_forks(source.target, {key: fork_info(lineage) for key, lineage in lineages.items()})


def _tools(event: Event) -> str:
    return ", ".join(response.name or "a tool" for response in event.get_function_responses())


def _forks_file(source: Source) -> Path:
    """Return where forks of a database that is only read are made: beside it, or in our own folder where nothing can be written there."""
    file = Path(source.target) if source.can_copy else data_folder() / f"{source.title}.db"
    folder = file.parent if os.access(file.parent, os.W_OK) else data_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{file.stem}-forks.db"
