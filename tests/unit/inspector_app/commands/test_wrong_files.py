"""Every command with every kind of wrong file: one sentence that names it, exit status 1, and nothing created."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector_app.cli import main
from runtime.storage.connections.sqlite_file import SqliteFile
from tests.agent_folders import write_agent
from tests.end2end.processes import ORDERS, environment
from tests.unit.inspector_app.commands.wrong_files import KINDS, OURS, URLS, contents, copy_of_ours, wrong_file
from tests.unit.inspector_app.main_calls import refused

SESSION = ("--app", "orders", "--session", "s1")
WRONG = "@"

READING = {
    "sessions": ("sessions", WRONG),
    "events": ("events", WRONG, *SESSION),
    "state": ("state", WRONG, *SESSION),
    "state --writers": ("state", WRONG, *SESSION, "--writers", "k"),
    "invocations": ("invocations", WRONG, *SESSION),
    "costs": ("costs", WRONG, *SESSION),
    "notes": ("notes", WRONG),
    "note": ("note", WRONG, "e", "text", *SESSION),
    "forks": ("forks", WRONG),
    "compare": ("compare", WRONG, *SESSION, "--session", "s2"),
    "compare, the second": ("compare", "good.db", WRONG, *SESSION),
    "convert, the old": ("convert", WRONG, "new.db"),
    "fork": ("fork", WRONG, *SESSION, "--into", "new.db"),
    "rewind": ("rewind", WRONG, *SESSION, "--before", "i"),
    "delete": ("delete", WRONG, *SESSION, "--yes"),
    "prune": ("prune", WRONG, "--days", "1", "--yes"),
    "undelete": ("undelete", WRONG, "good.db"),
    "undelete, the copy": ("undelete", "good.db", WRONG),
    "resume": ("resume", ORDERS, "--db", WRONG, "--session", "s1"),
}
WRITING = {
    "convert, the new": ("convert", "good.db", WRONG),
    "fork --into": ("fork", "good.db", *SESSION, "--into", WRONG),
    "run": ("run", ORDERS, "--message", "hello", "--db", WRONG),
}
NOT_WRONG_TO_WRITE = {"missing", "empty", "not UTF-8", "quote", "dot", "sqlite missing", "newline", "parent"}
AGENTS = {
    "run": ("run", WRONG, "--message", "x"),
    "resume": ("resume", WRONG, "--db", "good.db", "--session", "s1"),
    "fork": ("fork", "good.db", *SESSION, "--into", "new.db", "--agent", WRONG, "--message", "x"),
    "api_server": ("api_server", WRONG),
    "doctor": ("doctor", WRONG),
    "--artifacts": ("fork", "good.db", *SESSION, "--into", "new.db", "--artifacts", WRONG),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    (tmp_path / "wrong").mkdir()
    monkeypatch.chdir(tmp_path / "wrong")
    return tmp_path / "wrong"


def problems_of(folder: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], kind: str) -> list[str]:
    """Run a command on a wrong file and return what is wrong with its answer."""
    for file in folder.iterdir():
        file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()
    copy_of_ours(folder)
    name = wrong_file(kind)
    before = contents(folder)
    status = main([name if word == WRONG else word for word in command])
    out, err = capsys.readouterr()
    found = [f"exit status {status}"] if status != 1 else []
    found += ["a traceback"] if "Traceback" in err else []
    found += ["more than one sentence on stderr"] if not err.startswith("agent-inspector: ") or err.count("agent-inspector: ") != 1 else []
    found += ["more than one line"] if len(err.replace(name, "").splitlines()) != 1 else []
    found += [f"something on stdout: {out}"] if out else []
    found += ["the password"] if "s3cret" in err else []
    shown = err.encode("utf-8", "backslashreplace").decode()
    if kind not in URLS and kind not in ("NUL", "not UTF-8") and name not in shown:
        found.append("another name")
    found += ["changed files"] if contents(folder) != before else []
    return [f"{kind}: {'; '.join(found)}: {err!a}"] if found else []


@pytest.mark.parametrize("command", READING)
def test_a_database_that_cannot_be_read(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = [problem for kind in KINDS for problem in problems_of(folder, capsys, READING[command], kind)]
    assert found == []


@pytest.mark.parametrize("words", [("import", "none.json", "new.db"), ("import", "none.db", "new.db"), ("eval", ORDERS, "none.json")])
def test_a_missing_file_is_named_as_by_other_commands(words: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words]) == 1
    missing = next(word for word in words if word.startswith("none"))
    assert capsys.readouterr().err == f"agent-inspector: There is no file {missing}.\n"


@pytest.mark.parametrize("command", WRITING)
def test_a_database_that_cannot_be_written(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [kind for kind in KINDS if kind not in NOT_WRONG_TO_WRITE]
    found = [problem for kind in wrong for problem in problems_of(folder, capsys, WRITING[command], kind)]
    assert found == []


@pytest.mark.parametrize("command", AGENTS)
def test_an_agent_or_folder_that_is_none(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [kind for kind in KINDS if kind not in URLS and not (command == "--artifacts" and kind in ("folder", "parent"))]
    found = [problem for kind in wrong for problem in problems_of(folder, capsys, AGENTS[command], kind)]
    assert found == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("x = 1\n", "defines neither `root_agent` nor `app`"),
        ("import sys\nsys.exit(3)\n", "it calls sys.exit(3) while it is imported (agent.py, line 2)"),
        ("raise SystemExit\n", "it calls sys.exit(None) while it is imported (agent.py, line 1)"),
        ("import asyncio\nraise asyncio.CancelledError\n", "CancelledError"),
        ("import no_such_module_anywhere\n", "No module named 'no_such_module_anywhere'"),
        ("root_agent = 3\n", "defines neither `root_agent` nor `app`"),
    ],
)
def test_agent_code_that_cannot_be_loaded(source: str, expected: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_agent(folder / "clerk", source)
    for name in ("clerk", "./clerk", "clerk/agent.py"):
        assert main(["run", name, "--message", "x"]) == 1
        out, err = capsys.readouterr()
        sentence = err.splitlines()[-1]
        assert out == ""
        assert sentence.startswith("agent-inspector: ") and expected in sentence and name.removesuffix("/agent.py") in sentence
        if "sys.exit" in expected or "neither" in expected:
            assert err.count("\n") == 1


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Give up the right to read every file, which root has."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("mode", [0o000, 0o200])
def test_a_file_without_the_right_to_read_it(mode: int, capsys: pytest.CaptureFixture[str], unprivileged: None) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        file = Path(name) / "x.db"
        file.write_bytes(OURS.read_bytes())
        file.chmod(mode)
        assert f"{file} cannot be read: Permission denied" in refused(capsys, "sessions", str(file))
        assert f"{file} cannot be read: Permission denied" in refused(capsys, "undelete", str(file), str(file))
        Path(name).chmod(0o000)
        sentence = refused(capsys, "sessions", str(file))
        Path(name).chmod(0o700)
        assert f"{file} cannot be reached: this program may not look into its folder" in sentence


# the output


@pytest.mark.parametrize("command", [("sessions", str(OURS)), ("--help",), ("run", ORDERS, "--message", "hello")])
@pytest.mark.parametrize(("output", "reason"), [("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")])
def test_an_output_that_cannot_be_written(command: tuple[str, ...], output: str, reason: str) -> None:
    shell = f'exec "$0" -m inspector_app "$@" {output}'
    done = subprocess.run(["sh", "-c", shell, sys.executable, *command], env=environment(), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, f"agent-inspector: The output could not be written: {reason}.\n")


def test_closed_standard_streams_lose_no_status() -> None:
    shell = 'exec "$0" -m inspector_app "$@" <&- >/dev/null 2>&-'
    for command, status in ((("sessions", str(OURS)), 0), (("sessions", "nowhere.db"), 1), (("--no-such-option",), 2)):
        assert subprocess.run(["sh", "-c", shell, sys.executable, *command], env=environment(), timeout=60).returncode == status


# Ctrl+C


def test_an_interrupted_query_is_an_interrupt_not_damage(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    file.write_bytes(OURS.read_bytes())
    endless = "SELECT count(*) FROM " + ", ".join(f"events AS e{number}" for number in range(12))
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    reader = SqliteFile(file)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            reader.read(lambda connection: connection.execute(endless).fetchall())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        reader.close()


def test_an_interrupted_command_exits_with_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SqliteFile, "read", interrupted)
    assert main(["sessions", str(OURS)]) == 130
    assert capsys.readouterr() == ("", "")
