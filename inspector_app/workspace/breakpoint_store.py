"""The owner of the loaded agent's breakpoints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.engines.protocol import Agent
from inspector_app.support.frame_batcher import CALM_MS
from inspector_app.support.preferences import Preferences
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.messages import MessageBus
from runtime.debugger.breakpoints import Breakpoints, BreakpointsFileError, condition_for
from runtime.expressions import ExpressionError, ExpressionTooCostlyError

if TYPE_CHECKING:
    from runtime.debugger.breakpoint import Breakpoint
    from runtime.events.event import Event


class BreakpointStore(QObject):
    """The breakpoints of the loaded agent, saved per agent folder.

    Attributes:
        breakpoints: those of the loaded agent. Each agent folder has one object for the window's lifetime, which its runs use: changes
            apply to a held agent at once, and loading another agent leaves a run its own breakpoints.

    Signals:
        changed: a breakpoint was added, changed or removed, or another agent's breakpoints were loaded.
        hit: counters changed; emitted at most once a frame.

    Args:
        agents: reports the loaded agent.
        preferences: stores the breakpoints.
        messages: receives conditions and files that cannot be read.
    """

    changed = Signal()
    hit = Signal()

    def __init__(self, agents: CurrentAgent, preferences: Preferences, messages: MessageBus, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._agents = agents
        self._preferences = preferences
        self._messages = messages
        self._is_loading = False
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.setInterval(CALM_MS)
        self._frame.timeout.connect(self.hit)
        self._by_folder: dict[Path, Breakpoints] = {}
        self.breakpoints = self._new()
        agents.agent_loaded.connect(self._on_agent_loaded)

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(self.breakpoints)

    def get(self, number: int | None) -> Breakpoint | None:
        """Return the breakpoint with this id; None if there is none."""
        return self.breakpoints.get(number) if number is not None else None

    def add(self, fields: dict[str, Any]) -> None:
        """Add a breakpoint; report a condition or log text that cannot be read.

        Args:
            fields: of `Breakpoint`.
        """
        try:
            self.breakpoints.add(**fields)
        except ExpressionError as error:
            self._messages.info(str(error))

    def change(self, number: int, fields: dict[str, Any]) -> None:
        """Change a breakpoint; nothing happens if there is none with this id.

        Args:
            number: its id.
            fields: of `Breakpoint`.
        """
        if self.breakpoints.get(number) is None:
            return
        try:
            self.breakpoints.change(number, **fields)
        except ExpressionError as error:
            self._messages.info(str(error))

    def remove(self, number: int) -> None:
        """Remove a breakpoint."""
        self.breakpoints.remove(number)

    def remove_made_from(self, event: Event) -> bool:
        """Remove the breakpoint whose condition is the one made from an event; return whether there was one."""
        condition = condition_for(event)
        for one in self:
            if one.when == "event" and one.condition == condition:
                self.remove(one.id)
                return True
        return False

    def reset_hits(self) -> None:
        """Count all hits from 0 again."""
        self.breakpoints.reset_hits()

    def mark_of(self, event: Event) -> str:
        """Return the gutter's mark for an event: `on` if a breakpoint stops there, `off` if only a disabled one would, else empty."""
        mark = ""
        for one in self:
            if one.when == "event" and not one.log and _would_stop(one, event):
                if one.enabled:
                    return "on"
                mark = "off"
        return mark

    def _new(self) -> Breakpoints:
        return Breakpoints(self._on_definitions_changed, self._on_counters_changed)

    def _on_agent_loaded(self, loaded: Agent) -> None:
        self.breakpoints = self._by_folder.setdefault(loaded.folder.resolve(), self._new())
        stored = self._preferences.breakpoints(loaded.folder) or "[]"
        self._is_loading = True
        try:
            if stored != self.breakpoints.to_json():  # an agent that is loaded again keeps its counters
                self.breakpoints.load_json(stored)
        except BreakpointsFileError as error:
            self.breakpoints.clear()
            self._messages.info(str(error))
        finally:
            self._is_loading = False
        self.changed.emit()

    def _on_definitions_changed(self) -> None:
        if self._is_loading:
            return
        if self._agents.loaded is not None:
            self._preferences.keep_breakpoints(self._agents.loaded.folder, self.breakpoints.to_json())
        self.changed.emit()

    def _on_counters_changed(self) -> None:
        if not self._frame.isActive():
            self._frame.start()


def _would_stop(one: Breakpoint, event: Event) -> bool:
    try:
        return one.matches(event, None)
    except ExpressionTooCostlyError:
        return False
