"""Full-text search over all sessions of a database: indexes new events, then queries the index."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.event_notes import EventNotes
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import DatabaseSource
from inspector_app.presentation.values import clock, day
from inspector_app.sessions.search_dialog import FoundEvent, SearchDialog
from inspector_app.sessions.sessions_pane import SessionsPane
from inspector_app.support.data_folder import cache_folder
from inspector_app.support.worker import Worker
from inspector_app.workspace.workspace import Workspace
from runtime.errors.known_error import KnownError
from runtime.storage.reading.search_index import Hit, SearchIndex, remove_stale

MOST_HITS = 500  # listed events, the newest ones


class SearchController(QObject):
    """A controller that opens one search dialog at a time, for the database of the selected session.

    Attributes:
        folder: the folder of the indexes; None means the user's cache folder.

    Signals:
        read(int, int): the number of indexed events, and of all events; emitted from the worker thread.
        hit_opened: the user chose an event of the result.

    Args:
        work: the owners.
        pane: the session list, whose window owns the dialog.
    """

    read = Signal(int, int)
    hit_opened = Signal()

    def __init__(self, work: Workspace, pane: SessionsPane) -> None:
        super().__init__(pane)
        self._cursor = work.cursor
        self._databases = work.databases
        self._tasks = work.tasks
        self._titles = work.titles
        self._messages = work.messages
        self._pane = pane
        self.folder: Path | None = None
        self._dialog: SearchDialog | None = None
        self._worker: Worker | None = None
        self._index: SearchIndex | None = None
        self._target = ""
        self._cancelled = False
        self._hits: list[Hit] = []
        self._databases.database_closed.connect(self._on_database_closed)
        self.read.connect(self._on_read)

    def close(self) -> None:
        """Close the index."""
        self._cancelled = True
        if self._worker is not None:
            self._worker.close(self._index.close if self._index is not None else None)
        self._worker = self._index = self._dialog = None

    def _on_database_closed(self, target: str) -> None:
        if self._dialog is not None and target == self._target:
            self._dialog.close()

    def ask(self) -> None:
        """Open the search in all sessions of the selected one's database."""
        if self._dialog is not None:
            self._dialog.raise_()
            self._dialog.words.setFocus()
            return
        sources = [source for source in self._databases.sources if isinstance(source, DatabaseSource)]
        selected = self._cursor.session
        source = next((source for source in sources if selected is not None and source.target == selected.database), None)
        source = source or next(iter(sources), None)
        if source is None:
            self._messages.info("Open a database first to search its sessions.")
            return
        self._target, self._cancelled, self._hits = source.target, False, []
        dialog = self._dialog = SearchDialog(source.title, self._pane.window())
        dialog.asked.connect(self._on_requested)
        dialog.cancelled.connect(self._on_cancelled)
        dialog.chosen.connect(self._on_chosen)
        dialog.ended.connect(self.close)
        dialog.show()
        self._worker = Worker(f"search of {source.target}")
        self._tasks.spawn(self._search(""), f"Reading {source.title} for the search")

    def _on_requested(self, words: str) -> None:
        self._cancelled = False
        self._tasks.spawn(self._search(words), "Searching")

    def _on_cancelled(self) -> None:
        self._cancelled = True

    async def _search(self, words: str) -> None:
        worker, dialog = self._worker, self._dialog
        if worker is None or dialog is None:
            return
        source = self._databases.source(self._target)
        try:
            if isinstance(source, DatabaseSource):
                await source.complete()
            hits = await worker.call(self._work, words)
        except KnownError as error:
            hits = []
            if self._dialog is dialog:
                dialog.say(str(error))
                dialog.show_progress(0, 0)
            return
        if self._dialog is not dialog:
            return
        dialog.show_progress(0, 0)
        self._hits = hits
        dialog.show_hits([_found(hit, self._titles.title(SessionAddress(self._target, hit.key))) for hit in hits])
        dialog.say(self._words(words, len(hits)))

    def _words(self, words: str, count: int) -> str:
        part = ""
        if self._cancelled:
            part = " Only part of the database was read. Press Enter to continue."
        elif self._index is not None and self._index.is_full:
            part = " The database is too large for the index: its newest events are missing."
        if not words.strip():
            return f"Type words, then press Enter.{part}"
        found = f"The newest {count:,} events." if count == MOST_HITS else f"{count:,} events." if count != 1 else "1 event."
        return (f"{found} Click one to go to it, or press Down and Enter." if count else "No event contains all of these words.") + part

    def _work(self, words: str) -> list[Hit]:
        """Update and query the index. Runs on the worker thread."""
        folder = self.folder or cache_folder(self._target) / "search"
        if self._index is None:
            remove_stale(folder)
            self._index = SearchIndex(self._target, folder)
        self._index.update(self._progress)
        return self._index.search(words, MOST_HITS, EventNotes(self._target).read)

    def _progress(self, done: int, of: int) -> bool:
        if not self._cancelled:
            self.read.emit(done, of)
        return not self._cancelled

    def _on_read(self, done: int, of: int) -> None:
        if self._dialog is not None:
            self._dialog.show_progress(done, of)

    def _on_chosen(self, row: int) -> None:
        if 0 <= row < len(self._hits):
            hit = self._hits[row]
            self._cursor.request(SessionAddress(self._target, hit.key), hit.event_id)
            self.hit_opened.emit()


def _found(hit: Hit, title: str) -> FoundEvent:
    time = f"{day(hit.timestamp)} {clock(hit.timestamp)}" if hit.timestamp else ""
    return FoundEvent((title, hit.key.user_id, hit.author, time), hit.excerpt, hit.start, hit.end, hit.key.session_id)
