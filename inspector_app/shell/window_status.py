"""The state of run and session in the window: which commands are possible, and what the bars show."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import Source, database_info
from inspector_app.presentation.costs import cost_text, missing_text
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.values import counted, visible
from inspector_app.running.hold_text import words_for
from inspector_app.running.view_data import HoldText
from inspector_app.shell.features import Features
from inspector_app.shell.main_window import MainWindow
from inspector_app.stream.stream_table import PAINT_EACH_MS
from inspector_app.widgets.actions import allow
from inspector_app.widgets.places import Places
from inspector_app.workspace.workspace import Workspace
from runtime.sessions.session_key import SessionKey

if TYPE_CHECKING:
    from runtime.events.event import Event

MANY_AT_ONCE = 20  # events in one frame after which the counts may be shown a moment later


class WindowStatus(QObject):
    """Updates commands, composer, tool bar and status bar whenever one of the owners reports a change.

    Args:
        work: the owners.
        places: receives changes.
        window: the window.
        features: the stream, which counts events and tokens, and the run.
    """

    def __init__(self, work: Workspace, places: Places, window: MainWindow, features: Features) -> None:
        super().__init__(window)
        self._cursor = work.cursor
        self._agents = work.agents
        self._databases = work.databases
        self._current = work.current
        self._run = work.run
        self._costs = work.costs
        self._titles = work.titles
        self._places = places
        self._window = window
        self._events = features.stream.events
        self._stream = features.stream.view
        self._availability = features.running.availability
        self._counted_at = 0.0
        self._counting = QTimer(self)
        self._counting.setSingleShot(True)
        self._counting.timeout.connect(self._show_position)
        self._connect_signals()
        places.availability_changed.emit()

    def _connect_signals(self) -> None:
        window, current, databases = self._window, self._current, self._databases
        for signal in (
            window.page_changed,
            current.session_loaded,
            current.invocations_found,
            databases.writing_allowed,
            self._agents.agent_loaded,
            self._run.changed,
            self._run.beside_changed,
            self._run.attached_changed,
        ):
            signal.connect(self._places.availability_changed)
        self._places.availability_changed.connect(self._show_run)
        databases.database_listed.connect(self._show_open)
        databases.database_closed.connect(self._show_open)
        databases.writing_allowed.connect(self._show_source)
        current.session_loading.connect(self._on_session_loading)
        for signal in (current.session_loading, current.state_computed, self._events.shown_changed):
            signal.connect(self._show_position)
        current.events_added.connect(self._on_events_added)
        self._stream.follow_changed.connect(self._show_live)
        self._costs.changed.connect(self._show_tokens)
        self._titles.changed.connect(self._on_titles_changed)

    def _show_open(self) -> None:
        """Enable the panes' commands once anything is open; on the start page they would lose the keyboard."""
        anything = self._databases.sources or self._agents.loaded is not None
        for action in self._places.need_something_open:
            allow(action, None if anything else "Open an agent or a database first (Ctrl+O).")
        unsaved = any(source.is_unsaved for source in self._databases.sources)
        save = self._window.commands.save_as
        allow(save, None if unsaved else "All sessions are in databases.", "Puts unsaved sessions into a database of yours")

    def _show_run(self) -> None:
        """Update the panes' commands and the text about the run."""
        self._show_open()
        self._show_phase()

    def _show_phase(self) -> None:
        run = self._run
        phase = "held" if run.phase == "paused" else str(run.phase)
        text, detail = phase, ""
        words: HoldText | None = None
        if run.phase == "paused" and run.hold is not None:
            held_here = run.address == self._cursor.session and run.held is not None
            place = self._current.position_of(run.held.id) if held_here and run.held is not None else None
            text = "held" if place is None else f"held at {place + 1:,}"
            words = words_for(run.hold, run.held_by, run.waiting, run.runs_on)
            detail = words.place
        elif run.phase == "idle":
            phase, text, detail = self._availability.idle_words()
        elif run.pausing:
            text, detail = "pausing", "held at the next event"
        elif run.is_watching and run.attached is not None:
            phase, text, detail = "watching", "watching", run.attached.app.title
        explained = "\n".join(filter(None, (words.why, words.beside))) if words else ""
        self._window.run_bar.show_state(phase, text, detail, explained)

    def _on_session_loading(self, address: SessionAddress | None) -> None:
        source = self._databases.source(address.database) if address is not None else None
        if source is not None:
            self._show_source(source)
        elif address is None:
            self._window.status.show_database("", "")
        self._show_title(address)

    def _show_title(self, address: SessionAddress | None) -> None:
        title = self._titles.title(address) if address is not None else ""
        names = f"{title}\nsession {address.key.session_id} of {address.key.user_id}" if address is not None else ""
        self._window.status.show_session(title, names)
        named = f"{title} · {visible(address.key.app_name)} · " if address is not None else ""
        self._window.setWindowTitle(f"{named}Agent Inspector")

    def _on_titles_changed(self, target: str, keys: Collection[SessionKey]) -> None:
        address = self._cursor.session
        if address is not None and address.database == target and address.key in keys:
            self._show_title(address)

    def _show_source(self, source: Source) -> None:
        info = database_info(source)
        self._window.status.show_database(info.title, info.badge)

    def _on_events_added(self, added: Sequence[Event]) -> None:
        """Update the counts. While many events arrive, do it as often as rows are painted: it takes as long as they do."""
        since = (time.perf_counter() - self._counted_at) * 1000
        if len(added) < MANY_AT_ONCE or since >= PAINT_EACH_MS:
            self._show_position()
        elif not self._counting.isActive():
            self._counting.start(int(PAINT_EACH_MS - since) + 1)

    def _show_position(self) -> None:
        """Show the selected event's place, and the counts of the session."""
        self._counting.stop()
        self._counted_at = time.perf_counter()
        shown = self._events.shown_count if self._events.is_filtered else None
        self._window.status.show_position(self._cursor.event_index, self._events.event_count, shown)
        self._show_tokens()
        self._show_live(self._stream.following)

    def _show_tokens(self) -> None:
        total = self._costs.total
        cost = cost_text(total) if total is not None and total.calls else ""
        about = [f"Prices: {Prices.source()}", missing_text(total)] if total is not None and cost else []
        if total is not None and total.nested:
            about.append(f"with {counted(total.nested, 'model call')} of agents as tools")
        tokens = self._events.total_tokens + (total.nested_tokens if total is not None else 0)
        self._window.status.show_tokens(tokens, cost, "\n".join(filter(None, about)))

    def _show_live(self, following: bool) -> None:
        self._window.status.show_live(following if self._events.event_count else None)
