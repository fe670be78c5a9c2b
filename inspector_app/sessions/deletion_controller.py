"""Deletion of sessions, with a confirmation, a copy and Undo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import DatabaseSource, Source
from inspector_app.sessions.deletion_dialog import DeletionDialog
from inspector_app.sessions.sessions_pane import SessionsPane
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.workspace import Workspace
from runtime.sessions.session_key import SessionKey
from runtime.storage.writing.deletion import delete_sessions, keep_copy, put_back
from runtime.support.worker_threads import run_in_thread

EVERY = 20  # deleted sessions between two progress reports


class DeletionController(QObject):
    """A controller that asks which sessions to delete, copies and deletes them, and restores them on request.

    Args:
        work: the owners.
        pane: the session list, where the user requests deletion.
        hint: shows progress and offers Undo.
    """

    def __init__(self, work: Workspace, pane: SessionsPane, hint: HintBar) -> None:
        super().__init__(pane)
        self._work = work
        self._pane = pane
        self._hint = hint
        self._last: tuple[str, Path] | None = None
        pane.delete_requested.connect(self._on_delete_requested)
        pane.prune_requested.connect(self._on_prune_requested)
        hint.accepted.connect(self._on_undo)
        work.databases.database_closed.connect(self._on_database_closed)

    def _on_delete_requested(self, target: str, keys: list[SessionKey]) -> None:
        self._work.tasks.spawn(self._ask(target, keys, by_age=False), "Asking what to delete")

    def _on_prune_requested(self, target: str) -> None:
        self._work.tasks.spawn(self._ask(target, None, by_age=True), "Asking what to delete")

    async def _ask(self, target: str, keys: Sequence[SessionKey] | None, *, by_age: bool) -> None:
        source = self._work.databases.source(target)
        if source is None:
            return
        if blocked := self.blocked(source):
            self._work.messages.info(blocked)
            return
        running = self._work.run.address if self._work.run.phase != "idle" else None
        summaries = [
            summary
            for summary in await source.sessions()
            if (keys is None or summary.key in keys) and SessionAddress(target, summary.key) != running
        ]
        if not summaries:
            self._work.messages.info("The agent is running in this session: stop it first (Shift+F5).")
            return
        undo = (
            "The sessions are copied to a file next to the database first, so that Undo can restore them."
            if _is_file(source)
            else "This database is on a server: deleted sessions cannot be restored."
        )
        titles = self._work.titles.of_database(target)
        dialog = DeletionDialog(source.title, summaries, titles, undo, by_age=by_age, parent=self._pane.window())

        def on_confirmed(chosen: list[SessionKey]) -> None:
            self._work.tasks.spawn(self._delete(source, chosen), f"Deleting sessions of {source.title}")

        dialog.confirmed.connect(on_confirmed)
        dialog.open()

    @staticmethod
    def blocked(source: Source) -> str:
        """Return why nothing can be deleted from a database; empty if deletion is possible."""
        if source.read_only_because:
            return source.read_only_because
        if not source.can_write:
            return f"{source.read_only_reason} Delete in a copy."
        if not source.writing_allowed:
            return f"{source.title} is open read-only. Allow writing first (menu Session)."
        return ""

    async def _delete(self, source: Source, keys: list[SessionKey]) -> None:
        copy = await run_in_thread(keep_copy, Path(source.target), keys) if _is_file(source) else None
        if (
            self._work.cursor.session is not None
            and self._work.cursor.session.database == source.target
            and self._work.cursor.session.key in keys
        ):
            self._work.cursor.select_session(None)
        hint, total, gone = self._hint, len(keys), 0

        def on_progress(done: int) -> None:
            nonlocal gone
            gone = done
            if done % EVERY == 0:
                hint.suggest(f"Deleting sessions: {done:,} of {total:,}", "", "trash-can", "accent", closable=False)

        title = self._work.titles.title(SessionAddress(source.target, keys[0]))
        try:
            await delete_sessions(await source.service(), keys, on_progress)
        finally:
            await self._work.databases.relist(source)
            if gone:
                of_all = "" if gone == total else f"{gone:,} of "  # the error is reported in a message
                what = f"{of_all}{total:,} sessions were" if total != 1 else f"“{title}” was"
                kept = f" A copy is in {copy.name}." if copy else ""
                hint.suggest(f"{what} deleted from {source.title}.{kept}", "Undo" if copy else "", "trash-can", "accent")
                self._last = (source.target, copy) if copy else None

    def _on_undo(self) -> None:
        last, self._last = self._last, None
        self._hint.hide()
        if last is not None:
            self._work.tasks.spawn(self._put_back(*last), "Restoring sessions")

    async def _put_back(self, target: str, copy: Path) -> None:
        count = await run_in_thread(put_back, Path(target), copy)
        source = self._work.databases.source(target)
        if source is not None:
            await self._work.databases.relist(source)
            self._work.messages.info(
                f"Restored {count:,} sessions in {source.title}." if count != 1 else f"Restored the session in {source.title}."
            )

    def _on_database_closed(self, target: str) -> None:
        if self._last is not None and self._last[0] == target:
            self._last = None
            self._hint.hide()


def _is_file(source: Source) -> bool:
    return isinstance(source, DatabaseSource) and "://" not in source.target
