"""The digest of an agent's code: what changes it, what does not, and its limits."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector_app.engines import code_files as module
from inspector_app.engines.code_files import code_digest, code_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "tools").mkdir(parents=True)
    (folder / "agent.py").write_text("A = 1\n")
    (folder / "tools" / "search.py").write_text("B = 1\n")
    (folder / "notes.json").write_text("{}")
    return folder


def bytecode(folder: Path) -> None:
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / f"agent.{sys.implementation.cache_tag}.pyc").write_bytes(b"planted")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a changed file": lambda folder: (folder / "tools" / "search.py").write_text("B = 2\n"),
    "a file of the same length and time": lambda folder: (
        stat := (folder / "agent.py").stat(),
        (folder / "agent.py").write_text("A = 2\n"),
        os.utime(folder / "agent.py", ns=(stat.st_atime_ns, stat.st_mtime_ns)),
    ),
    "a new file": lambda folder: (folder / "tools" / "more.py").write_text(""),
    "a deleted file": lambda folder: (folder / "tools" / "search.py").unlink(),
    "a renamed file": lambda folder: (folder / "tools" / "search.py").rename(folder / "tools" / "find.py"),
    "a settings file": lambda folder: (folder / "root_agent.yaml").write_text("name: x"),
    "a native module": lambda folder: (folder / "fast.so").write_bytes(b"\x7fELF"),
    "planted bytecode": bytecode,
    "a variable of .env": lambda folder: (folder / ".env").write_text("PYTHONPATH=/evil\n"),
    "a linked folder": lambda folder: (folder / "lib").symlink_to(folder.parent),
    "a folder called venv that is none": lambda folder: ((folder / "venv").mkdir(), (folder / "venv" / "x.py").write_text("")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_digest_changes_with(folder: Path, change: str) -> None:
    before = code_digest(folder)
    assert before == code_digest(folder)
    CHANGES[change](folder)
    assert code_digest(folder) not in (None, before)


@pytest.mark.parametrize("name", ["notes.json", ".git/hooks.py", "node_modules/x/setup.py", ".venv/lib/x.py", ".adk/x.py", "data.csv"])
def test_the_digest_stays_with_data_and_other_peoples_code(folder: Path, name: str) -> None:
    before = code_digest(folder)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("changed")
    assert code_digest(folder) == before


def test_a_python_environment_of_any_name_is_skipped(folder: Path) -> None:
    before = code_digest(folder)
    (folder / "my env" / "lib").mkdir(parents=True)
    (folder / "my env" / "pyvenv.cfg").write_text("")
    (folder / "my env" / "lib" / "x.py").write_text("")
    assert code_digest(folder) == before


def test_the_value_of_a_variable_is_no_code(folder: Path) -> None:
    (folder / ".env").write_text("KEY=one\n")
    before = code_digest(folder)
    (folder / ".env").write_text("KEY=two\n")
    assert code_digest(folder) == before


def test_too_much_code_has_no_digest(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FILES", 1)
    assert code_digest(folder) is None
    assert code_files(folder).files == ["agent.py"]


@pytest.mark.parametrize("limit", ["MAX_BYTES", "MAX_ENTRIES"])
def test_other_limits(folder: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(module, limit, 3)
    assert code_digest(folder) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_called_like_a_module_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "slow.py")
    (folder / "endless.py").symlink_to("/dev/zero")
    assert code_digest(folder) is not None
