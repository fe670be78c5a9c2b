"""The owner of what agents have written: keeps it, and finds the event that each line belongs to."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.engines.agent_output import OutputLine

if TYPE_CHECKING:
    from runtime.events.event import Event

MAX_LINES = 20_000  # of all runs; older ones are dropped


@dataclass(slots=True)
class WrittenLine:
    """A line that an agent wrote.

    Attributes:
        number: its number, in the order of writing, from 1.
        line: the line.
        address: the session of the run; None if none was active.
        event_id: the event that it belongs to; empty as long as that is not committed.
        is_restored: whether an earlier window kept it.
    """

    number: int
    line: OutputLine
    address: SessionAddress | None = None
    event_id: str = ""
    is_restored: bool = False


class WrittenOutput(QObject):
    """What the agents of this window have written.

    A traceback belongs to the event that reports the error, if there is one. A line that a tool wrote belongs to the event with the tool's
    result; if the run ends without one, to the event with the call. Other lines belong to the next event that the same agent commits on the
    same branch; if there is none, to the run's last event.

    Signals:
        written(WrittenLine): an agent wrote a line.
        attributed(SessionAddress, list[WrittenLine]): these lines are now known to belong to events.
    """

    written = Signal(object)
    attributed = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._lines: OrderedDict[int, WrittenLine] = OrderedDict()
        self._count = 0
        self._pending: deque[WrittenLine] = deque(maxlen=MAX_LINES)
        self._by_event: dict[str, list[WrittenLine]] = {}
        self._address: SessionAddress | None = None
        self._call_events: dict[str, str] = {}  # id of a function call → the event with it, then the one with its result
        self._answered: set[str] = set()
        self._last_event = ""

    def take(self, line: OutputLine) -> None:
        """Keep a line. May be called on any thread."""
        with self._lock:
            self._count += 1
            written = WrittenLine(self._count, line, self._address)
            self._lines[written.number] = written
            if len(self._lines) > MAX_LINES:
                self._drop_oldest()
            call_id = line.source.call_id if line.source is not None else None
            if call_id in self._answered:  # written by a thread that the tool has left behind
                self._attribute([written], self._call_events[call_id or ""])
            elif self._address is not None:
                self._pending.append(written)
        self.written.emit(written)

    def begin(self, address: SessionAddress) -> None:
        """Begin a run: what is written from now on belongs to events of this session."""
        with self._lock:
            self._address = address
            self._last_event = ""
            self._call_events.clear()
            self._answered.clear()
            self._pending.clear()

    def committed(self, event: Event) -> None:
        """Find the lines that belong to an event which the run has committed."""
        with self._lock:
            self._last_event = event.id
            for call in event.get_function_calls():
                self._call_events.setdefault(call.id or "", event.id)
            answered = {response.id or "" for response in event.get_function_responses()}
            if answered:
                self._answered |= answered
                self._call_events.update(dict.fromkeys(answered, event.id))
            if not self._pending:
                return
            found: list[WrittenLine] = []
            others: list[WrittenLine] = []
            for written in self._pending:
                (found if _belongs(written.line, event, answered) else others).append(written)
            self._pending = deque(others, MAX_LINES)
            self._attribute(found, event.id)
        self._tell(found)

    def has_traceback(self, text: str) -> bool:
        """Return whether the run has reported the traceback of this exception, by the last line."""
        last = text.rstrip().rpartition("\n")[2]
        with self._lock:
            recent = [*self._pending, *(written for number in reversed(self._lines) if (written := self._lines[number]).address)]
            return any(one.line.stream == "traceback" and one.line.text.endswith(last) for one in recent[:200])

    def end(self) -> None:
        """End the run: what is left belongs to the event with the call, or to the last one."""
        with self._lock:
            found = list(self._pending)
            self._pending.clear()
            for written in found:
                call_id = written.line.source.call_id if written.line.source is not None else None
                self._attribute([written], self._call_events.get(call_id or "-", self._last_event))
            found = [written for written in found if written.event_id]
        self._tell(found)
        with self._lock:
            self._address = None

    def restore(self, address: SessionAddress, tracebacks: Iterable[tuple[str, OutputLine]]) -> None:
        """Add tracebacks of earlier windows to a session's events, unless they are known.

        Args:
            address: the session.
            tracebacks: ids of events, and their tracebacks.
        """
        found = []
        with self._lock:
            for event_id, line in tracebacks:
                if all(one.line.text != line.text for one in self._by_event.get(event_id, ())):
                    self._count += 1
                    written = self._lines[self._count] = WrittenLine(self._count, line, address, is_restored=True)
                    self._attribute([written], event_id)
                    found.append(written)
        self._tell(found)

    def of_event(self, event_id: str) -> list[OutputLine]:
        """Return the lines that belong to an event, in the order of writing."""
        with self._lock:
            return [written.line for written in self._by_event.get(event_id, ())]

    def line(self, number: int) -> WrittenLine | None:
        """Return a line by its number; None if it was dropped."""
        return self._lines.get(number)

    def _attribute(self, found: list[WrittenLine], event_id: str) -> None:
        for written in found:
            written.event_id = event_id
            if event_id:
                self._by_event.setdefault(event_id, []).append(written)

    def _drop_oldest(self) -> None:
        _, written = self._lines.popitem(last=False)
        if written.event_id and (kept := self._by_event.get(written.event_id)):
            kept.remove(written)
            if not kept:
                del self._by_event[written.event_id]

    def _tell(self, found: list[WrittenLine]) -> None:
        if found and found[0].address is not None:
            self.attributed.emit(found[0].address, found)


def _belongs(line: OutputLine, event: Event, answered: set[str]) -> bool:
    source = line.source
    if line.stream == "traceback" and event.error_code and (source is None or source.agent == event.author):
        return True
    if source is None:
        return False
    if source.call_id is not None:
        return source.call_id in answered
    return (source.agent, source.branch) == (event.author, event.branch)
