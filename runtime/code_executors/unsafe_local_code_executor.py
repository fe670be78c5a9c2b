"""Execution of models' code on this machine, without a sandbox."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from typing import Any

from pydantic import Field, PrivateAttr, field_validator

from runtime.code_executors.base_code_executor import BaseCodeExecutor
from runtime.code_executors.code_execution_utils import CodeExecutionInput, CodeExecutionResult
from runtime.support.environment import harmless_variables
from runtime.support.process_tree import ProcessTree

MAX_OUTPUT = 1_000_000  # bytes of each stream; the rest is read and dropped, as a model's request must hold it
MAX_MEMORY = 4 << 30  # bytes of address space; libraries such as NumPy reserve more than they use
MAX_FILE = 256 << 20  # bytes of a file that a program writes
_IS_SCRIPT = re.compile(r"""if\s+__name__\s*==\s*['"]__main__['"]""")

# Runs in the child. The program comes by the standard input, as arguments have a maximum size, and sees only itself in its traceback.
_CHILD = f"""
import sys, traceback
try:
    import resource
    for kind, most in (("AS", {MAX_MEMORY}), ("FSIZE", {MAX_FILE}), ("CORE", 0)):
        resource.setrlimit(getattr(resource, "RLIMIT_" + kind), (most, most))
except (ImportError, ValueError, OSError):
    pass
scope = {{"__name__": sys.argv.pop()}}
source = sys.stdin.buffer.read().decode("utf-8")
try:
    exec(compile(source, "<code>", "exec"), scope)
except SystemExit:
    raise
except BaseException as error:
    below = error.__traceback__ and error.__traceback__.tb_next
    traceback.print_exception(type(error), error, below)
    sys.exit(1)
"""


class UnsafeLocalCodeExecutor(BaseCodeExecutor):
    """Runs models' code in a Python process on this machine. UNSAFE: the code may do anything that the user of this program may do.

    A program has limits of time, memory, file size and output. It does not see the variables of this process's environment, among which
    keys may be, but it can read the user's files and use the network. Use it only with models and users that you trust.

    Attributes:
        timeout_seconds: maximum duration of a program; no limit if None.
        stateful: must be False: each program has a process of its own.
    """

    stateful: bool = Field(default=False, frozen=True, exclude=True)
    optimize_data_file: bool = Field(default=False, frozen=True, exclude=True)
    timeout_seconds: int | None = 300

    _running: dict[int, tuple[str | None, ProcessTree]] = PrivateAttr(default_factory=dict)

    @field_validator("stateful")
    @classmethod
    def _keep_no_state(cls, value: bool) -> bool:
        if value:
            raise ValueError("Cannot set `stateful=True` in UnsafeLocalCodeExecutor. Each program has a process of its own.")
        return value

    @field_validator("optimize_data_file")
    @classmethod
    def _prepare_no_data_files(cls, value: bool) -> bool:
        if value:
            raise ValueError("Cannot set `optimize_data_file=True` in UnsafeLocalCodeExecutor. Each program has a process of its own.")
        return value

    def execute_code(self, invocation_context: Any, code_execution_input: CodeExecutionInput) -> CodeExecutionResult:
        """Run a program; see `BaseCodeExecutor.execute_code`. After its time the program and all processes that it started are killed."""
        code = code_execution_input.code
        environment = harmless_variables() | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONIOENCODING": "utf-8"}
        process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, "__main__" if _IS_SCRIPT.search(code) else "__code__"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # so that its children can be killed with it
        )
        tree = ProcessTree(process)
        self._running[process.pid] = (getattr(invocation_context, "invocation_id", None), tree)
        try:
            printed, failed, timed_out = _communicate(process, tree, code.encode(), self.timeout_seconds)
        finally:
            del self._running[process.pid]
        error = failed if process.returncode else ""  # what a successful program wrote there are only warnings
        if timed_out:
            error = f"{error}\nCode execution timed out after {self.timeout_seconds} seconds.".lstrip()
        elif process.returncode and not error:
            error = f"The code ended with status {process.returncode}."
        return CodeExecutionResult(stdout=printed, stderr=error, exit_code=process.returncode)

    def stop(self, invocation_context: Any) -> None:
        """Kill the invocation's programs; see `BaseCodeExecutor.stop`."""
        for invocation_id, tree in [*self._running.values()]:
            if invocation_id == getattr(invocation_context, "invocation_id", None):
                tree.send("SIGKILL")


def _communicate(process: subprocess.Popen[bytes], tree: ProcessTree, sent: bytes, seconds: float | None) -> tuple[str, str, bool]:
    """Send a program and read its output; return both streams' text, and whether its time was over."""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    kept: tuple[bytearray, bytearray] = (bytearray(), bytearray())
    readers = [
        threading.Thread(target=_read, args=(stream, into), daemon=True)
        for stream, into in zip((process.stdout, process.stderr), kept, strict=True)
    ]
    for reader in readers:
        reader.start()
    timed_out = False
    try:
        with process.stdin:
            process.stdin.write(sent)
    except OSError:  # it ended before it had read everything
        pass
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        timed_out = True
    tree.send("SIGKILL")  # also what the program started and left behind, which would keep the streams open
    process.wait()
    for reader in readers:
        reader.join()
    printed, failed = (part.decode("utf-8", "replace") for part in kept)
    return printed, failed, timed_out


def _read(stream: Any, into: bytearray) -> None:
    with stream:
        while chunk := stream.read1(65_536):
            into += chunk[: MAX_OUTPUT - len(into)]
