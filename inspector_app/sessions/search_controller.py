"""Full-text search over all sessions of a database: reads what is new into the index, then asks it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Qt, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import DatabaseSource
from inspector_app.presentation.values import clock, day
from inspector_app.sessions.search_dialog import FoundEvent, SearchDialog
from inspector_app.shell.parts import Parts
from inspector_app.stream.stream_controller import StreamController
from inspector_app.support.worker import Worker
from runtime.errors.known_error import KnownError
from runtime.storage.reading.search_index import Hit, SearchIndex, remove_stale

MOST_HITS = 500


class SearchController(QObject):
    """One search window at a time, on the database of the session on show.

    Signals:
        read(int, int): how much of the database is in the index, from its thread.

    Args:
        parts: of the window.
        stream: goes to an event that was found.
        folder: for indexes; the user's cache if None.
    """

    read = Signal(int, int)

    def __init__(self, parts: Parts, stream: StreamController, parent: QObject | None = None, folder: Path | None = None) -> None:
        super().__init__(parent)
        self._window = parts.window
        self._stream = stream
        self._messages = parts.messages
        self._tasks = parts.tasks
        self._cursor = parts.cursor
        self._browse = parts.browse
        self.folder = folder
        self._dialog: SearchDialog | None = None
        self._worker: Worker | None = None
        self._index: SearchIndex | None = None
        self._target = ""
        self._cancelled = False
        self._hits: list[Hit] = []
        self._window.commands.search_all.triggered.connect(self._on_search_all)
        self._browse.database_closed.connect(self._on_database_closed)
        self.read.connect(self._on_read)

    def close(self) -> None:
        """Let go of the index."""
        self._cancelled = True
        if self._worker is not None:
            self._worker.close(self._index.close if self._index is not None else None)
        self._worker = self._index = self._dialog = None

    def _on_database_closed(self, target: str) -> None:
        if self._dialog is not None and target == self._target:
            self._dialog.close()

    def _on_search_all(self) -> None:
        if self._dialog is not None:
            self._dialog.raise_()
            self._dialog.words.setFocus()
            return
        sources = [source for source in self._browse.sources if isinstance(source, DatabaseSource)]
        selected = self._cursor.session
        source = next((source for source in sources if selected is not None and source.target == selected.database), None)
        source = source or next(iter(sources), None)
        if source is None:
            self._messages.info("Open a database first: its sessions can be searched then.")
            return
        self._target, self._cancelled, self._hits = source.target, False, []
        dialog = self._dialog = SearchDialog(source.title, self._window)
        dialog.asked.connect(self._on_asked)
        dialog.cancelled.connect(self._on_cancelled)
        dialog.chosen.connect(self._on_chosen)
        dialog.ended.connect(self.close)
        dialog.show()
        self._worker = Worker(f"search of {source.target}")
        self._tasks.spawn(self._search(""), f"Reading {source.title} for the search")

    def _on_asked(self, words: str) -> None:
        self._cancelled = False
        self._tasks.spawn(self._search(words), "Searching")

    def _on_cancelled(self) -> None:
        self._cancelled = True

    async def _search(self, words: str) -> None:
        worker, dialog = self._worker, self._dialog
        if worker is None or dialog is None:
            return
        try:
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
        dialog.show_hits([_found(hit) for hit in hits])
        dialog.say(self._words(words, len(hits)))

    def _words(self, words: str, count: int) -> str:
        part = ""
        if self._cancelled:
            part = " Only a part of the database was read; Enter goes on."
        elif self._index is not None and self._index.is_full:
            part = " The database is larger than an index may be: its newest events are not in it."
        if not words.strip():
            return f"Type words, then press Enter.{part}"
        found = f"The newest {count:,} events." if count == MOST_HITS else f"{count:,} events." if count != 1 else "1 event."
        return (f"{found} Click one to go to it, or press Down and Enter." if count else "No event contains all of these words.") + part

    def _work(self, words: str) -> list[Hit]:
        """On the index's thread."""
        folder = self.folder or Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.CacheLocation)) / "search"
        if self._index is None:
            remove_stale(folder)
            self._index = SearchIndex(self._target, folder)
        self._index.update(self._progress)
        return self._index.search(words, MOST_HITS)

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
            self._window.work_asked.emit()
            self._stream.show_event(SessionAddress(self._target, hit.key), hit.event_id)
            self._window.workbench.stream.table.setFocus(Qt.FocusReason.OtherFocusReason)  # as soon as the dialog gives it back


def _found(hit: Hit) -> FoundEvent:
    time = f"{day(hit.timestamp)} {clock(hit.timestamp)}" if hit.timestamp else ""
    return FoundEvent((hit.key.session_id, hit.key.user_id, hit.author, time), hit.excerpt, hit.start, hit.end)
