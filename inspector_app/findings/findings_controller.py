"""Examines the selected session's database when the pane of findings is displayed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.analysis.finding import LEVELS, Finding
from inspector_app.documents.session_address import MEMORY, SessionAddress
from inspector_app.documents.sources import DatabaseSource
from inspector_app.engines.protocol import Agent
from inspector_app.findings.findings_pane import FindingsPane
from inspector_app.presentation.prices import Prices
from inspector_app.workspace.workspace import Workspace
from runtime.errors.known_error import KnownError
from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from inspector_app.analysis import doctor
else:
    doctor = lazy_module("inspector_app.analysis.doctor")

MOST_AT_ONCE = 50_000  # events examined without being asked; a larger database takes longer than a second or two
PROGRESS_MS = 200


class _Examination:
    """One examination on a worker thread.

    Attributes:
        seen: number of events read so far.

    Args:
        target: path or URL.
        name: the name in commands.
        only: the session, or None for the whole database.
        agent: the loaded agent, to find checkpoints of agents that it no longer has; None if there is none.
        prices: the prices of models.
    """

    def __init__(self, target: str, name: str, only: SessionKey | None, agent: Agent | None, prices: Prices) -> None:
        self.target, self.only = target, only
        self.agent = agent
        self.seen = 0
        self._prices = prices
        self._name = name
        self._database: StoredDatabase | None = None
        self._is_stopped = False

    def run(self) -> list[Finding]:
        """Return the findings. Runs on the thread.

        Raises:
            StorageError: the database cannot be read, or the examination was stopped.
        """
        with StoredDatabase.open(self.target) as database:
            self._database = database
            root, app = (self.agent.root, self.agent.name) if self.agent is not None else (None, None)
            found = doctor.examine(database, self._name, root=root, app=app, only=self.only, seen=self._note, prices=self._prices)
            return doctor.by_severity(list(found))

    def stop(self) -> None:
        """End it soon."""
        self._is_stopped = True
        if self._database is not None:
            self._database.stop()

    def _note(self, seen: int) -> None:
        self.seen = seen
        if self._is_stopped:
            raise StorageError("The examination was stopped.")


class FindingsController(QObject):
    """A controller that fills the pane of findings.

    Signals:
        counted(int): the number of errors and warnings.
        found(dict[str, list[Finding]]): the findings about events, by their ids.

    Args:
        work: the owners.
        pane: the pane to fill.
    """

    counted = Signal(int)
    found = Signal(object)

    def __init__(self, work: Workspace, pane: FindingsPane, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._pane = pane
        self._running: _Examination | None = None
        self._done: tuple[str, SessionKey | None] | None = None
        self._progress = QTimer(self, interval=PROGRESS_MS)
        self._progress.timeout.connect(self._on_progress)
        pane.wanted.connect(self._on_wanted)
        pane.again_requested.connect(self._on_again)
        pane.finding_chosen.connect(self._on_chosen)
        work.cursor.session_changed.connect(self._on_session_changed)
        work.databases.database_closed.connect(self._on_closed)
        work.agents.agent_loaded.connect(self._on_agent_loaded)

    def _on_session_changed(self, _session: SessionAddress | None) -> None:
        if self._pane.is_displayed:
            self._on_wanted()
        elif self._done is not None and not self._fits(self._done):
            self._forget()

    def _on_agent_loaded(self) -> None:
        """Examine again: checkpoints can be compared with this agent now."""
        self._stop()
        self._done = None
        if self._pane.is_displayed:
            self._on_wanted()

    def _on_wanted(self) -> None:
        wanted = self._scope()
        running = self._running
        if wanted is None:
            self._forget()
        elif not (self._done is not None and self._fits(self._done)) and not (running and self._fits((running.target, running.only))):
            self._examine(*wanted)

    def _on_again(self) -> None:
        address = self._work.cursor.session
        if address is not None and self._scope() is not None:
            self._examine(address.database, None)

    def _on_chosen(self, finding: Finding) -> None:
        if self._done is None or finding.key is None:
            return
        address = SessionAddress(self._done[0], finding.key)
        if finding.event_id is not None:
            self._work.cursor.request(address, finding.event_id)
        else:
            self._work.cursor.select_session(address)

    def _on_closed(self, target: str) -> None:
        if self._done is not None and self._done[0] == target:
            self._forget()
        if self._running is not None and self._running.target == target:
            self._stop()

    def _scope(self) -> tuple[str, SessionKey | None] | None:
        """Return what to examine: the database, and the selected session if examining all of them takes long."""
        address = self._work.cursor.session
        if address is None or address.database == MEMORY or address.database.startswith("attached:"):
            return None
        counts = [summary.event_count for summary in self._work.catalog.sessions(address.database)]
        is_large = any(count is None for count in counts) or sum(count or 0 for count in counts) > MOST_AT_ONCE
        return address.database, address.key if is_large else None

    def _fits(self, examined: tuple[str, SessionKey | None]) -> bool:
        """Return whether an examination covers the selected session."""
        address = self._work.cursor.session
        return address is not None and examined[0] == address.database and examined[1] in (None, address.key)

    def _examine(self, target: str, only: SessionKey | None) -> None:
        self._stop()
        self._done = None
        self._running = _Examination(target, target, only, self._work.agents.loaded, self._work.prices)
        self._pane.say("reading…", f"Examining {'the session' if only else 'all sessions'} of {target}.", can_examine=False)
        self._progress.start()
        self._work.tasks.spawn(self._run(self._running), f"Examining {target}", background=True)

    async def _run(self, examination: _Examination) -> None:
        source = self._work.databases.source(examination.target)
        try:
            if isinstance(source, DatabaseSource):
                await source.complete()
            findings = await run_in_thread(examination.run)
        except KnownError as error:
            if examination is self._running:
                self._end()
                self._pane.say("The database could not be examined", str(error))
            return
        finally:
            examination.stop()  # a cancelled task leaves its thread behind
        if examination is self._running:
            self._end()
            self._show(examination, findings)

    def _show(self, examination: _Examination, findings: list[Finding]) -> None:
        self._done = examination.target, examination.only
        counts = [(level, sum(finding.level == level for finding in findings)) for level in LEVELS]
        words = ", ".join(f"{count:,} {level}{'s' if count > 1 else ''}" for level, count in counts if count) or "No findings"
        source = self._work.databases.source(examination.target)
        name = "the unsaved sessions" if source is not None and source.is_unsaved else examination.target
        where = self._work.titles.title(SessionAddress(examination.target, examination.only)) if examination.only else name
        compared = f" Checkpoints of {examination.agent.name} were compared with its agents." if examination.agent is not None else ""
        title = f"{words} in {where}, as of {time.strftime('%H:%M:%S')}.{compared}"
        again = "Examine the whole database" if examination.only else "Examine again"
        self._pane.show_findings(title, again, findings, self._work.titles.of_database(examination.target))
        about: dict[str, list[Finding]] = {}
        for finding in findings:
            if finding.event_id is not None:
                about.setdefault(finding.event_id, []).append(finding)
        self.found.emit(about)
        self.counted.emit(sum(finding.level != "note" for finding in findings))

    def _on_progress(self) -> None:
        running = self._running
        if running is not None and running.seen:
            what = "the session" if running.only else "all sessions"
            self._pane.say("reading…", f"Examining {what} of {running.target}: {running.seen:,} events.", can_examine=False)

    def _forget(self) -> None:
        self._stop()
        self._done = None
        memory = self._work.cursor.session is not None and self._scope() is None
        hint = "Sessions in memory are examined once they are stored in a database." if memory else "Select a session of a database."
        self._pane.say("Nothing examined", hint, can_examine=False)
        self.found.emit({})
        self.counted.emit(0)

    def _stop(self) -> None:
        if self._running is not None:
            self._running.stop()
        self._end()

    def _end(self) -> None:
        self._running = None
        self._progress.stop()
