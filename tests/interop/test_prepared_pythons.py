"""Forked Pythons are what Python's own start would have made of the same command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.engines.conftest import PYTHONS
from tests.prepared_pythons import prepared
from tests.sweep import count

PROGRAM = """
import json, locale, os, signal, sys, threading
def annotated(number: int): ...
print("on stderr", file=sys.stderr)
print(json.dumps({
    "argv": sys.argv,
    "path": sys.path,
    "prefix": [sys.prefix, sys.exec_prefix, sys.executable],
    "folder": os.getcwd(),
    "parent": os.getppid(),
    "environ": dict(os.environ),
    "streams": [[s.encoding, s.errors, s.line_buffering, s.isatty()] for s in (sys.stdin, sys.stdout, sys.stderr)],
    "main": [__name__, globals().get("__file__"), sys.modules["__main__"].__dict__ is globals()],
    "annotations": str(annotated.__annotations__),
    "session": os.getsid(0) == os.getpid(),
    "threads": threading.active_count(),
    "input": sys.stdin.read(),
    "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1],
    "signals": [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)],
    "bytecode": sys.dont_write_bytecode,
    "recursion": sys.getrecursionlimit(),
    "locale": locale.setlocale(locale.LC_ALL),
}))
if "fail" in sys.argv:
    {}["missing"]
sys.exit(7)
"""

pytestmark = [pytest.mark.sweep, pytest.mark.skipif(sys.platform != "linux", reason="Pythons are forked on Linux only")]


@pytest.fixture(params=[*PYTHONS][:: count(quick=3, full=1)])
def every(request: pytest.FixtureRequest) -> str:
    PYTHONS[request.param]()
    return str(request.param)


def run(command: list[str], folder: Path, own_session: bool, descriptor: int) -> tuple[int, str, dict[str, object]]:
    """Run the program; return its exit status, what it wrote on stderr, and what it is."""
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": "/a:/b", "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
    streams: dict[str, object] = {"input": "é\n", "capture_output": True, "text": True, "pass_fds": [descriptor]}
    done = subprocess.run(command, cwd=folder, env=environ, start_new_session=own_session, **streams)  # type: ignore[call-overload]
    return done.returncode, done.stderr, json.loads(done.stdout)


@pytest.mark.parametrize("form", ["code", "file", "module"])
@pytest.mark.parametrize(("end", "status"), [("exit", 7), ("fail", 1)])
def test_a_fork_is_what_python_itself_would_have_started(every: str, form: str, end: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "linked").symlink_to(Path(PYTHONS[every]()).parent.parent)
    words = {"code": ["-c", PROGRAM], "file": [str(tmp_path / "program.py")], "module": ["-m", "program"]}[form]
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for python, own_session in ((PYTHONS[every](), False), (str(tmp_path / "linked" / "bin" / "python"), True)):
        started = run([python, *words, end], tmp_path, own_session, descriptor)
        with prepared():
            forked = run([python, *words, end], tmp_path, own_session, descriptor)
        assert forked == started
        assert started[0] == status
    os.close(descriptor)


def test_a_killed_fork_is_reported_as_a_killed_process(every: str) -> None:
    with prepared(), subprocess.Popen([PYTHONS[every](), "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert process.poll() is None
        process.kill()
        assert process.wait() == -signal.SIGKILL


def test_what_a_fork_imports_and_changes_reaches_no_other(every: str) -> None:
    change = "import json, sys; json.changed = True; print(hasattr(sys, 'changed')); sys.changed = True"
    look = "import json, sys; print(hasattr(json, 'changed'), hasattr(sys, 'changed'))"
    with prepared():
        assert subprocess.check_output([PYTHONS[every](), "-c", change], text=True) == "False\n"
        assert subprocess.check_output([PYTHONS[every](), "-c", look], text=True) == "False False\n"
