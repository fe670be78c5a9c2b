"""Where everything is built and wired."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QPoint, QRect, QSize, QTimer, Signal
from PySide6.QtWidgets import QApplication

from inspector_app.opening.opening_controller import sample_cards
from inspector_app.presentation.author_colours import AuthorColours
from inspector_app.presentation.message import Message
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.shell.crash import CrashHooks
from inspector_app.shell.main_window import MainWindow
from inspector_app.shell.window_controller import WindowController
from inspector_app.stream.event_list_model import EventListModel
from inspector_app.support.loop import InspectorLoop
from inspector_app.support.settings import Settings
from inspector_app.support.tasks import Tasks
from inspector_app.widgets import theme as look
from inspector_app.workspace.breakpoint_store import BreakpointStore
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.messages import BusHandler, MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.debugger import watchdog
from runtime.support.gc_freeze import frozen_from_gc

SHUTDOWN_SECONDS = 3.0
"""How long closing waits for a run to end; an agent that does not let itself be cancelled must not hold the window."""

FULL_COLLECTION_EVERY = 1_000
"""Collections of young objects between two of all (Python: 10). One of all stops the window for a second while 100,000 sessions are listed,
and finds next to nothing: what a window holds long is data without cycles."""

SWITCH_SECONDS = 0.0002
"""After which a tool that computes on a thread gives way to the window's, which asks several times in each turn of its loop."""

FIRST_SIZE = QSize(1560, 960)
FIRST_SHARE = 0.9
"""Of the screen that a first window takes at most: it is to look like a window, with all of it in sight."""

PICTURE_SIZE = (1400, 860)
"""Of a picture that nobody gave a size: off screen, the screen is a small one of Qt's own making."""

SETTLE_SECONDS = 0.15
"""What timers of the views (column widths, animations of docks) need before a picture is taken."""


class Inspector(QObject):
    """The application: builds its parts, and takes them down again.

    Attributes:
        window, cursor, agents, browse, run, messages, tasks, settings: the parts, for whoever drives it.

    Signals:
        closed: the window is gone; nothing runs any more.

    Args:
        app: the QApplication.
        settings: what is remembered.
        messages: where everything is said.
        trust: load agents without asking.
    """

    closed = Signal()

    def __init__(self, app: QApplication, settings: Settings, messages: MessageBus, *, trust: bool = False) -> None:
        super().__init__()
        self.settings = settings
        self.messages = messages
        self.tasks = Tasks(self.messages.error)
        self.cursor = Cursor(self)
        self.agents = CurrentAgent(settings, trust_all=trust, parent=self)
        self.catalog = SessionCatalog(self)
        self.databases = OpenDatabases(self.catalog, self.tasks, self)
        self.current = CurrentSession(self.cursor, self.databases, self.catalog, self.tasks, self)
        self.breakpoints = BreakpointStore(self.agents, settings, messages, self)
        self.run = CurrentRun(
            self.cursor, self.agents, self.databases, self.catalog, self.current, self.breakpoints, self.tasks, self.messages, self
        )
        with _style_sheet_put_off(app):
            colours = AuthorColours()
            events, sessions = EventListModel(self, colours=colours), SessionTreeModel(self)
            self.window = MainWindow(events, sessions, sample_cards())
            self.controller = WindowController(
                app,
                settings,
                self.tasks,
                messages,
                self.cursor,
                self.agents,
                self.catalog,
                self.databases,
                self.current,
                self.breakpoints,
                self.run,
                colours,
                events,
                sessions,
                self.window,
            )
        self._log = BusHandler(self.messages)
        # A connection that a server dropped cannot be reset either: whoever used it says what happened.
        # What kept the loop waiting is said once, by the run, when it is over and can be shown.
        self._log.addFilter(lambda record: not record.name.startswith(("sqlalchemy.pool", watchdog.__name__)))
        logging.getLogger().addHandler(self._log)
        logging.getLogger("runtime").setLevel(logging.INFO)
        self._closing = False
        self.controller.close_asked.connect(self.close)

    def show(self, size: tuple[int, int] | None) -> None:
        """Show the window where and as it was, the first time in the middle of the screen.

        Args:
            size: width and height; what is remembered if None.
        """
        geometry = self.settings.layout("window")
        if size is not None or geometry is None or not self.window.restoreGeometry(geometry):
            room = self.window.screen().availableGeometry()
            self.window.resize(QSize(*size) if size else FIRST_SIZE.boundedTo(room.size() * FIRST_SHARE))
            place = QRect(QPoint(), self.window.size())
            place.moveCenter(room.center())
            self.window.move(max(place.x(), room.x()), max(place.y(), room.y()))
        self.window.workbench.arrange(self.settings.layout("panes"))
        self.window.show()

    def close(self) -> None:
        """Close: stop what runs, wait for it, let go of everything, then close the window. A second call changes nothing."""
        if not self._closing:
            self._closing = True
            self.tasks.spawn(self._shut_down(), "Closing")

    async def open(self, paths: list[str]) -> None:
        """Open agents and databases; returns when they are on show, or their problem is."""
        await self.controller.open_paths(paths)

    async def _shut_down(self) -> None:
        self.settings.save_layout("window", self.window.saveGeometry())
        panes = self.window.workbench.saved_layout()
        if panes is not None:
            self.settings.save_layout("panes", panes)
        self.window.setEnabled(False)
        self.run.stop()
        self.controller.tail.close()
        self.controller.search.close()
        self.controller.database_page.close()
        self.controller.foreign_database.close()
        left = await self.tasks.close(SHUTDOWN_SECONDS)
        for task in left:
            logging.getLogger(__name__).warning("%s did not end in time", task.get_name())
        self.current.close()
        # Only waited for: a commit that waits for another process's lock does not let itself be cancelled.
        closing = self.tasks.spawn(self.databases.close(), "Closing the databases")
        await asyncio.wait([closing], timeout=SHUTDOWN_SECONDS)
        if not closing.done():
            logging.getLogger(__name__).warning("The databases were not closed in time")
        self.agents.close()
        logging.getLogger().removeHandler(self._log)
        for owner in (self, self.controller, self.window):
            for timer in owner.findChildren(QTimer):
                timer.stop()  # what one starts would find no loop to run in
        # Nor may what did not end in time reach views that are gone.
        for part in (self.messages, *self.findChildren(QObject)):
            part.blockSignals(True)
        self.window.close_now()
        # In Qt's own order and on this thread: left to Python, models may go before the views that look at them, and on any thread.
        for part in (self.window, self.controller):
            part.deleteLater()
        self.closed.emit()
        self.deleteLater()


