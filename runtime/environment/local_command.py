"""A command of the shell on this machine, and the end of everything that it started."""

from __future__ import annotations

import signal
import subprocess
import threading
from pathlib import Path
from typing import IO

from runtime.environment.base_environment import ExecutionResult
from runtime.support.process_tree import ProcessTree

MAX_OUTPUT = 10_000_000  # bytes of each stream; the rest is read and dropped, so that a command cannot fill the memory
GRACE_SECONDS = 5.0  # between asking a command to end and killing it


class LocalCommand:
    """Runs a command once, in a process group of its own. `run` is called on a worker thread, `stop` on any thread.

    Args:
        command: the shell's command line. Its standard input is empty.
        folder: where it runs.
        variables: its environment.
    """

    def __init__(self, command: str, folder: Path, variables: dict[str, str]) -> None:
        self._command, self._folder, self._variables = command, folder, variables
        self._process: subprocess.Popen[bytes] | None = None
        self._tree: ProcessTree | None = None
        self._stopped = False
        self._changing = threading.Lock()
        self._ended = threading.Event()
        self._output, self._errors = bytearray(), bytearray()

    def run(self, seconds: float | None) -> ExecutionResult:
        """Run it until it has ended and nothing writes its output any more, and return what it wrote.

        Args:
            seconds: its maximum duration, after which it and all that it started are killed; no limit if None.
        """
        with self._changing:
            if self._stopped:
                return ExecutionResult(exit_code=-signal.SIGTERM)
            self._process = process = subprocess.Popen(
                self._command,
                shell=True,  # this is what the tool is for
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._folder,
                env=self._variables,
                start_new_session=True,  # so that its children can be killed with it
            )
            self._tree = ProcessTree(process)
        threading.Thread(target=self._follow, args=(process,), daemon=True).start()
        timed_out = not self._ended.wait(seconds)
        if timed_out:
            self._terminate()
        return ExecutionResult(process.returncode or 0, _text(self._output), _text(self._errors), timed_out)

    def stop(self) -> None:
        """Kill it and what it started, also what it left behind when it ended. Returns at once."""
        with self._changing:
            self._stopped = True
            self._send("SIGKILL")

    def wait_until_stopped(self) -> None:
        """Wait until a stopped command has ended, for as long as the killing may take."""
        if self._process is not None:
            self._ended.wait(GRACE_SECONDS)
        self._ended.set()  # if it was never started, or a process in a session of its own holds its streams

    @property
    def is_needed(self) -> bool:
        """Whether there is something to stop: it has not ended, or processes that it started have not."""
        return not self._ended.is_set() or (self._tree is not None and self._tree.is_left)

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None and process.stderr is not None
        errors = threading.Thread(target=_read, args=(process.stderr, self._errors), daemon=True)
        errors.start()
        _read(process.stdout, self._output)
        errors.join()
        process.wait()
        self._ended.set()

    def _terminate(self) -> None:
        self._send("SIGTERM")
        self._ended.wait(GRACE_SECONDS)
        self._send("SIGKILL")  # also a child that ignored the request, whose output goes elsewhere
        self._ended.wait(GRACE_SECONDS)

    def _send(self, name: str) -> None:
        if self._process is not None and self._tree is not None and (self._process.poll() is None or self._tree.is_left):
            self._tree.send(name)


def _read(stream: IO[bytes], into: bytearray) -> None:
    with stream:
        while chunk := stream.read1(65_536):  # type: ignore[attr-defined]
            into += chunk[: MAX_OUTPUT - len(into)]


def _text(written: bytearray) -> str:
    return bytes(written).decode("utf-8", "replace")
