"""A watchdog that names the code that blocks the event loop.

The loop updates a heartbeat a few times a second. A daemon thread checks it and, when it is late, inspects the stack of the loop's thread.
A watchdog that was not started or rests costs nothing; a started one costs a timer and a thread that wakes twenty times a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

logger = logging.getLogger(__name__)

LIMIT = 0.25  # seconds that the loop may be blocked

_OURS = str(Path(__file__).resolve().parents[1])
_NOT_THE_AGENTS = tuple({_OURS, *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))})


@dataclass(frozen=True, slots=True)
class Block:
    """A blockage of the event loop.

    Attributes:
        function, file, line: the innermost place in the agent's own code; without any, the innermost place.
        seconds: its duration; while it lasts, the time so far.
        stack: frames as `file:line function`, outermost first.
    """

    function: str
    file: str
    line: int
    seconds: float
    stack: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.function} ({self.file}:{self.line}) blocked the event loop for {self.seconds * 1000:.0f} ms"


class Watchdog:
    """A watchdog of the event loop that it is started in.

    Args:
        on_block: called in the loop as soon as it is free again, once per blockage. The log is written while it is still blocked.
        limit: seconds that the loop may be blocked.
    """

    def __init__(self, on_block: Callable[[Block], None], limit: float = LIMIT) -> None:
        self._on_block = on_block
        self._limit = limit
        self._interval = limit / 5
        self._beat = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._stopped, self._awake = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start watching the running loop, also after `rest`; call it in the loop's thread. Does nothing if the loop is already watched."""
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        self._keep_beating(loop)
        if self._thread is not None:
            self._awake.set()
            return
        self._stopped, self._awake = threading.Event(), threading.Event()
        self._awake.set()
        self._thread = threading.Thread(
            target=self._watch, args=(loop, threading.get_ident(), self._stopped, self._awake), name="loop-watchdog", daemon=True
        )
        self._thread.start()

    def rest(self) -> None:
        """Watch no longer until `start` is called, and let the loop and the thread sleep. A blockage before is still reported."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._awake.clear()
            self._beat = time.monotonic()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        self._awake.set()
        self._thread = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _keep_beating(self, loop: asyncio.AbstractEventLoop) -> None:
        self._beat = time.monotonic()
        self._timer = loop.call_later(self._interval, self._keep_beating, loop)

    def _watch(self, loop: asyncio.AbstractEventLoop, thread_id: int, stopped: threading.Event, awake: threading.Event) -> None:
        late: tuple[float, Block] | None = None  # the last beat before the blockage, and the blockage
        while not stopped.wait(self._interval):
            beat = self._beat
            if late is not None and beat != late[0]:
                block = late[1]
                done = Block(block.function, block.file, block.line, beat - late[0], block.stack)
                late = None
                with contextlib.suppress(RuntimeError):  # the loop was closed
                    loop.call_soon_threadsafe(self._report, done, stopped)
            elif late is None and not awake.is_set():
                awake.wait()
            elif late is None and time.monotonic() - beat > self._limit + self._interval:
                frame = sys._current_frames().get(thread_id)
                if frame is not None and self._beat == beat:
                    late = (beat, _seen(frame, time.monotonic() - beat))
                    logger.warning("%s so far and still blocks it", late[1])

    def _report(self, block: Block, stopped: threading.Event) -> None:
        if not stopped.is_set():
            self._on_block(block)


def _seen(frame: FrameType, seconds: float) -> Block:
    frames = []
    above: FrameType | None = frame
    while above is not None:
        frames.append((above.f_code.co_qualname, above.f_code.co_filename, above.f_lineno))
        above = above.f_back
    name, file, line = next((place for place in frames if not place[1].startswith((*_NOT_THE_AGENTS, "<"))), frames[0])
    stack = tuple(f"{place[1]}:{place[2]} {place[0]}" for place in reversed(frames))
    return Block(name, file, line, seconds, stack)
