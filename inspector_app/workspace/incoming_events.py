"""What comes from a run, on its way into the window: a frame's worth at a time, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import Committed
from inspector_app.support.frame_batcher import FrameBatcher
from inspector_app.workspace.current_session import CurrentSession
from runtime.events.event import Event

MOST_WAITING = 10_000
"""Things, from which on whoever streams is kept waiting."""


@dataclass(frozen=True, slots=True)
class ToolAgentEvent:
    """An event of an agent that runs as a tool.

    Attributes:
        address: the session of the run.
        event: in no session that is kept.
        call_ids: of the function calls that lead to it, the outermost first.
    """

    address: SessionAddress
    event: Event
    call_ids: tuple[str | None, ...]


class IncomingEvents(QObject):
    """Hands on what a run commits and streams. Committed events go to the session on show, what else there is to the signals.

    Attributes:
        address: the session of the run.

    Signals:
        partial_arrived(SessionAddress, Event): a piece of streamed text; nothing is committed with it.
        tool_agent_event_arrived(ToolAgentEvent): an agent that runs as a tool yielded an event, partial ones too.
        shown: a frame's worth has been handed on.

    Args:
        browse: has the session on show.
    """

    partial_arrived = Signal(object, object)
    tool_agent_event_arrived = Signal(object)
    shown = Signal()

    def __init__(self, browse: CurrentSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._browse = browse
        self._frames = FrameBatcher(self._show, self)
        self._frame_shown = asyncio.Event()
        self.address: SessionAddress | None = None

    def add(self, arrival: Committed | ToolAgentEvent | Event) -> None:
        """Take in an event that was committed, one of an agent that runs as a tool, or a partial one."""
        self._frames.add(arrival)

    async def room(self) -> None:
        """Wait while more than enough waits to be shown: what an agent streams faster than that would only fill the memory."""
        while self._frames.waiting > MOST_WAITING:
            self._frame_shown.clear()
            await self._frame_shown.wait()

    def flush(self) -> None:
        """Hand on now what has arrived."""
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
                self._browse.add_committed(self.address, batch)
                batch = []
            if isinstance(arrival, ToolAgentEvent):
                self.tool_agent_event_arrived.emit(arrival)
            else:
                self.partial_arrived.emit(self.address, arrival)
        if batch:
            self._browse.add_committed(self.address, batch)
        self.shown.emit()
