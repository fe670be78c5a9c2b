"""The inspector's side of a child process that runs an agent: starts it, exchanges messages with it, ends it.

All methods are called on the event loop's thread. The loop watches the child's descriptors, so nothing here blocks: not when the child
blocks, writes without end, or is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from inspector_app.engines.adk_worker.output import MARK as MARK_TEXT
from inspector_app.engines.adk_worker.output import MARK_END as MARK_END_TEXT
from inspector_app.engines.agent_output import MAX_LINE, MAX_LINES_A_SECOND, OnOutput, OutputLine, OutputSource, source_from_child
from runtime.errors import KnownError
from runtime.support.quick_json import from_json

PROTOCOL = 3  # as in inspector_plugin.py

ENGINE_VARIABLE = "AGENT_INSPECTOR_ENGINE"  # as in inspector_plugin.py, which does not listen in processes of an engine

WORKER = Path(__file__).with_name("adk_worker") / "__main__.py"

READ_SIZE = 256 * 1024  # bytes at once: what a pipe holds, and more
DRAIN_READS = 64  # at a child's end; a pipe holds 1 MB at most
MAX_MESSAGE = 512 * 1024 * 1024  # bytes; a longer line is no message of ours
MAX_QUEUED = 2_000  # messages; the child is not read while more wait to be taken
TAIL_LINES = 40  # last lines of stderr, for the details of the message about a crash
TAIL_SHOWN = 4  # of them in the message itself
MAX_TAIL_LINE = 160  # characters of such a line
MARK, MARK_END = MARK_TEXT.encode(), MARK_END_TEXT.encode()  # around the source of what follows, in the output
MAX_MARK = 4_096  # bytes; a longer piece without an end is no mark
_MARKS = re.compile(MARK + rb"([^\x1e\x1f\n]*)" + MARK_END)
GUARD_SECONDS = 1.0  # for the guard to kill all others, until its own group is killed
STOP_SECONDS = 5.0  # for a run to end after `stop`, until the child is killed


class ChildError(KnownError):
    """The child answered a request with an error.

    Attributes:
        kind: the type's name of the exception in the child.
        traceback: its traceback from the agent's own code on, if any.
        file, line: the place in the agent's code, if known.
        path, choices: the path, and the names of the agents to choose from, if it holds agents and is none.
    """

    def __init__(self, error: Mapping[str, Any]) -> None:
        self.kind = str(error.get("type") or "Error")
        self.traceback: str | None = error.get("traceback") or None
        self.file: str | None = error.get("file")
        self.line: int | None = error.get("line")
        self.path = str(error.get("path") or "")
        self.choices: tuple[str, ...] = tuple(error.get("choices") or ())
        text = str(error.get("message") or "")
        if self.kind not in ("WorkerError", "ProtocolError"):
            text = f"{self.kind}: {text}" if text else self.kind
            if self.file is not None and f"line {self.line}" not in text:
                text = f"{text.removesuffix('.')} ({error.get('within') or Path(self.file).name}, line {self.line})."
        super().__init__(text)


class ChildEndedError(KnownError):
    """The child process has ended; the message says how, with its last lines on stderr.

    Attributes:
        status: its exit status; negative: the signal that ended it.
        tail: its last lines on stderr.
        traceback: these lines as one text; None if there are none.
    """

    def __init__(self, what: str, status: int | None, tail: tuple[str, ...]) -> None:
        last = "".join(f"\n    {line[:MAX_TAIL_LINE]}" for line in tail[-TAIL_SHOWN:])
        super().__init__(f"{what} Its last lines on stderr:{last}" if tail else what)
        self.status = status
        self.tail = tail
        self.traceback = "\n".join(tail) or None


class _Output:
    """One of the child's output streams, line by line."""

    def __init__(self, name: Literal["stdout", "stderr"], descriptor: int, on_line: OnOutput) -> None:
        self.name = name
        self.descriptor = descriptor
        self._on_line = on_line
        self._source: OutputSource | None = None
        self._rest = b""
        self._half_mark = b""
        self._second = 0
        self._lines = 0
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take what was read; report whole lines."""
        data = self._half_mark + data
        self._half_mark = b""
        begin = data.rfind(MARK)
        if begin >= 0 and data.find(MARK_END, begin) < 0 and len(data) - begin < MAX_MARK:
            data, self._half_mark = data[:begin], data[begin:]
        text, *marked = _MARKS.split(data)
        self._feed(text)
        for mark, text in zip(marked[::2], marked[1::2], strict=True):
            self._set_source(mark)
            self._feed(text)

    def _set_source(self, mark: bytes) -> None:
        if self._rest:  # a line that another source continues
            self._report(self._rest)
            self._rest = b""
        self._source = _source(mark)

    def _feed(self, data: bytes) -> None:
        self._start_second()
        if self._lines >= MAX_LINES_A_SECOND:
            self._drop(data)
            return
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:MAX_LINE]
        for number, line in enumerate(lines):
            if self._lines >= MAX_LINES_A_SECOND:
                self._dropped += len(lines) - number
                break
            self._report(line)

    def finish(self) -> None:
        """Report the last line, which has no end."""
        self._report_dropped()
        if self._rest:
            self._report(self._rest)
            self._rest = b""

    def _drop(self, data: bytes) -> None:
        self._dropped += data.count(b"\n")
        self._rest = (self._rest + data.rpartition(b"\n")[2])[:MAX_LINE]

    def _start_second(self) -> None:
        now = int(time.monotonic())
        if now != self._second:
            self._second, self._lines = now, 0
            self._report_dropped()

    def _report_dropped(self) -> None:
        if self._dropped:
            count, self._dropped = self._dropped, 0
            text = f"({count:,} lines are not shown: the agent writes more than {MAX_LINES_A_SECOND:,} a second.)"
            self._on_line(OutputLine(self.name, text, self._source))

    def _report(self, line: bytes) -> None:
        self._lines += 1
        text = line.rstrip(b"\r").decode("utf-8", "replace")
        self._on_line(OutputLine(self.name, text if len(text) <= MAX_LINE else text[:MAX_LINE] + "…", self._source))


class ChildProcess:
    """One child process and the messages to and from it.

    Args:
        python: the Python that runs it.
        on_output: called with each line that the child writes.
        on_ended: called once, with the error that says how it ended; also after `close`.
        environ: its environment variables; None means ours.
        embedded: run agents on the embedded runtime in place of google-adk.
    """

    def __init__(
        self,
        python: str | Path,
        on_output: OnOutput = lambda line: None,
        on_ended: Callable[[ChildEndedError], None] = lambda error: None,
        *,
        environ: Mapping[str, str] | None = None,
        embedded: bool = False,
    ) -> None:
        self._python = str(python)
        self._mode = ["embedded"] if embedded else []
        self._on_output = on_output
        self._on_ended = on_ended
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._commands = self._messages = self._lifeline = -1
        self._outputs: list[_Output] = []
        self._unsent = bytearray()
        self._rest = bytearray()
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._queue: deque[dict[str, Any]] = deque()
        self._arrived = asyncio.Event()
        self._is_reading = False
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._ended: ChildEndedError | None = None
        self._has_exited = asyncio.Event()
        self._is_closing = False
        self._reason = ""
        self.hello: dict[str, Any] = {}

    @property
    def pid(self) -> int | None:
        """The id of the process that runs the agent; None before it has reported."""
        return self.hello.get("pid")

    @property
    def guard_pid(self) -> int | None:
        """The id of the process that was started, which waits for the one that runs the agent."""
        return self._process.pid if self._process is not None else None

    @property
    def ended(self) -> ChildEndedError | None:
        """How the child ended; None while it runs."""
        return self._ended

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines on stderr."""
        return tuple(self._tail)

    def forget_tail(self) -> None:
        """Drop the last lines on stderr: they belong to what was done before."""
        self._tail.clear()

    async def start(self, seconds: float = 30.0) -> dict[str, Any]:
        """Start the child and return its first message, `hello`.

        Args:
            seconds: to wait for it at most.

        Raises:
            ChildEndedError: it cannot be started, or ended at once.
        """
        if sys.platform == "win32":
            raise ChildEndedError("An agent can run in a process of its own on Linux and macOS only.", None, ())
        self._loop = asyncio.get_running_loop()
        self._process = self._spawn()
        _enlarge(self._messages)
        self._watch()
        threading.Thread(target=self._wait, args=(self._process, self._loop), name="child", daemon=True).start()
        try:
            hello = await asyncio.wait_for(self.receive(), seconds)
        except TimeoutError:
            self._reason = f"{self._python} did not report within {seconds:g} s, and was ended."
            await self.close(0)
            assert self._ended is not None
            raise self._ended from None
        if hello.get("type") != "hello" or hello.get("protocol") != PROTOCOL:
            self._fail(f"{self._python} did not answer as expected.")
            raise ChildEndedError(f"{self._python} did not answer as expected.", None, self.tail)
        self.hello = hello
        return hello

    async def request(
        self, kind: str, seconds: float | None = None, *, proceeds: Callable[[], Awaitable[bool]] | None = None, **fields: Any
    ) -> Any:
        """Send a request and return its answer.

        Args:
            kind: its `type`.
            seconds: to wait at most; None: for ever.
            proceeds: called after these seconds; the wait is repeated if it returns True.
            **fields: its other fields.

        Raises:
            ChildError: the child answered with an error.
            ChildEndedError: the child has ended.
            TimeoutError: there was no answer in time; the child still runs.
        """
        if self._ended is not None:
            raise self._ended
        assert self._loop is not None
        number = next(self._ids)
        answer = self._answers[number] = self._loop.create_future()
        self.send(kind, id=number, **fields)
        try:
            while not answer.done():
                await asyncio.wait({answer}, timeout=seconds)
                if not answer.done() and (proceeds is None or not await proceeds()):
                    break
            if not answer.done():
                raise TimeoutError
            return answer.result()
        finally:
            self._answers.pop(number, None)
            if answer.done():
                answer.exception()  # asyncio logs an error that is not read, as after a cancellation

    def send(self, kind: str, **fields: Any) -> None:
        """Send a command without waiting. After the child's end, or once it is being killed, it is dropped."""
        if self._ended is None and self._lifeline >= 0:
            self._unsent += json.dumps({"type": kind, **fields}).encode() + b"\n"
            self._write()

    async def receive(self) -> dict[str, Any]:
        """Return the next message that answers no request.

        Raises:
            ChildEndedError: the child has ended, and its last message was returned.
        """
        while not self._queue:
            if self._ended is not None:
                raise self._ended
            self._arrived.clear()
            await self._arrived.wait()
        message = self._queue.popleft()
        if not self._is_reading and len(self._queue) < MAX_QUEUED // 2:
            self._read_on()
        return message

    async def where(self, seconds: float = 1.0) -> list[dict[str, Any]]:
        """Return the stack of the agent's thread, innermost frame last; empty if the child cannot answer."""
        with contextlib.suppress(TimeoutError, ChildError, ChildEndedError):
            stack: list[dict[str, Any]] = await self.request("where", seconds)
            return stack
        return []

    async def modules(self, seconds: float) -> int:
        """Return how many modules the child has imported, which it answers also while it imports; 0 if it cannot answer in time."""
        with contextlib.suppress(TimeoutError, ChildError, ChildEndedError):
            count: int = await self.request("modules", seconds)
            return count
        return 0

    async def close(self, seconds: float = 2.0) -> None:
        """End the child, and all processes that it has left behind.

        Args:
            seconds: for it to end by itself; 0: kill it at once.
        """
        if self._process is None:
            return
        self._is_closing = True
        if seconds > 0 and self._ended is None:
            self.send("quit")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._has_exited.wait(), seconds)
        self.kill()
        await self._has_exited.wait()

    async def wait_until_ended(self) -> None:
        """Wait until the child has ended, and its last message was taken."""
        await self._has_exited.wait()

    def kill(self, reason: str = "") -> None:
        """Kill the child, and all processes that it has left behind. Returns at once; `on_ended` follows.

        Args:
            reason: a sentence that says why, for the error.
        """
        self._reason = self._reason or reason
        if self._lifeline >= 0:
            os.close(self._lifeline)  # the guard kills the worker and all below it
            self._lifeline = -1
            if self._loop is not None:
                self._loop.call_later(GUARD_SECONDS if self.hello else 0, self._kill_group)

    def _kill_group(self) -> None:
        """Kill the processes that were started, if the guard has not done it: it may not have begun its work."""
        if self._ended is None and self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _spawn(self) -> subprocess.Popen[bytes]:
        commands, self._commands = os.pipe()
        self._messages, messages = os.pipe()
        lifeline, self._lifeline = os.pipe()
        theirs = (commands, messages, lifeline)
        try:
            return subprocess.Popen(
                [self._python, str(WORKER), *map(str, theirs), *self._mode],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=theirs,
                start_new_session=True,
                env={**(os.environ if self._environ is None else self._environ), ENGINE_VARIABLE: "1"},
            )
        except OSError as error:
            for descriptor in (self._commands, self._messages, self._lifeline):
                os.close(descriptor)
            self._ended = ChildEndedError(f"{self._python} cannot be started: {error.strerror or error}.", None, ())
            raise self._ended from None
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    def _watch(self) -> None:
        assert self._process is not None and self._process.stdout is not None and self._process.stderr is not None
        self._outputs = [
            _Output("stdout", self._process.stdout.fileno(), self._take_output),
            _Output("stderr", self._process.stderr.fileno(), self._take_output),
        ]
        for descriptor in (self._commands, self._messages, *(output.descriptor for output in self._outputs)):
            os.set_blocking(descriptor, False)
        assert self._loop is not None
        for output in self._outputs:
            self._loop.add_reader(output.descriptor, self._read_output, output)
        self._read_on()

    def _read_on(self) -> None:
        if self._loop is not None and self._messages >= 0 and not self._is_reading:
            self._is_reading = True
            self._loop.add_reader(self._messages, self._read_messages)

    def _pause_reading(self) -> None:
        if self._loop is not None and self._messages >= 0 and self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._messages)

    def _read_messages(self) -> bool:
        """Take what has arrived; return whether that was anything."""
        try:
            data = os.read(self._messages, READ_SIZE)
        except BlockingIOError:
            return False
        if not data:
            self._pause_reading()
            return False
        for output in self._outputs:  # what was written before an event is reported before it
            self._read_output(output)
        if data.find(b"\n") < 0:
            self._rest += data
        else:
            *lines, rest = (bytes(self._rest) + data).split(b"\n")
            self._rest = bytearray(rest)
            for line in lines:
                self._take_line(line)
        if len(self._rest) > MAX_MESSAGE:
            self._fail("The child sent a message that is too long.")
        if len(self._queue) > MAX_QUEUED:
            self._pause_reading()
        return True

    def _take_line(self, line: bytes) -> None:
        head, tab, event = line.partition(b"\t")
        try:
            message = _parsed(head)
            kind = message["type"]
            if tab:
                message["event"] = event
        except (ValueError, KeyError, TypeError, RecursionError):
            self._fail(f"The child sent a line that is no message: {line[:80].decode('utf-8', 'replace')}")
            return
        if kind in ("answer", "error"):
            answer = self._answers.get(message.get("id"))
            if answer is not None and not answer.done():
                if kind == "answer":
                    answer.set_result(message.get("value"))
                else:
                    answer.set_exception(ChildError(message.get("error") or {}))
                return
            if kind == "answer":
                return  # too late
        self._queue.append(message)
        self._arrived.set()

    def _read_output(self, output: _Output) -> bool:
        """Take what the agent has written; return whether that was anything."""
        if output.descriptor < 0:
            return False
        try:
            data = os.read(output.descriptor, READ_SIZE)
        except BlockingIOError:
            return False
        if not data:
            self._finish_output(output)
            return False
        output.feed(data)
        return True

    def _finish_output(self, output: _Output) -> None:
        assert self._loop is not None
        self._loop.remove_reader(output.descriptor)
        output.descriptor = -1
        output.finish()

    def _take_output(self, line: OutputLine) -> None:
        if line.stream == "stderr":
            self._tail.append(line.text)
        self._on_output(line)

    def _write(self) -> None:
        assert self._loop is not None
        try:
            while self._unsent:
                del self._unsent[: os.write(self._commands, self._unsent)]
        except BlockingIOError:
            self._loop.add_writer(self._commands, self._write)
            return
        except BrokenPipeError:
            self._unsent.clear()
        self._loop.remove_writer(self._commands)

    def _fail(self, reason: str) -> None:
        self.kill(reason)

    def _wait(self, process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop) -> None:
        """Wait for the end, on a thread of its own, and kill what is left of the child's process group."""
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its id is not given to another process before it is collected
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._on_exit)

    def _on_exit(self) -> None:
        """Take what the child has written last, and report its end."""
        assert self._process is not None and self._loop is not None
        self._drain()
        status = self._process.returncode
        self._ended = ChildEndedError(self._reason or self._how(status), status, () if self._is_closing else self.tail)
        if self._is_reading:
            self._pause_reading()
        self._loop.remove_writer(self._commands)
        for output in self._outputs:
            if output.descriptor >= 0:
                self._finish_output(output)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        for descriptor in (self._commands, self._messages, self._lifeline):
            if descriptor >= 0:
                os.close(descriptor)
        self._commands = self._messages = self._lifeline = -1
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(self._ended)
        self._arrived.set()
        self._has_exited.set()
        self._on_ended(self._ended)

    def _drain(self) -> None:
        """Read what is left in the pipes: all processes that wrote into them have ended, or are no longer ours."""
        for output in self._outputs:
            for _ in range(DRAIN_READS):
                if not self._read_output(output):
                    break
        for _ in range(DRAIN_READS):
            if self._messages < 0 or not self._read_messages():
                break
        self._rest.clear()  # half a message

    def _how(self, status: int) -> str:
        if self._is_closing:
            return "The agent's process was ended."
        if status < 0:
            return f"The agent's process was killed by {_signal_name(-status)}."
        return f"The agent's process ended by itself, with exit status {status}."


def _parsed(line: bytes) -> Any:
    """Return the value of JSON text. Python's own parser accepts half a surrogate pair, too."""
    try:
        return from_json(line)
    except ValueError:
        return json.loads(line)


def _source(mark: bytes) -> OutputSource | None:
    try:
        return source_from_child(json.loads(mark))
    except ValueError:  # no source, or the agent's own bytes
        return None


def _enlarge(descriptor: int) -> None:
    """Give a pipe its largest size: fewer switches between the processes while much is streamed."""
    with contextlib.suppress(OSError, AttributeError, ImportError):  # Linux only
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, 1024 * 1024)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
