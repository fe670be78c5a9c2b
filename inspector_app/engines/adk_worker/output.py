"""Marks in the agent's output that say which agent or tool wrote it."""

from __future__ import annotations

import json
import threading
from typing import Any

MARK, MARK_END = "\x1f", "\x1e"  # around what is running, in the agent's output


class MarkedStream:
    """A text stream that writes a mark where the source of what follows changes: `MARK`, the source as JSON, `MARK_END`.

    Args:
        stream: the stream behind it.
        source: returns what is running; None if that is not known.
    """

    def __init__(self, stream: Any, source: Any) -> None:
        self._stream = stream
        self._source = source
        self._last: Any = None
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        """Write a text, after a mark if its source is another one."""
        source = self._source()
        with self._lock:
            if source != self._last:
                self._last = source
                self._stream.write(f"{MARK}{json.dumps(source) if source is not None else ''}{MARK_END}")
            return int(self._stream.write(text))

    def writelines(self, lines: Any) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
