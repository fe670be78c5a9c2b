"""Forks of the displayed session: unchanged, with an edited message, or re-run from the recording."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector_app.branches.fork_text import EDIT, FORK, OVERRIDE, RERUN, Saved, fork_choices, fork_facts, fork_info, saved_by
from inspector_app.branches.override_card import OverrideCard
from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_files import files_of
from inspector_app.documents.sources import MemorySource, Source
from inspector_app.engines.protocol import Engine
from inspector_app.presentation.event_summary import text_of
from inspector_app.presentation.result_override import changed_in, overridable_text, overridden_content
from inspector_app.presentation.values import visible
from inspector_app.support.data_folder import data_folder
from inspector_app.widgets.decision_card import DecisionCard
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.current_run import RunEnd
from inspector_app.workspace.workspace import Workspace
from runtime.debugger.stepping import Goal
from runtime.errors.known_error import KnownError
from runtime.events.plain_event import whole_event
from runtime.forks.fork import Cut, Files, fork_into, fork_session
from runtime.forks.recording import Recording, overridable_part, recording_until
from runtime.forks.session_replay import Repeat
from runtime.sessions.lineage import Changed
from runtime.sessions.session_key import SessionKey
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the card asks about: an event of a session, and its recording up to there if it can be re-run."""

    session: OpenSession
    index: int
    event: Event
    recording: Recording | None


