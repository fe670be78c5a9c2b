"""Lines that agents write, in the log."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.presentation.message import Message
from inspector_app.shell.log_pane import LogPane
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.written_output import WrittenLine, WrittenOutput


class OutputLog(QObject):
    """A controller that posts what agents write, and goes from a line in the log to its event.

    Args:
        output: what agents have written.
        messages: receives the lines.
        cursor: goes to the event.
        log: the log.
    """

    def __init__(self, output: WrittenOutput, messages: MessageBus, cursor: Cursor, log: LogPane) -> None:
        super().__init__(log)
        self._output = output
        self._messages = messages
        self._cursor = cursor
        output.written.connect(self._on_written)
        log.line_chosen.connect(self._on_line_chosen)

    def _on_written(self, written: WrittenLine) -> None:
        line = written.line
        source = f"{line.source} · " if line.source is not None and str(line.source) else ""
        first, _, rest = line.text.partition("\n")
        if line.stream == "traceback":
            text = f"{source}{line.text.rpartition(chr(10))[2]}"
            self._messages.post(Message("warning", text, line.text, quiet=True, line=written.number))
        else:
            self._messages.post(Message("info", f"{source}{line.stream}: {first}", rest and line.text, quiet=True, line=written.number))

    def _on_line_chosen(self, number: int) -> None:
        written = self._output.line(number)
        if written is not None and written.event_id and written.address is not None:
            self._cursor.request(written.address, written.event_id)
