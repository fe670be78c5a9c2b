"""The application: its owners, window and event loop."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QObject, QPoint, QRect, QSize, QTimer, Signal
from PySide6.QtWidgets import QApplication

import inspector_app.support.quick_imports  # noqa: F401  # before the modules that it is about
from inspector_app.engines.engine_choice import EngineChoice
from inspector_app.engines.preloading import load_engines
from inspector_app.engines.running_apps import RunningApp
from inspector_app.presentation.message import Message
from inspector_app.shell.connections import start
from inspector_app.shell.crash import CrashHooks
from inspector_app.shell.features import make_window
from inspector_app.support.data_folder import APPLICATION
from inspector_app.support.interrupts import call_on_interrupt
from inspector_app.support.loop import InspectorLoop
from inspector_app.support.otlp import OtlpSpan
from inspector_app.support.settings import Settings
from inspector_app.widgets import theme as look
from inspector_app.widgets.file_dialogs import remember_folders
from inspector_app.widgets.places import Places
from inspector_app.workspace.messages import BusHandler, MessageBus
from inspector_app.workspace.workspace import make_workspace
from runtime.debugger import watchdog
from runtime.support.gc_freeze import frozen_from_gc
from runtime.support.worker_threads import run_in_thread

SHUTDOWN_SECONDS = 3.0  # how long closing waits for a run to end: an agent may ignore cancellation

# Threshold of generation 2 (Python's default: 10). A full collection freezes a window that lists many sessions,
# and frees next to nothing: long-lived data has no cycles.
FULL_COLLECTION_EVERY = 1_000

SWITCH_SECONDS = 0.0002  # how long a tool that computes on a thread may hold the interpreter before the window's thread gets it

FIRST_SIZE = QSize(1560, 960)  # pixels, when no geometry is saved
FIRST_SHARE = 0.9  # largest share of the screen that the first window takes, so that its frame is visible

PICTURE_SIZE = (1400, 860)  # pixels of a screenshot without a given size; Qt's off-screen screen is smaller

BACKGROUND_SECONDS = 1.0  # for marks and states that take reading more than what is displayed, before a screenshot is taken
SETTLE_SECONDS = 0.15  # what the views' timers need (column widths, dock animations) before a screenshot is taken


OnSpans = Callable[[list[OtlpSpan]], None]


class Endpoint(Protocol):
    """A local endpoint that receives traces; see `server.otlp_endpoint`, which is loaded when one is wanted."""

    @property
    def url(self) -> str:
        """Where exporters send traces."""

    def start(self, on_spans: OnSpans) -> None:
        """Call `on_spans` with what arrives, on a worker thread."""

    def close(self) -> None:
        """Stop listening."""


class Inspector(QObject):
    """The application: builds the owners and the window, and shuts them down.

    Attributes:
        settings: the stored preferences and layouts.
        messages: the message bus.
        tasks: the supervised tasks.
        work: the owners of the window-wide state; cursor, agents, catalog, databases, current, breakpoints and run are some of them.
        features: the doors of the features.
        window: the main window.

    Signals:
        closed: the window is closed and nothing runs any more.

    Args:
        app: the QApplication.
        settings: the stored preferences and layouts.
        messages: the bus that reports messages to the user.
        trust: load agents without asking.
        engine: the engine that was named for this window.
    """

    closed = Signal()

    def __init__(
        self, app: QApplication, settings: Settings, messages: MessageBus, *, trust: bool = False, engine: EngineChoice | None = None
    ) -> None:
        super().__init__()
        self.settings = settings
        settings.write_in_background()
        remember_folders(settings.last_folder, settings.keep_last_folder)
        self.work = work = make_workspace(settings, messages, self, trust=trust, engine=engine)
        self.messages = messages
        self.tasks, self.cursor, self.agents, self.catalog = work.tasks, work.cursor, work.agents, work.catalog
        self.databases, self.current, self.breakpoints, self.run = work.databases, work.current, work.breakpoints, work.run
        with _style_sheet_put_off(app):
            places = Places()
            self.features, self.window = make_window(places)
            start(work, places, self.features, self.window)
        self._log = BusHandler(self.messages)
        # The pool cannot reset a connection that a server dropped; the code that used the connection reports the error.
        # The run itself reports what blocked the loop, once, when the loop is free to show it.
        self._log.addFilter(lambda record: not record.name.startswith(("sqlalchemy.pool", watchdog.__name__)))
        logging.getLogger().addHandler(self._log)
        logging.getLogger("runtime").setLevel(logging.INFO)
        self._closing = False
        self.window.close_requested.connect(self.close)

    def show(self, size: tuple[int, int] | None) -> None:
        """Show the window with its saved geometry and layout; without one, in the middle of the screen.

        Args:
            size: width and height in pixels; None restores the saved geometry.
        """
        geometry = self.settings.layout("window")
        if size is not None or geometry is None or not self.window.restoreGeometry(geometry):
            room = self.window.screen().availableGeometry()
            self.window.resize(QSize(*size) if size else FIRST_SIZE.boundedTo(room.size() * FIRST_SHARE))
            place = QRect(QPoint(), self.window.size())
            place.moveCenter(room.center())
            self.window.move(max(place.x(), room.x()), max(place.y(), room.y()))
        self.window.workbench.layout_of_docks.saved = self.settings.layout("panes")
        self.window.show()

    def close(self) -> None:
        """Stop the run, wait for it to end, release all resources, then close the window. A second call changes nothing."""
        if not self._closing:
            self._closing = True
            self.tasks.spawn(self._shut_down(), "Closing")

    async def open(self, paths: list[str]) -> None:
        """Open agents and databases; return once each is displayed, or the problem with it."""
        await self.features.opening.opening.open_paths(paths)

    async def prepare_for_agents(self, opening: asyncio.Task[Any]) -> None:
        """Import what agents need, on a thread, once what was opened is displayed; the window needs none of it to read sessions."""
        await asyncio.wait([opening])
        await run_in_thread(load_engines)

    async def list_left(self) -> None:
        """List the unsaved sessions of windows that were killed, and delete the oldest; see `take_over`."""
        found, older = await self.work.unsaved.list_left()
        count = sum(len(self.catalog.sessions(source.target)) for source in found)
        if found:
            what, them = ("1 session", "it") if count == 1 else (f"{count:,} sessions", "them")
            more = f" {len(older):,} older databases are not listed: they are in {older[0].parent.parent}." if older else ""
            self.messages.info(
                f"Earlier windows left {what} unsaved: see {found[0].title} in the session list. Save as… (Ctrl+S) keeps {them}.{more}"
            )

    async def read_traces(self, file: Path, *listing: asyncio.Task[Any]) -> None:
        """Read a file of traces once the sessions that it may be of are listed."""
        await asyncio.wait(listing)
        await self.work.traces.read_file(file)

    async def wait_until_shown(self) -> None:
        """Wait until the window shows what was opened, and a run has ended; do not wait until the past of a large database is read."""
        await self.tasks.wait_until_idle(background_seconds=BACKGROUND_SECONDS)

    async def _shut_down(self) -> None:
        self.settings.save_layout("window", self.window.saveGeometry())
        panes = self.window.workbench.layout_of_docks.saved_layout()
        if panes is not None:
            self.settings.save_layout("panes", panes)
        self.window.setEnabled(False)
        keep = self.features.shell.leaving.keeps
        self.run.stop()
        self.features.detail.notes.keep_draft()
        await self.work.notes.wait_until_stored(SHUTDOWN_SECONDS)  # before its task would be cancelled
        self.work.tail.close()
        for feature in self.features.all:
            feature.close()
        left = await self.tasks.close(SHUTDOWN_SECONDS)
        for task in left:
            logging.getLogger(__name__).warning("%s did not end in time", task.get_name())
        self.run.close()
        self.current.close()
        # Not cancelled on timeout: a commit that waits for another process's lock cannot be cancelled.
        closing = self.tasks.spawn(self.databases.close(), "Closing the databases")
        await asyncio.wait([closing], timeout=SHUTDOWN_SECONDS)
        if not closing.done():
            logging.getLogger(__name__).warning("The databases were not closed in time")
        await self.agents.close()
        await run_in_thread(self.work.traces.close)
        await run_in_thread(lambda: self.work.kept.close(keep=keep))
        await self.settings.close()
        logging.getLogger().removeHandler(self._log)
        for owner in (self, self.window):
            for timer in owner.findChildren(QTimer):
                timer.stop()  # a task that a timer starts would find no running loop
        await self.tasks.close(SHUTDOWN_SECONDS)  # those that timers have started meanwhile
        # Tasks that did not end in time must not reach deleted views.
        for part in (self.messages, *self.findChildren(QObject)):
            part.blockSignals(True)
        self.window.close_now()
        # Deleted in Qt's order and on this thread: Python may delete models before the views that use them, and on any thread.
        self.window.deleteLater()
        self.closed.emit()
        self.deleteLater()


def run_window(
    paths: list[str],
    *,
    trust: bool = False,
    theme: str | None = None,
    size: tuple[int, int] | None = None,
    engine: EngineChoice | None = None,
    attach: RunningApp | None = None,
    traces: Path | None = None,
    endpoint: Endpoint | None = None,
) -> int:
    """Open the window and run until it is closed.

    Args:
        paths: agent folders or files, and databases.
        trust: load agents without asking.
        theme: light, dark, contrast or system; None uses the stored preference.
        size: width and height of the window in pixels; None restores the saved geometry.
        engine: what runs the agents; None leaves it to each agent.
        attach: the running app to attach to.
        traces: a file of traces to read; None for none.
        endpoint: receives traces until the window is closed; None for none.

    Returns:
        The exit status.
    """

    async def live(inspector: Inspector) -> int:
        closed = _closing(inspector)
        inspector.show(size)
        opening = inspector.tasks.spawn(inspector.open(paths), "Opening")
        inspector.tasks.spawn(inspector.prepare_for_agents(opening), "Preparing for agents", background=True)
        listing = inspector.tasks.spawn(inspector.list_left(), "Listing the sessions of earlier windows", background=True)
        if attach is not None:
            inspector.tasks.spawn(inspector.features.opening.attaching.attach(attach), f"Attaching to {attach.name}")
        if endpoint is not None:
            endpoint.start(inspector.work.traces.add)
            inspector.messages.info(f"Traces are received at {endpoint.url}.")
        if traces is not None:
            inspector.tasks.spawn(inspector.read_traces(traces, opening, listing), f"Reading {traces}")
        await closed
        if endpoint is not None:
            endpoint.close()
        return 0

    return _with_application(live, Settings(), trust, theme, engine)


def save_screenshot(
    paths: list[str],
    out_png: str,
    *,
    trust: bool = False,
    theme: str | None = None,
    size: tuple[int, int] | None = None,
    engine: EngineChoice | None = None,
    prepare: Callable[[Inspector], Coroutine[Any, Any, None]] | None = None,
) -> int:
    """Open `paths` in a window off screen and save a screenshot of it.

    Args:
        paths: agent folders or files, and databases.
        out_png: the file to write.
        trust: load agents without asking; otherwise the screenshot of an untrusted agent shows the question.
        theme: light, dark, contrast or system; None uses the default.
        size: width and height of the window in pixels; None means `PICTURE_SIZE`.
        engine: what runs the agents; None leaves it to each agent.
        prepare: called when the paths are open; the screenshot is taken once it is done and the window shows the result.

    Returns:
        The exit status: 1 if anything could not be opened or failed, or the screenshot could not be written. Errors go to stderr.
    """

    problems: list[str] = []

    def on_message(message: Message) -> None:
        if message.severity == "error":
            problems.append(message.text)

    async def render(inspector: Inspector) -> int:
        inspector.messages.posted.connect(on_message)
        inspector.show(size or PICTURE_SIZE)
        await inspector.open(paths)
        if prepare is not None:
            await prepare(inspector)
        if inspector.run.hold is None:  # a held run does not end
            await inspector.wait_until_shown()
        await asyncio.sleep(SETTLE_SECONDS)
        inspector.window.workbench.table.paint_next()
        if not inspector.window.grab().save(out_png):
            problems.append(f"{out_png} could not be written. Check that its folder exists and is writable and that its name ends in .png.")
        closed = _closing(inspector)
        inspector.close()
        await closed
        sys.stderr.writelines(f"agent-inspector: {problem}\n" for problem in problems)
        return 1 if problems else 0

    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as folder:
        return _with_application(render, Settings(Path(folder)), trust, theme, engine)


def _closing(inspector: Inspector) -> asyncio.Future[None]:
    """Return a future that is done when the window is closed."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def on_closed() -> None:
        if not future.done():
            future.set_result(None)

    inspector.closed.connect(on_closed)
    return future


