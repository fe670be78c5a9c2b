"""Runs a recorded session again with its recorded answers, under the debugger, and says where it no longer matches."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector_app.capsules.replay_dialog import ReplayDialog
from inspector_app.documents.session_address import SessionAddress
from inspector_app.engines.protocol import Engine
from inspector_app.presentation.values import counted
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.current_run import RunEnd
from inspector_app.workspace.workspace import Workspace
from runtime.forks.session_replay import SessionReplay, recordings_of
from runtime.sessions.session_key import SessionKey
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event


@dataclass(frozen=True, slots=True)
class _Replay:
    """What is replayed, and how: see `SessionReplay` and `Rerun`."""

    original: SessionAddress
    runs_tools: bool = False
    goes_on: bool = False
    paused: bool = False


class ReplayController(QObject):
    """A controller that asks how to replay, and reports the end below the events.

    Signals:
        compare_requested(SessionAddress, SessionAddress): the recorded session and its replay are to be compared.

    Args:
        work: the owners.
        hint: shows how the replay went.
    """

    compare_requested = Signal(object, object)

    def __init__(self, work: Workspace, hint: HintBar) -> None:
        super().__init__(hint)
        self._work = work
        self._hint = hint
        self._replay: _Replay | None = None
        self._session: SessionReplay | None = None
        self._made: SessionAddress | None = None
        work.run.run_ended.connect(self._on_run_ended)
        work.run.run_started.connect(self._on_run_started)
        work.cursor.session_changed.connect(self._on_session_changed)
        hint.accepted.connect(self._on_compare)
        hint.other_accepted.connect(self._on_continue)

    def ask(self, target: str, key: SessionKey) -> None:
        """Ask how a session is replayed.

        Args:
            target: its database.
            key: the session.
        """
        if reason := self._why_not(key):
            self._work.messages.info(reason)
            return
        loaded = self._work.agents.loaded
        assert loaded is not None
        wanted = _Replay(SessionAddress(target, key))
        facts = [
            f"{loaded.name} runs again in a new session, on {loaded.engine_title}. Its models are not asked: recorded answers are given,"
            " so it needs no key and costs nothing.",
            "The replay ends at the first call that no longer matches the recording, and says which one that is.",
        ]
        dialog = ReplayDialog(f"Replay “{self._work.titles.title(wanted.original)}”", facts, self._hint.window())
        dialog.replay_requested.connect(
            lambda paused: self.start(
                replace(wanted, runs_tools=dialog.runs_tools.isChecked(), goes_on=dialog.goes_on.isChecked(), paused=paused)
            )
        )
        dialog.open()

    def start(self, wanted: _Replay) -> None:
        """Replay a session in a new one."""
        self._work.tasks.spawn(self._start(wanted), "Replaying the session")

    def _why_not(self, key: SessionKey) -> str:
        loaded = self._work.agents.loaded
        if reason := self._work.runs.why_not():
            return reason
        assert loaded is not None
        if loaded.name != key.app_name:
            return f"The loaded agent is {loaded.name}; this session belongs to {key.app_name}. Open {key.app_name}'s agent first."
        return loaded.why_not("rerun") or ""

    def ask_for_selected(self) -> None:
        """Ask how the selected session is replayed."""
        if self._work.cursor.session is None:
            self._work.messages.info("Select the session to replay first.")
        else:
            self.ask(self._work.cursor.session.database, self._work.cursor.session.key)

    async def _start(self, wanted: _Replay) -> None:
        source = self._work.databases.source(wanted.original.database)
        if source is None:
            return
        history = await source.history(wanted.original.key)
        recordings = await run_in_thread(recordings_of, list(history.events))
        if reason := self._why_not(wanted.original.key):  # something else may have begun meanwhile
            self._work.messages.info(reason)
            return
        self._made = await self._work.run.create_session(dict(history.baseline or {}), wanted.original.key.user_id)
        self._replay = wanted

        def begin(engine: Engine, key: SessionKey) -> AsyncGenerator[Event, None]:
            options = {"runs_tools": wanted.runs_tools, "strict": not wanted.goes_on}
            self._session = SessionReplay(recordings, lambda one: engine.rerun(key, one, **options), goes_on=wanted.goes_on)
            return self._session.events()

        self._work.run.start(begin, paused=wanted.paused, address=self._made)

    def _on_run_started(self, address: SessionAddress | None) -> None:
        self._hint.hide()

    def _on_session_changed(self, address: SessionAddress | None) -> None:
        if address != self._made:
            self._hint.hide()

    def _on_run_ended(self, end: RunEnd) -> None:
        session, self._session = self._session, None
        if session is None or end.address != self._made:
            return
        if end.stopped or end.error is not None:
            self._hint.hide()
            return
        answers = [
            words
            for count, words in ((session.model_calls, "model answer"), (session.tool_calls, "tool result"))
            if count
            for words in [counted(count, words)]
        ]
        given = f" {' and '.join(answers)} came from the recording." if answers else ""
        if not session.divergences:
            self._hint.suggest(f"It went as recorded.{given}", "Compare", "circle-check", "ok")
            return
        why = session.divergences[0].what
        can_continue = self._replay is not None and not self._replay.goes_on
        ended = "The replay ended there." if can_continue else "From there on it was live."
        self._hint.suggest(
            f"No longer as recorded at model call {session.model_calls + 1}: {why}. {ended}{given}",
            "Compare",
            "not-equal",
            "warn",
            other="Continue with the real model" if can_continue else "",
        )

    def _on_compare(self) -> None:
        if self._replay is not None and self._made is not None:
            self.compare_requested.emit(self._replay.original, self._made)

    def _on_continue(self) -> None:
        if self._replay is not None:
            self._hint.hide()
            self.start(replace(self._replay, goes_on=True, paused=False))
