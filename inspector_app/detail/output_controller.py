"""What the agent wrote during the selected event, with tracebacks of earlier windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector_app.detail.event_detail import EventDetail
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import SessionDocument
from inspector_app.engines.agent_output import OutputLine
from inspector_app.presentation.values import clock_ms, counted, visible
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.traceback_store import TracebackStore
from inspector_app.workspace.written_output import WrittenLine, WrittenOutput
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event

MAX_SHOWN = 2_000  # lines of one event; the first and the last half


class OutputController(QObject):
    """A controller that fills the card of output, and keeps tracebacks.

    Args:
        output: what agents have written.
        store: keeps tracebacks.
        current: the displayed session.
        tasks: runs reading and writing of the store.
        detail: the view with the tab.
    """

    def __init__(self, output: WrittenOutput, store: TracebackStore, current: CurrentSession, tasks: Tasks, detail: EventDetail) -> None:
        super().__init__(detail)
        self._output = output
        self._store = store
        self._tasks = tasks
        self._detail = detail
        detail.event_shown.connect(self._show)
        output.attributed.connect(self._on_attributed)
        current.session_loaded.connect(self._on_session_loaded)

    def _show(self, event: Event) -> None:
        lines = self._output.of_event(event.id)
        tracebacks = [line for line in lines if line.stream == "traceback"]
        # First: google-adk logs the same error with all its own frames.
        self._detail.set_output(output_title(lines), output_text([*tracebacks, *(line for line in lines if line.stream != "traceback")]))

    def _on_attributed(self, address: SessionAddress, found: Sequence[WrittenLine]) -> None:
        shown = self._detail.shown_event
        if shown is not None and any(written.event_id == shown.id for written in found):
            self._show(shown)
        tracebacks = [(written.event_id, written.line) for written in found if written.line.stream == "traceback" and written.event_id]
        if tracebacks and not all(written.is_restored for written in found):
            self._tasks.spawn(run_in_thread(self._store.keep, address, tracebacks), "Keeping a traceback")

    def _on_session_loaded(self, session: SessionDocument) -> None:
        self._tasks.spawn(self._restore(session.address), "Reading tracebacks")

    async def _restore(self, address: SessionAddress) -> None:
        self._output.restore(address, await run_in_thread(self._store.read, address))


def output_title(lines: Sequence[OutputLine]) -> str:
    """Return what lines are; an exception that was raised outside the agent's code has a message alone."""
    errors = [line.text for line in lines if line.stream == "traceback"]
    if errors:
        return "Traceback" if any('  File "' in text for text in errors) else "Error"
    return f"Output · {counted(len(lines), 'line')}" if lines else "Output"


def output_text(lines: Sequence[OutputLine]) -> str:
    """Return lines as text: each with its time and stream, a traceback as it is."""
    if len(lines) > MAX_SHOWN:
        half = MAX_SHOWN // 2
        left = f"… {len(lines) - 2 * half:,} more lines …"
        return "\n".join((*(_text(line) for line in lines[:half]), left, *(_text(line) for line in lines[-half:])))
    return "\n".join(_text(line) for line in lines)


def _text(line: OutputLine) -> str:
    text = "\n".join(visible(one) for one in line.text.split("\n"))
    return f"{text}\n" if line.stream == "traceback" else f"{clock_ms(line.time)}  {line.stream:<7}  {text}"
