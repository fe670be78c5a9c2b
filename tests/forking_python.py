"""The program of a Python that imports modules once and is forked for each start; see `prepared_pythons`.

`python forking_python.py DESCRIPTOR MODULE…` takes requests from the socket with that descriptor until it is closed. It runs where our
packages are not installed.
"""

from __future__ import annotations

import builtins
import fcntl
import gc
import importlib
import json
import os
import runpy
import socket
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any

MAX_DESCRIPTORS = 16  # of one process
FREE = 500  # descriptors from this number on are no process's own


def fork_for_requests(server: socket.socket) -> dict[str, Any]:
    """Fork for each request. Return in the forks, with the request; the process itself ends with the connection."""
    while True:
        head, descriptors, _, _ = socket.recv_fds(server, 4, MAX_DESCRIPTORS)
        if not head:
            os._exit(0)
        data = b""
        length = int.from_bytes(head, "big")
        while len(data) < length:
            data += server.recv(length - len(data))
        request: dict[str, Any] = json.loads(data)
        told, tell = os.pipe()
        between = os.fork()
        if between == 0:
            between = os.getpid()
            pid = os.fork()
            if pid:
                os.write(tell, b"%d" % pid)
                os._exit(0)
            server.close()
            os.close(told)
            os.close(tell)
            _place(descriptors, request["descriptors"])
            while os.getppid() == between:  # until the process that asked is the parent
                time.sleep(0.0005)
            return request
        os.close(tell)
        for descriptor in descriptors:
            os.close(descriptor)
        os.waitpid(between, 0)
        server.sendall(os.read(told, 32).rjust(32))
        os.close(told)


def _place(descriptors: list[int], numbers: list[int]) -> None:
    """Give the received descriptors their numbers."""
    free = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, FREE) for descriptor in descriptors]
    for descriptor in descriptors:
        os.close(descriptor)
    for descriptor, number in zip(free, numbers, strict=True):
        os.dup2(descriptor, number, inheritable=True)
        os.close(descriptor)


def become(request: dict[str, Any], path: list[str]) -> Callable[[], object]:
    """Make this process what Python's start makes of the request; return what runs it as `__main__`."""
    if request["session"]:
        os.setsid()
    os.environ.clear()
    os.environ.update(request["environ"])
    os.chdir(request["folder"])
    place = next((os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)), "C")
    usual = "surrogateescape" if place in ("C", "POSIX", "C.UTF-8") else "strict"
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        errors = "backslashreplace" if number == 2 else usual
        buffering = 1 if number == 2 else -1
        stream = open(number, mode, encoding="utf-8", errors=errors, buffering=buffering, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    warnings.resetwarnings()
    if request["quiet"] or os.environ.get("PYTHONWARNINGS") == "ignore":
        warnings.simplefilter("ignore")
    sys.modules["__main__"] = ModuleType("__main__")
    main = sys.modules["__main__"].__dict__
    prefix, sys.executable = sys.prefix, request["python"]
    sys.prefix = sys.exec_prefix = os.path.dirname(os.path.dirname(sys.executable))  # noqa: PTH120
    path = [sys.prefix + entry[len(prefix) :] if entry.startswith(prefix) else entry for entry in path]
    main["__builtins__"] = builtins
    sys.argv = request["words"]
    first, kind, what = "", request["kind"], request["what"]
    if kind == "file":
        main["__file__"] = what
        first = os.path.dirname(os.path.realpath(what))  # noqa: PTH120
    elif kind == "module":
        first = request["folder"]
    more = os.environ.get("PYTHONPATH")
    sys.path[:] = [first, *(more.split(os.pathsep) if more else ()), *path]
    sys.path_importer_cache.clear()
    if kind == "code":
        return partial(exec, compile(what, "<string>", "exec", dont_inherit=True), main)
    if kind == "module":
        return partial(runpy._run_module_as_main, what)  # type: ignore[attr-defined]  # as Python's start does
    with open(what, "rb") as file:  # noqa: PTH123
        return partial(exec, compile(file.read(), what, "exec", dont_inherit=True), main)


def run(program: Callable[[], object]) -> None:
    """Run the program; report an exception as Python does, without the frames of this file."""
    try:
        program()
    except SystemExit:
        raise
    except BaseException as error:
        error.__traceback__ = error.__traceback__.tb_next if error.__traceback__ else None
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)


def main() -> None:
    """Import the modules, and fork."""
    server = socket.socket(fileno=int(sys.argv[1]))
    path = sys.path[1:]
    sys.path[:] = path
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sys.argv[2:]:
            with suppress(ImportError):  # other versions have other modules
                importlib.import_module(name)
    assert len(os.listdir("/proc/self/task")) == 1, "a process with threads cannot be forked safely"  # noqa: PTH208
    gc.collect()
    gc.freeze()  # collecting would copy all of the shared memory
    run(become(fork_for_requests(server), path))


if __name__ == "__main__":
    main()
