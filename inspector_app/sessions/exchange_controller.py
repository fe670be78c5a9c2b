"""Export of sessions into files, and import from them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import DatabaseSource, Source
from inspector_app.exchange.formats import FORMATS, format_of
from inspector_app.presentation.values import counted
from inspector_app.sessions.exchange_dialogs import (
    ask_for_eval_set,
    ask_for_new_database,
    ask_what_to_import,
    ask_where_to_export,
    open_in_its_program,
)
from inspector_app.sessions.export_job import ExportCancelledError, ExportJob, add_history_case, add_stored_case
from inspector_app.sessions.sessions_pane import SessionsPane
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.workspace import Workspace
from runtime.sessions.session_key import SessionKey
from runtime.storage.open_service import open_session_service
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from inspector_app.exchange import imported_sessions, storing
else:
    imported_sessions = lazy_module("inspector_app.exchange.imported_sessions")
    storing = lazy_module("inspector_app.exchange.storing")

_LOOK = 0.25  # seconds between two displays of the progress


class ExchangeController(QObject):
    """A controller that asks for files, and writes or reads them off the GUI thread.

    Signals:
        workbench_requested: sessions were imported; they are to be displayed.
        eval_set_requested(str): an eval set that was written is to be opened; its path.

    Args:
        work: the owners.
        pane: the session list, where the user requests both.
        hint: shows the progress and the end.
    """

    workbench_requested = Signal()
    eval_set_requested = Signal(str)

    def __init__(self, work: Workspace, pane: SessionsPane, hint: HintBar) -> None:
        super().__init__(pane)
        self._work = work
        self._pane = pane
        self._hint = hint
        self._job: ExportJob | None = None
        self._reading: asyncio.Task[None] | None = None  # of an import
        self._written: Path | None = None
        self._is_eval_set = False  # what was written
        pane.export_requested.connect(self._on_export_requested)
        pane.case_requested.connect(self._on_case_requested)
        pane.import_requested.connect(self._on_import_requested)
        hint.accepted.connect(self._on_hint_accepted)

    def export_selected(self) -> None:
        """Ask where the selected session is written."""
        selected = self._work.cursor.session
        if selected is None:
            self._work.messages.info("Select the session to export in the session list first.")
            return
        self._on_export_requested(selected.database, [selected.key])

    def _on_export_requested(self, target: str, keys: list[SessionKey]) -> None:
        if self._job is not None:
            self._work.messages.info("An export is in progress. Wait for its end, or cancel it.")
            return
        one = len(keys) == 1
        ask_where_to_export(
            "Export the session" if one else f"Export {len(keys):,} sessions",
            self._work.titles.title(SessionAddress(target, keys[0])) if one else Path(target).stem,
            FORMATS,
            lambda file, kind: self.export(target, keys, Path(file), format_of(file) or kind),
            self._pane.window(),
        )

    def export(self, target: str, keys: Sequence[SessionKey], out: Path, kind: str) -> None:
        """Write sessions into a file, which is replaced if it exists.

        Args:
            target: the database.
            keys: its sessions.
            out: the file.
            kind: one of `FORMATS`.
        """
        source = self._work.databases.source(target)
        if source is not None:
            self._job = ExportJob(out, kind, source.title)
            self._work.tasks.spawn(self._export(source, frozenset(keys), self._job), f"Exporting sessions to {out.name}")

    async def _export(self, source: Source, keys: frozenset[SessionKey], job: ExportJob) -> None:
        try:
            if isinstance(source, DatabaseSource):
                await source.complete()
            summaries = [summary for summary in await source.listing() if summary.key in keys]
            job.total = sum(summary.event_count or 0 for summary in summaries)
            if isinstance(source, DatabaseSource):
                work = run_in_thread(job.write_stored, source.target, summaries, source.unsaved_notes)
            else:
                keys_of = [each.key for each in summaries]
                found = [(key, await source.history(key), await source.created(key), await source.notes(key)) for key in keys_of]
                work = run_in_thread(job.write_histories, found)
            progress = self._work.tasks.spawn(self._show_progress(job), "Displaying the progress of an export", background=True)
            try:
                await work
            finally:
                progress.cancel()
        except ExportCancelledError:
            self._hint.suggest("The export was cancelled. No file was written.", "", "file-export", "accent")
            return
        except BaseException:
            job.cancelled.set()
            self._hint.hide()
            raise
        finally:
            self._job = None
        self._written, self._is_eval_set = job.out, job.kind == "evalset"
        sessions = counted(len(summaries), "session")
        events = counted(job.events, "event")
        places = counted(job.redactions, "place")
        secrets = f" Passwords, keys and tokens in {places} were replaced." if job.redactions else ""
        self._hint.suggest(f"{sessions} with {events} exported to {job.out}.{secrets}", "Open", "file-export", "accent")

    async def _show_progress(self, job: ExportJob) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            of_all = f" of {job.total:,}" if job.total else ""
            text = f"Exporting to {job.out.name}: {job.events:,}{of_all} events"
            self._hint.suggest(text, "Cancel", "file-export", "accent", closable=False)

    def _on_hint_accepted(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
        elif self._job is not None:
            self._job.cancelled.set()
        elif self._written is not None:
            if self._is_eval_set:
                self.eval_set_requested.emit(str(self._written))
            elif not open_in_its_program(self._written):
                self._work.messages.info(f"This system has no program for {self._written.name}. The file is {self._written}.")

    def _on_case_requested(self, target: str, key: SessionKey) -> None:
        ask_for_eval_set(key.app_name, lambda file: self.add_case(target, key, Path(file)), self._pane.window())

    def add_case(self, target: str, key: SessionKey, file: Path) -> None:
        """Add a session to an eval set, as a case.

        Args:
            target: the database.
            key: its session.
            file: the eval set; created if it does not exist.
        """
        source = self._work.databases.source(target)
        if source is not None:
            self._work.tasks.spawn(self._add_case(source, key, file), f"Adding the session to {file.name}")

    async def _add_case(self, source: Source, key: SessionKey, file: Path) -> None:
        if isinstance(source, DatabaseSource):
            await source.complete()
            summary = next(each for each in await source.listing() if each.key == key)
            case = await run_in_thread(add_stored_case, source.target, summary, file)
        else:
            case = await run_in_thread(add_history_case, key, await source.history(key), await source.created(key), file)
        self._written, self._is_eval_set = file, True
        self._hint.suggest(f"Case {case} was added to {file}.", "Open", "file-export", "accent")

    def ask_for_imports(self) -> None:
        """Ask which files are imported."""
        selected = self._work.cursor.session
        sources = [source for source in self._work.databases.sources if source.writing_allowed]
        self._on_import_requested(selected.database if selected is not None else sources[0].target if len(sources) == 1 else "")

    def _on_import_requested(self, target: str) -> None:
        ask_what_to_import(lambda file: self.import_file(file, target), self._pane.window())

    def import_file(self, file: str, target: str) -> None:
        """Read a file's sessions, and store them in a database; if it cannot be written, ask for a new one.

        Args:
            file: the file.
            target: the open database; empty for none.
        """
        if self._reading is not None:
            self._work.messages.info("An import is in progress. Wait for its end, or cancel it.")
            return
        self._reading = self._work.tasks.spawn(self._import(file, target), f"Importing {Path(file).name}")

    async def _import(self, file: str, target: str) -> None:
        self._hint.suggest(f"Reading {Path(file).name}", "Cancel", "file-import", "accent", closable=False)
        try:
            imported = await run_in_thread(lambda: imported_sessions.read_sessions(file))
        except BaseException:
            self._hint.hide()
            raise
        finally:
            self._reading = None
        source = self._work.databases.source(target)
        if source is not None and source.writing_allowed:
            self._hint.suggest(f"Storing what was read from {Path(file).name}", "", "file-import", "accent", closable=False)
            await self._store(file, imported, source)
            return
        self._hint.suggest("Choose the new database for the imported sessions.", "", "file-import", "accent", closable=False)
        into = Path(file).stem
        ask_for_new_database(into, lambda chosen: self.import_into_new(file, imported, chosen), self._hint.hide, self._pane.window())

    def import_into_new(self, file: str, imported: imported_sessions.Imported, chosen: str) -> None:
        """Store what was read from a file in a new database, and open it.

        Args:
            file: the file, for messages.
            imported: its sessions.
            chosen: the path of the database.
        """
        self._work.tasks.spawn(self._store_new(file, imported, chosen), f"Importing {Path(file).name}")

    async def _store_new(self, file: str, imported: imported_sessions.Imported, chosen: str) -> None:
        if await run_in_thread(Path(chosen).exists):
            self._hint.hide()
            self._work.messages.info(f"{chosen} exists already. Open it, allow writing, and import into it; or name a new file.")
            return
        async with await run_in_thread(open_session_service, chosen) as service:
            await storing.store(service, imported)
        self.workbench_requested.emit()
        source = await self._work.databases.open_database(chosen)
        if source is not None:
            self._show(file, imported, source)

    async def _store(self, file: str, imported: imported_sessions.Imported, source: Source) -> None:
        try:
            storing.check_new(imported, {summary.key for summary in await source.listing()}, source.title)
            await storing.store(await source.service(), imported)
        except BaseException:
            self._hint.hide()
            raise
        finally:
            await self._work.databases.relist(source)
        self._show(file, imported, source)

    def _show(self, file: str, imported: imported_sessions.Imported, source: Source) -> None:
        count = len(imported.sessions)
        what = f"{'1 session' if count == 1 else f'{count:,} sessions'} with {imported.events:,} events"
        self._hint.suggest(f"{what} imported from {Path(file).name} into {source.title}.", "", "file-import", "accent")
        self._written = None
        self._work.cursor.select_session(SessionAddress(source.target, next(iter(imported.sessions))))