def run_window(paths: list[str], *, trust: bool = False, theme: str | None = None, size: tuple[int, int] | None = None) -> int:
    """Open the window and run until it is closed.

    Args:
        paths: what to open: agent folders or files, databases.
        trust: load agents without asking.
        theme: light, dark or system; what was chosen last if None.
        size: of the window.

    Returns:
        The exit status.
    """

    async def live(inspector: Inspector) -> int:
        closed = _closing(inspector)
        inspector.show(size)
        inspector.tasks.spawn(inspector.open(paths), "Opening")
        await closed
        return 0

    return _with_application(live, Settings(), trust, theme)


def save_screenshot(
    paths: list[str],
    out_png: str,
    *,
    trust: bool = False,
    theme: str | None = None,
    size: tuple[int, int] | None = None,
    resume: bool = False,
) -> int:
    """Render the window on `paths` off screen, save the picture and return.

    Args:
        paths: what to open.
        out_png: where the picture goes.
        trust: load agents without asking; otherwise an agent that is not trusted shows the question.
        theme: light, dark or system.
        size: of the window; `PICTURE_SIZE` if None.
        resume: press Resume, and wait until the invocation has ended.

    Returns:
        The exit status: 1 if something could not be opened, failed, or the picture could not be written; stderr says what.
    """

    problems: list[str] = []

    def on_message(message: Message) -> None:
        if message.severity == "error":
            problems.append(message.text)

    async def render(inspector: Inspector) -> int:
        inspector.messages.posted.connect(on_message)
        inspector.show(size or PICTURE_SIZE)
        await inspector.open(paths)
        if resume:
            inspector.run.resume()
        await inspector.tasks.wait_until_idle()
        await asyncio.sleep(SETTLE_SECONDS)
        inspector.window.workbench.stream.table.paint_next()
        if not inspector.window.grab().save(out_png):
            problems.append(f"{out_png} could not be written.")
        closed = _closing(inspector)
        inspector.close()
        await closed
        sys.stderr.writelines(f"agent-inspector: {problem}\n" for problem in problems)
        return 1 if problems else 0

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as folder:
        return _with_application(render, Settings(Path(folder)), trust, theme)


def _closing(inspector: Inspector) -> asyncio.Future[None]:
    """Return a future that is done when the window is closed."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def on_closed() -> None:
        if not future.done():
            future.set_result(None)

    inspector.closed.connect(on_closed)
    return future


def _with_application(work: Callable[[Inspector], Coroutine[Any, Any, int]], settings: Settings, trust: bool, theme: str | None) -> int:
    """Run `work` in a Qt application with an asyncio loop, and leave nothing behind."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*gc.get_threshold()[:2], FULL_COLLECTION_EVERY)
    app = QApplication(sys.argv[:1])
    app.setApplicationName("Agent Inspector")
    app.setDesktopFileName("agent-inspector")
    app.setQuitOnLastWindowClosed(False)  # the run is ended first, then the loop
    look.apply(app, theme or settings.theme)  # type: ignore[arg-type]  # one of its three words
    loop = InspectorLoop(app)
    messages = MessageBus()
    hooks = CrashHooks(messages)
    hooks.install()
    with frozen_from_gc():
        inspector = Inspector(app, settings, messages, trust=trust)
    loop.set_exception_handler(hooks.on_loop_exception)
    with suppress(NotImplementedError):  # Windows
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, inspector.close)
    try:
        status: int = loop.run_until_complete(work(inspector))
        return status
    finally:
        with suppress(TimeoutError):
            loop.run_until_complete(asyncio.wait_for(loop.shutdown_asyncgens(), SHUTDOWN_SECONDS))
        hooks.remove()
        loop.close()


@contextmanager
def _style_sheet_put_off(app: QApplication) -> Iterator[None]:
    """Build widgets first and style them once: Qt styles a widget anew whenever it is put into another, which doubles the work."""
    sheet = app.styleSheet()
    app.setStyleSheet("")
    try:
        yield
    finally:
        app.setStyleSheet(sheet)
