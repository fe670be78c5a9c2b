"""Attaches the window to a running app, and says what that means while it lasts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector_app.engines.running_apps import PLUGIN, AttachError, RunningApp, running_apps
from inspector_app.opening.attach_dialog import AppRow, AttachDialog
from inspector_app.support.tasks import Tasks
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from inspector_app.engines import attached_app
else:
    attached_app = lazy_module("inspector_app.engines.attached_app")


class AttachController(QObject):
    """Lists running apps, attaches to the chosen one, and offers to open its database.

    Signals:
        workbench_requested: the workbench should be displayed.
        engine_changed(str): the attached app with its engine; empty when the window is detached.
        attached(str, str): a title and a hint for the stream, until the app runs something.
        database_requested(str): the user wants to open the app's database.

    Args:
        databases: keeps the app's sessions.
        run: watches the app.
        tasks: runs the attaching.
        messages: receives what happened.
        hint: offers the app's database.
        window: the dialog's parent.
    """

    workbench_requested = Signal()
    engine_changed = Signal(str)
    attached = Signal(str, str)
    database_requested = Signal(str)

    def __init__(
        self, databases: OpenDatabases, run: CurrentRun, tasks: Tasks, messages: MessageBus, hint: HintBar, window: QObject
    ) -> None:
        super().__init__(window)
        self._databases = databases
        self._run = run
        self._tasks = tasks
        self._messages = messages
        self._hint = hint
        self._window = window
        self._dialog: AttachDialog | None = None
        self._apps: list[RunningApp] = []
        self._offered = ""
        self._is_attaching = False
        hint.accepted.connect(self._on_accepted)
        run.detached.connect(self._on_detached)

    def ask(self) -> None:
        """List the running apps."""
        if self._run.phase != "idle":
            self._messages.info(self._run.blocked("new_session") or "A run is in progress: stop it first (Shift+F5).")
            return
        if self._dialog is not None:
            self._dialog.raise_()
            return
        self._dialog = dialog = AttachDialog(str(PLUGIN), self._window)  # type: ignore[arg-type]  # the main window
        dialog.chosen.connect(self._on_chosen)
        dialog.refresh_requested.connect(self._on_refresh)
        dialog.finished.connect(self._on_dialog_finished)
        dialog.open()
        self._on_refresh()

    async def attach(self, app: RunningApp) -> None:
        """Attach to an app.

        Raises:
            AttachError: it has ended, does not answer, or refuses.
        """
        if self._run.phase != "idle":
            raise AttachError(self._run.blocked("new_session") or "A run is in progress: stop it first (Shift+F5).")
        connection = await attached_app.AttachedApp.connect(app)
        source = await self._databases.attached(app.pid, app.name)
        self.workbench_requested.emit()
        self._run.watch(connection, source)
        watched = self._run.attached
        assert watched is not None
        watched.database_found.connect(self._on_database_found)
        self.engine_changed.emit(f"attached to {connection.title} · {connection.engine}")
        self._messages.info(f"Attached to {connection.title}. It continues as before when you stop watching it (Shift+F5).", quiet=True)
        self.attached.emit(
            f"Watching {connection.title}", "Its events appear here when it runs. F6 holds it at its next step; breakpoints hold it, too."
        )

    def _on_refresh(self) -> None:
        if not self._is_attaching:
            self._tasks.spawn(self._list(), "Looking for running apps", background=True)

    async def _list(self) -> None:
        apps = await run_in_thread(running_apps)
        if self._dialog is not None:
            self._apps = apps
            self._dialog.show_rows([_row(number, app) for number, app in enumerate(apps)])

    def _on_chosen(self, number: int) -> None:
        if not self._is_attaching and number < len(self._apps):
            self._is_attaching = True
            self._tasks.spawn(self._attach(self._apps[number]), f"Attaching to {self._apps[number].name}")

    async def _attach(self, app: RunningApp) -> None:
        try:
            await self.attach(app)
        except AttachError as error:
            if self._dialog is None:
                self._messages.warning(str(error))
            else:
                self._dialog.show_problem(str(error))
        else:
            if self._dialog is not None:
                self._dialog.accept()
        finally:
            self._is_attaching = False

    def _on_dialog_finished(self) -> None:
        self._dialog = None

    def _on_database_found(self, file: str) -> None:
        if self._databases.source(file) is None:
            self._offered = file
            self._hint.suggest(f"The app stores its sessions in {file}. Other sessions are there, too.", "Open", "database", "accent")

    def _on_accepted(self) -> None:
        self._hint.hide()
        self.database_requested.emit(self._offered)

    def _on_detached(self, why: str) -> None:
        self._hint.hide()
        self._messages.info(why)
        self.engine_changed.emit("")


def _row(number: int, app: RunningApp) -> AppRow:
    home = Path.home()
    place = Path(app.place)
    shown = str(Path("~") / place.relative_to(home)) if place.is_relative_to(home) else app.place
    return AppRow(number, f"{app.name} · process {app.pid}", f"{app.engine}, {shown}", app.why_not or "")