class ForkController(QObject):
    """A controller that creates forks of the displayed session.

    Attributes:
        is_drafting: whether the next message begins a fork.

    Signals:
        asked: the card was shown; other offers should be hidden.
        cancelled: the card was closed without a choice.
        draft_begun(str): the user is to edit and send this message, which begins the fork.
        draft_cancelled: the user cancelled the draft.
        draft_dropped(str): another session was selected; the message is obsolete unless it was edited.
        drafting_changed: `is_drafting` changed.

    Args:
        work: the owners.
        card: asks what to do.
        override_card: edits an answer or result.
        hint: shows that the next message begins a fork.
    """

    asked = Signal()
    cancelled = Signal()
    draft_begun = Signal(str)
    draft_cancelled = Signal()
    draft_dropped = Signal(str)
    drafting_changed = Signal()

    def __init__(self, work: Workspace, card: DecisionCard, override_card: OverrideCard, hint: HintBar) -> None:
        super().__init__(card)
        self._work = work
        self._card = card
        self._override_card = override_card
        self._hint = hint
        self._asked: _Asked | None = None
        self._draft: _Asked | None = None
        self._overriding: _Asked | None = None
        self._rerun: Repeat | None = None
        self._connect_signals()

    def _connect_signals(self) -> None:
        self._card.chosen.connect(self._on_chosen)
        self._card.cancelled.connect(self.cancelled)
        self._override_card.submitted.connect(self._on_override)
        self._override_card.cancelled.connect(self.cancelled)
        self._hint.accepted.connect(self._on_draft_cancelled)
        self._work.cursor.session_changed.connect(self._on_session_changed)
        self._work.databases.database_listed.connect(self._on_listed)
        self._work.run.run_ended.connect(self._on_run_ended)

    @property
    def is_drafting(self) -> bool:
        """Whether the next message begins a fork."""
        return self._draft is not None

    def _set_draft(self, draft: _Asked | None) -> None:
        self._draft = draft
        self.drafting_changed.emit()

    def ask(self, index: int) -> None:
        """Show what forking at an event will do, and ask what to do.

        Args:
            index: the event's place in the displayed session.
        """
        session = self._work.current.session
        event = session.events.cached(index) if session is not None and 0 <= index < len(session.events) else None
        if session is not None and session.source.read_only_because:
            self._work.messages.info(session.source.read_only_because)
        elif session is not None and event is not None:
            self._work.tasks.spawn(self._ask(session, index, event), "Planning a fork")

    def take_message(self, text: str, paused: bool | Goal) -> bool:
        """Fork and send a message there, if a fork is being drafted.

        Args:
            text: the message.
            paused: hold the agent at its first event, or where this goal is reached.

        Returns:
            Whether the message was taken.
        """
        draft = self._draft
        if draft is None or draft.recording is None:
            return False
        self._set_draft(None)
        self._work.tasks.spawn(self._fork_and_send(draft.session, draft.recording, text, paused), "Forking")
        return True

    async def _ask(self, session: OpenSession, index: int, event: Event) -> None:
        events = session.events.in_memory if session.pages is None else await session.source.events(session.address.key)
        recording, no_rerun = None, None
        try:
            recording = await run_in_thread(lambda: recording_until([*map(whole_event, events)], event.id))
        except KnownError as error:
            no_rerun = str(error)
        if self._work.current.session is not session:
            return
        loaded = self._work.agents.loaded
        root = loaded.root if loaded is not None and loaded.name == session.address.key.app_name else None
        saved = saved_by(recording, root) if recording is not None else None
        blocked = self._work.run.blocked("fork")
        cannot_rerun = loaded.why_not("rerun") if loaded is not None else None
        # A re-run does not repeat events that the user committed.
        part = overridable_part(event) if recording is not None and recording.last.id == event.id else None
        self._asked = _Asked(session, index, event, recording)
        self.asked.emit()
        self._card.show_decision(
            f"Fork at event {index + 1:,}?",
            fork_facts(index, events, self._where(session.source), saved, recording.notes if recording is not None else []),
            fork_choices(saved, part, no_rerun or blocked, no_rerun or blocked or cannot_rerun),
            icon="code-branch",
        )

    def _where(self, source: Source) -> str:
        if source.writing_allowed:
            return f"The fork is created in {source.title}."
        return f"{source.title} is read-only, so the fork is created in {_forks_file(source).name}."

    def ask_at_selected(self) -> None:
        """Ask how to fork at the selected event."""
        index = self._work.cursor.event_index
        if index is not None:
            self.ask(index)

    def _on_chosen(self, choice: str) -> None:
        asked, self._asked = self._asked, None
        if asked is None:
            return
        if choice == FORK:
            self._work.tasks.spawn(self.fork(asked.session, Cut(at=asked.event.id)), "Forking")
        elif choice == EDIT:
            self._begin_draft(asked)
        elif choice == RERUN and asked.recording is not None:
            self._work.tasks.spawn(self._fork_and_rerun(asked, asked.recording), "Forking")
        elif choice == OVERRIDE:
            self._ask_for_override(asked)

    async def fork(self, session: OpenSession, cut: Cut) -> SessionAddress:
        """Fork a session and select the fork.

        Args:
            session: the session to fork.
            cut: where the fork ends.

        Returns:
            The fork.

        Raises:
            KnownError: it cannot be forked; the text says why.
        """
        source, key = session.source, session.address.key
        if source.writing_allowed:
            history = await source.history(key)
            service, created, files = await source.service(), await source.created(key), Files(source.files)
            ends = await service.recorded_ends(key)
            made = await fork_into(
                service, history, key, created, cut, same_place=True, database=None, files=files, ends=ends, notes=await source.notes(key)
            )
            target = source.target
        else:
            target = str(_forks_file(source))
            both = Files(source.files, files_of(target))
            made = await fork_session(source.target, key, cut, into=target, files=both, notes=await source.notes(key))
        if isinstance(source, MemorySource):
            await self._work.databases.memory(key.app_name)
        else:
            await self._work.databases.open_database(target)
        for note in made.notes:
            self._work.messages.info(note)
        address = SessionAddress(target, made.key)
        self._work.cursor.select_session(address)
        await self._work.current.wait_until_loaded()
        return address

    # the message edited

    def _begin_draft(self, asked: _Asked) -> None:
        assert asked.recording is not None
        self.draft_begun.emit(text_of(asked.recording.messages[0]))
        name = asked.session.address.key.session_id
        self._hint.suggest(
            visible(f"Edit and send the message. It begins a fork of {name}."), "Cancel", "code-branch", "accent", closable=False
        )
        self._set_draft(asked)

    def _on_draft_cancelled(self) -> None:
        self._hint.hide()
        self.draft_cancelled.emit()
        self._set_draft(None)

    async def _fork_and_send(self, session: OpenSession, recording: Recording, text: str, paused: bool | Goal) -> None:
        first = recording.messages[0]
        made = await self.fork(session, Cut(before=first.id, changed=Changed("message", first.id, text_of(first), text)))
        self._work.run.send(text, paused=paused, to=made)

    # re-running

    def _ask_for_override(self, asked: _Asked) -> None:
        """Ask for a replacement of the event's answer or result."""
        recording, event = asked.recording, asked.event
        assert recording is not None
        self._overriding = asked

        def read(text: str) -> Recording:
            try:
                return recording.with_override(overridden_content(event, text))
            except KnownError as error:
                raise ValueError(str(error)) from None

        what = f"{event.author}'s answer" if overridable_part(event) == "answer" else f"the result of {_tools(event)}"
        self._override_card.ask(
            f"Replace {what} at event {asked.index + 1:,}",
            "The run is repeated in a fork: it is answered from the recording up to this event, gets your replacement here,"
            " and continues live.",
            overridable_text(event),
            read,
        )

    def _on_override(self, text: str) -> None:
        asked, self._overriding = self._overriding, None
        if asked is not None and asked.recording is not None:
            changed = asked.recording.with_override(overridden_content(asked.event, text))
            self._work.tasks.spawn(self._fork_and_rerun(asked, changed), "Forking")

    async def _fork_and_rerun(self, asked: _Asked, recording: Recording) -> None:
        changed = changed_in([asked.event], recording)
        made = await self.fork(asked.session, Cut(before=recording.first_event_id, changed=changed, files_at=asked.event.id))

        def begin(engine: Engine, key: SessionKey) -> AsyncGenerator[Event, None]:
            self._rerun = engine.rerun(key, recording)
            return self._rerun.events()

        self._work.run.start(begin, address=made)

    def _on_run_ended(self, _end: RunEnd) -> None:
        if self._asked is not None and self._card.title:
            self.ask(self._asked.index)  # more choices are possible now
        rerun, self._rerun = self._rerun, None
        if rerun is None:
            return
        replay = rerun.answers
        saved = Saved(replay.model_calls, replay.tool_calls)
        self._work.messages.info(f"Re-run finished: {saved} were answered from the recording.")
        for each in replay.divergences:
            self._work.messages.warning(str(each))

    # what happened

    def _on_session_changed(self, _address: SessionAddress | None) -> None:
        recording = self._draft.recording if self._draft is not None else None
        if recording is not None:
            self.draft_dropped.emit(text_of(recording.messages[0]))
        self._asked = self._overriding = None
        self._card.hide()
        self._override_card.hide()
        self._hint.hide()
        self._set_draft(None)

    def _on_listed(self, source: Source, _sessions: object) -> None:
        self._work.tasks.spawn(self._show_forks(source), "Reading where forks come from")

    async def _show_forks(self, source: Source) -> None:
        lineages = await source.lineages()
        self._work.catalog.set_forks(source.target, {key: fork_info(lineage) for key, lineage in lineages.items()})


def _tools(event: Event) -> str:
    return ", ".join(response.name or "a tool" for response in event.get_function_responses())


def _forks_file(source: Source) -> Path:
    """Return the file for forks of a read-only database: next to it, or in the data folder if its folder is not writable."""
    file = Path(source.target) if source.can_copy else data_folder() / f"{source.title}.db"
    folder = file.parent if os.access(file.parent, os.W_OK) else data_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{file.stem}-forks.db"
