"""`make test-all` uses each interpreter of the machine and reports each."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.interpreters import interpreters, run_with_each

FAILS_ON_3_12 = "import sys; sys.exit(2 if 'VENV=.venv-3.12' in sys.argv else 0)"


def test_each_interpreter_is_reported_and_a_failure_keeps_no_other_from_being_tried(capfd: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", FAILS_ON_3_12]
    assert run_with_each(command, {"3.11": "/a", "3.12": "/b", "3.13": "/c"}, ("3.11", "3.12", "3.13", "3.14")) == 1
    lines = capfd.readouterr().out.splitlines()
    assert lines[:3] == ["== Python 3.11, /a", "== Python 3.12, /b", "== Python 3.13, /c"]
    assert [line.split(" after ")[0] for line in lines[3:]] == [
        "Python 3.11: passed",
        "Python 3.12: failed with exit status 2",
        "Python 3.13: passed",
        "Python 3.14: not found on this machine",
    ]
    assert run_with_each(command, {"3.11": "/a"}, ("3.11",)) == 0


def test_a_machine_without_an_interpreter_is_a_failure(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_with_each([sys.executable, "-c", FAILS_ON_3_12], {}, ("3.11",)) == 1
    assert capfd.readouterr().out == "Python 3.11: not found on this machine\n"


def test_interpreters_are_found_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shim that fails, as pyenv's for a version that is not active, is none."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, code in {"python3.12": f'exec "{sys.executable}" "$@"', "python3.13": "exit 127"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{code}\n")
        (tmp_path / name).chmod(0o755)
    assert interpreters(("3.11", "3.12", "3.13")) == {"3.12": sys._base_executable}
