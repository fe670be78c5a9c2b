"""Processes of a Python that has imported google-adk, or the embedded runtime: forks of one that imported it once.

Importing takes most of the time of a test that starts such a process. A fork is a process of its own: a child of the test's process with
its own id, session, folder, environment, arguments and descriptors; only Python's start and the imports are not repeated. Tests of loading,
of imports, of debugpy and of killed processes start Python itself. So do all where this is not possible.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("forking_python.py")
ADK = tuple(
    f"google.adk.{name}"
    for name in (
        "agents.llm_agent",
        "apps.app",
        "artifacts.in_memory_artifact_service",
        "auth.credential_service.in_memory_credential_service",
        "cli.utils.service_factory",
        "flows.llm_flows.auto_flow",
        "memory.in_memory_memory_service",
        "plugins.base_plugin",
        "runners",
        "sessions.database_session_service",
        "sessions.in_memory_session_service",
        "sessions.sqlite_session_service",
        "tools.agent_tool",
        "tools.function_tool",
        "tools.long_running_tool",
    )
)
EMBEDDED = (
    "inspector_app.engines.google_adk_imports",
    "runtime.agents.llm_agent",
    "runtime.apps.app",
    "runtime.auth.credential_service.in_memory_credential_service",
    "runtime.plugins.base_plugin",
    "runtime.runners",
    "runtime.sessions.database_session_service",
    "runtime.storage.open_service",
    "runtime.storage.writing.database_session_service",
    "runtime.tools.agent_tool",
    "runtime.tools.long_running_tool",
    "sqlalchemy.dialects.sqlite.pysqlite",
)
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_start_process = subprocess.Popen._execute_child  # type: ignore[attr-defined]


class ForkingPython:
    """One Python that is forked.

    Args:
        python: its path.
        modules: what it imports; those that it does not have are left out.
    """

    def __init__(self, python: str, modules: tuple[str, ...]) -> None:
        self._server, theirs = socket.socketpair()
        self._lock = threading.Lock()
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        words = [python, "-u", str(PROGRAM), str(theirs.fileno()), *modules]  # `-u`: no form that is forked
        self._process = subprocess.Popen(words, env=environ, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
        theirs.close()

    def fork(self, request: dict[str, Any], descriptors: list[int]) -> int:
        """Return the id of a new process, which is a child of this one."""
        data = json.dumps(request).encode()
        with self._lock:
            _set_subreaper(True)
            try:
                socket.send_fds(self._server, [len(data).to_bytes(4, "big")], descriptors)
                self._server.sendall(data)
                answer = self._server.recv(32, socket.MSG_WAITALL)
            finally:
                _set_subreaper(False)
        assert answer, "the forking process has ended"
        return int(answer)

    def close(self) -> None:
        """End the process that forks; its forks continue."""
        self._server.close()
        self._process.wait(60)


def _set_subreaper(value: bool) -> None:
    """Become the parent of the processes whose parents end, or not."""
    ctypes.CDLL(None).prctl(_SUBREAPER, int(value), 0, 0, 0)


def parse(words: list[str]) -> dict[str, Any] | None:
    """Return what a command line asks Python to run; None if it is no form that a fork can run."""
    quiet = words[1:3] == ["-W", "ignore"]
    words = words[3:] if quiet else words[1:]
    if not words:
        return None
    if words[0] in ("-c", "-m") and len(words) > 1:
        return {"kind": "code" if words[0] == "-c" else "module", "what": words[1], "words": ["-c", *words[2:]], "quiet": quiet}
    return {"kind": "file", "what": words[0], "words": words, "quiet": quiet} if words[0].endswith(".py") else None


class PreparedPythons:
    """All Pythons that are forked, each started when it is first needed."""

    def __init__(self) -> None:
        self._started: dict[str, ForkingPython] = {}

    def start(self, process: Any, args: Any, executable: Any, preexec_fn: Any, close_fds: Any, pass_fds: Any, *more: Any) -> None:
        """Start the process as `subprocess.Popen` does."""
        (cwd, env, _, _, shell, *pipes, _, gid, gids, uid, umask, session, group) = more
        plain = executable is None and preexec_fn is None and close_fds and not shell and group == -1 and umask == -1
        words = [] if isinstance(args, str | bytes | os.PathLike) else [os.fspath(word) for word in args]
        request = parse(words) if plain and words and (gid, gids, uid) == (None, None, None) else None
        python = self._python(words[0]) if request is not None else None
        if request is None or python is None:
            _start_process(process, args, executable, preexec_fn, close_fds, pass_fds, *more)
            return
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite = pipes
        streams = [own if own != -1 else inherited for own, inherited in zip((p2cread, c2pwrite, errwrite), (0, 1, 2), strict=True)]
        request |= {
            "descriptors": [0, 1, 2, *pass_fds],
            "environ": dict(os.environ if env is None else env),
            "folder": os.fspath(cwd) if cwd is not None else str(Path.cwd()),
            "session": session,
            "python": words[0],
        }
        process.pid = python.fork(request, [*streams, *pass_fds])
        process._child_created = True
        process._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)

    def _python(self, path: str) -> ForkingPython | None:
        known = str(Path(path).parent.resolve() / Path(path).name)  # an environment may be reached by a link
        if known not in self._started:
            modules = _modules(known)
            if not modules:
                return None
            self._started[known] = ForkingPython(known, modules)
        return self._started[known]

    def close(self) -> None:
        """End them all."""
        while self._started:
            self._started.popitem()[1].close()


@functools.cache
def _modules(python: str) -> tuple[str, ...]:
    """Return what a Python imports before it is forked; nothing if it is none that tests share."""
    if python == sys.executable:
        return EMBEDDED
    names = ("INSPECTOR_ADK_PYTHON", "INSPECTOR_ADK_1_PYTHON", "INSPECTOR_ADK_1_25_PYTHON")
    return ADK if python in (os.environ.get(name) for name in names) else ()


_pythons = PreparedPythons()


@contextmanager
def prepared() -> Iterator[None]:
    """Start Pythons by forking while the context lasts, where that is safe."""
    with pytest.MonkeyPatch.context() as patch:
        if sys.platform == "linux":
            patch.setattr(subprocess.Popen, "_execute_child", lambda process, *args: _pythons.start(process, *args))
        yield


def stop_prepared() -> None:
    """End all Pythons that are forked."""
    _pythons.close()
