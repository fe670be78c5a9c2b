"""Events from a run on their way into the window: a frame's worth at a time, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import Committed
from inspector_app.support.frame_batcher import FrameBatcher
from inspector_app.workspace.current_session import CurrentSession

if TYPE_CHECKING:
    from runtime.events.event import Event

MAX_QUEUED = 2_000  # a run waits above this: memory stays bounded, and its end, which shows the rest at once, takes no more than 50 ms


@dataclass(frozen=True, slots=True)
class ToolAgentEvent:
    """An event of an agent that runs as a tool.

    Attributes:
        address: the session of the run.
        event: the event; only a recording keeps it.
        call_ids: ids of the function calls that lead to it, the outermost first.
    """

    address: SessionAddress
    event: Event
    call_ids: tuple[str | None, ...]


class IncomingEvents(QObject):
    """Passes on what a run commits and streams: committed events to the displayed session, the others to signals.

    Attributes:
        address: the session of the run.

    Signals:
        partial_arrived(SessionAddress, Event): a piece of streamed text; nothing is committed with it.
        tool_agent_event_arrived(ToolAgentEvent): an agent that runs as a tool yielded an event, also a partial one.
        shown: a frame's worth was passed on.

    Args:
        current: receives committed events.
    """

    partial_arrived = Signal(object, object)
    tool_agent_event_arrived = Signal(object)
    shown = Signal()

    def __init__(self, current: CurrentSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._current = current
        self._frames = FrameBatcher(self._show, self)
        self._frame_shown = asyncio.Event()
        self.address: SessionAddress | None = None

    def add(self, arrival: Committed | ToolAgentEvent | Event) -> None:
        """Queue a committed event, one of an agent that runs as a tool, or a partial one."""
        self._frames.add(arrival)

    async def wait_for_capacity(self) -> None:
        """Wait until the queue is short enough to stream more into it."""
        while self._frames.waiting > MAX_QUEUED:
            self._frame_shown.clear()
            await self._frame_shown.wait()

    def flush(self) -> None:
        """Pass on now what has arrived."""
        self._frames.flush()

    def _show(self, arrived: Sequence[Committed | ToolAgentEvent | Event]) -> None:
        self._frame_shown.set()
        if self.address is None:
            return
        batch: list[Committed] = []
        for arrival in arrived:
            if isinstance(arrival, Committed):
                batch.append(arrival)
                continue
            if batch:
                self._current.add_committed(self.address, batch)
                batch = []
            if isinstance(arrival, ToolAgentEvent):
                self.tool_agent_event_arrived.emit(arrival)
            else:
                self.partial_arrived.emit(self.address, arrival)
        if batch:
            self._current.add_committed(self.address, batch)
        self.shown.emit()
