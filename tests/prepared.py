"""`agent-inspector` processes that start in a hundredth of the time: forks of one process that has imported the program.

Each is a process of its own, with its own arguments, environment, folder, input, output and exit status. Only Python's start and the
imports are not repeated; tests of the wheel, of shells and of killed processes start the program itself. So do all where forking is not
safe.

`python -m tests.prepared` is the process that forks; it ends when its standard input does.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
_IS_SAFE = sys.platform == "linux"
# Gives its folder, environment and streams to the forking process, passes signals on, and ends as the fork does.
_CLIENT = """
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
request = json.dumps([os.getcwd(), dict(os.environ), sys.argv[2:]]).encode()
socket.send_fds(server, [len(request).to_bytes(4, "big")], [0, 1, 2])
server.sendall(request)
answers = server.makefile("rb")
pid = int(answers.readline())
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: os.kill(pid, number))
status = int(answers.readline())
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


@functools.cache
def command() -> list[str]:
    """Return the command that starts `agent-inspector`, without arguments."""
    return [str(program_folder() / "agent-inspector")] if _IS_SAFE else [sys.executable, "-m", "inspector_app"]


@functools.cache
def program_folder() -> Path:
    """Return a folder with a program `agent-inspector`, for a shell's PATH."""
    if not _IS_SAFE:
        return Path(sys.executable).parent
    folder = Path(tempfile.mkdtemp(prefix="inspector-prepared-"))
    place = folder / "socket"
    (folder / "client.py").write_text(_CLIENT)
    program = folder / "agent-inspector"
    words = map(shlex.quote, (sys.executable, "-IS", str(folder / "client.py"), str(place)))
    program.write_text(f'#!/bin/sh\nexec {" ".join(words)} "$@"\n')
    program.chmod(0o700)
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    forking = subprocess.Popen(
        [sys.executable, "-m", "tests.prepared", str(place)], cwd=ROOT, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert forking.stdin is not None and forking.stdout is not None
    assert forking.stdout.readline() == b"ready\n", "the forking process did not start"
    atexit.register(_stop, forking, folder)
    return folder


def _stop(forking: subprocess.Popen[bytes], folder: Path) -> None:
    forking.communicate(timeout=60)
    shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Import the program, and fork it for each connection until standard input ends."""
    for package in ("agents", "models", "runners", "tools", "storage.open_service"):
        importlib.import_module(f"runtime.{package}")
    for package in ("commands", "documents", "engines", "exchange", "presentation", "shell"):
        folder = ROOT / "inspector_app" / package
        for module in pkgutil.iter_modules([str(folder)], f"inspector_app.{package}."):
            importlib.import_module(module.name)
    assert len(os.listdir("/proc/self/task")) == 1, "a process with threads cannot be forked safely"  # noqa: PTH208
    tempfile.tempdir = None  # the next user asks the environment
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(sys.argv[1])
        listening.listen(64)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        gc.freeze()  # collecting would copy all of the shared memory
        while listening in select.select([listening, 0], [], [])[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _answer(connection)
            connection.close()
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _answer(connection: socket.socket) -> None:
    """Fork once more, and tell the client the fork's id and how it ends."""
    length, streams, *_ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as reader:
        request = json.loads(reader.read(int.from_bytes(length, "big")))
    pid = os.fork()
    if pid == 0:
        connection.close()
        _become(streams, *request)
    connection.sendall(b"%d\n" % pid)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(OSError):  # the client was killed
        connection.sendall(b"%d\n" % status)
    os._exit(0)


def _become(streams: list[int], folder: str, environ: dict[str, str], arguments: list[str]) -> NoReturn:
    """Run the program as a process that was just started."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    sys.argv = ["agent-inspector", *arguments]
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        errors = "backslashreplace" if number == 2 else None
        buffering = 1 if os.isatty(number) or number == 2 else -1
        stream = open(number, mode, encoding="utf-8", errors=errors, buffering=buffering, closefd=False)  # noqa: SIM115 - for its life
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    program = importlib.import_module("inspector_app.cli")
    sys.exit(program.main())


if __name__ == "__main__":
    main()