def _with_application(
    work: Callable[[Inspector], Coroutine[Any, Any, int]],
    settings: Settings,
    trust: bool,
    theme: str | None,
    engine: EngineChoice | None,
) -> int:
    """Run `work` in a Qt application with an asyncio loop, and clean up afterwards."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*gc.get_threshold()[:2], FULL_COLLECTION_EVERY)
    app = QApplication(sys.argv[:1])
    app.setApplicationName(APPLICATION)
    app.setDesktopFileName("agent-inspector")
    app.setQuitOnLastWindowClosed(False)  # the run ends first, then the loop
    look.apply(app, theme or settings.theme).set_scale(settings.text_scale)  # type: ignore[arg-type]  # one of its words
    look.current().set_compact(settings.compact_rows)
    loop = InspectorLoop(app)
    messages = MessageBus()
    hooks = CrashHooks(messages)
    hooks.install()
    try:
        with frozen_from_gc():
            inspector = Inspector(app, settings, messages, trust=trust, engine=engine)
    except BaseException:
        hooks.remove()  # there is no window that could report the failure
        loop.close()
        raise
    loop.set_exception_handler(hooks.on_loop_exception)
    interrupts = call_on_interrupt(loop, inspector.close)
    try:
        status: int = loop.run_until_complete(work(inspector))
        return status
    finally:
        with suppress(TimeoutError):
            loop.run_until_complete(asyncio.wait_for(loop.shutdown_asyncgens(), SHUTDOWN_SECONDS))
        hooks.remove()
        if interrupts is not None:
            interrupts.close()
        loop.close()


@contextmanager
def _style_sheet_put_off(app: QApplication) -> Iterator[None]:
    """Suspend the style sheet while widgets are built: Qt styles a widget again each time it gets another parent.

    Not beside other widgets: Qt would not notice when those are destroyed, and the next style sheet would reach for them.
    """
    if app.allWidgets():
        yield
        return
    sheet = app.styleSheet()
    app.setStyleSheet("")
    try:
        yield
    finally:
        app.setStyleSheet(sheet)
