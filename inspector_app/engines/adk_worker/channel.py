"""The two descriptors that connect the worker to the inspector: messages out, commands in."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import threading
import time
from collections import deque
from typing import Any

from .plugin_file import plugin

GATHER_SECONDS = 0.002  # writing wakes the inspector, which costs more than all else about an event
BLOCKED_SECONDS = 0.02  # without a turn of the event loop, until a thread reads the commands


class Channel:
    """The descriptor that carries messages: on each line a JSON object, and after a tab the JSON of an event, if the message has one.

    Args:
        messages: descriptor to write to.
    """

    def __init__(self, messages: int) -> None:
        self._messages = messages
        self._lock = threading.Lock()
        self._unsent = b""
        self._written_at = 0.0

    def send(self, kind: str, event: str | None = None, /, **fields: Any) -> None:
        """Write a message, after all earlier ones."""
        self._write(plugin.line_of(kind, event, fields))

    def send_soon(self, kind: str, event: str | None = None, /, *, with_next: bool = False, **fields: Any) -> None:
        """Write a message at once if none was written for `GATHER_SECONDS`, else together with later ones; see `flush`.

        Args:
            kind, event, fields: see `send`.
            with_next: write it together with the next one in any case.
        """
        line = plugin.line_of(kind, event, fields)
        if not with_next and time.monotonic() - self._written_at > GATHER_SECONDS:
            self._write(line)
            return
        with self._lock:
            self._unsent += line

    def flush(self) -> None:
        """Write what is not written yet. To be called `GATHER_SECONDS` after `send_soon`."""
        if self._unsent:
            self._write(b"")

    def _write(self, line: bytes) -> None:
        with self._lock, contextlib.suppress(BrokenPipeError):  # the inspector no longer exists: the guard ends this process
            data = memoryview(self._unsent + line)
            self._unsent = b""
            while data:
                data = data[os.write(self._messages, data) :]
            self._written_at = time.monotonic()


class Commands:
    """The commands, one JSON object a line. The event loop reads them; while the agent blocks the loop, a thread does.

    Args:
        descriptor: to read from.
        take: called in the loop with each line.
        take_at_once: called with each line, on the thread that reads it. Returns whether that was all.
        in_between: called by the thread now and then, after commands have arrived, as long as it returns True.
        on_end: called in the loop when no more will come.
    """

    def __init__(self, descriptor: int, take: Any, take_at_once: Any, in_between: Any, on_end: Any) -> None:
        self._descriptor = descriptor
        self._take = take
        self._take_at_once = take_at_once
        self._in_between = in_between
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._rest = b""
        self._lines: deque[bytes] = deque()
        self._is_over = False
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self.look)
        thread = threading.Thread(target=self._watch, name="commands", daemon=True)
        for mark in ("pydev_do_not_trace", "is_pydev_daemon_thread"):  # debugpy lets it run while it holds the others
            setattr(thread, mark, True)
        thread.start()

    def look(self) -> None:
        """Take what has arrived. Called in the loop."""
        self._read()
        while self._lines:
            self._take(self._lines.popleft())
        if self._is_over:
            self._loop.remove_reader(self._descriptor)
            self._on_end()

    def _read(self) -> None:
        with self._lock:
            try:
                data = os.read(self._descriptor, 1024 * 1024)
            except BlockingIOError:
                return
            self._is_over = not data
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                if not self._take_at_once(line):
                    self._lines.append(line)

    def _watch(self) -> None:
        """Read what the loop has not read for a while: a policy or a question for the place counts even if the agent blocks the loop."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        is_busy = False
        while not self._is_over:
            if poll.poll(BLOCKED_SECONDS * 1000 if is_busy else None):
                time.sleep(BLOCKED_SECONDS)
                if poll.poll(0):
                    self._read()
                    with contextlib.suppress(RuntimeError):  # the loop is closed
                        self._loop.call_soon_threadsafe(self.look)
            is_busy = self._in_between()
