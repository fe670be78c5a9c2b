"""Every command in both forms: on terminals of several widths, without one, without colours, into a closed pipe, onto a full disk, and with
wrong input."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector_app.cli import app_command, main
from tests import prepared
from tests.end2end.processes import ORDERS, ROOT, STORY, environment
from tests.output_table import RIGHT, WRONG, Row
from tests.sweep import count
from tests.terminal import Terminal

COMMANDS = app_command().commands


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with the files that the table names."""
    folder = tmp_path_factory.mktemp("made")
    for name in ("ours", "v1"):
        shutil.copy(ROOT / "tests" / "data" / f"{name}.db", folder)
    for agent in (ORDERS, STORY):
        (folder / Path(agent).name).symlink_to(agent)
    (folder / "test_config.json").write_text('{"criteria": {"tool_trajectory_avg_score": 1.0}}')
    (folder / "notes.txt").write_text("Dear diary, " * 100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENT_INSPECTOR_SAMPLE_DELAY", "0")
        patch.delenv("GOOGLE_API_KEY", raising=False)
        patch.chdir(folder)
        assert main(shlex.split("run orders --message '3 boxes of A4 paper' --db done.db --session s1")) == 0
        shutil.copy("ours.db", "forked.db")
        assert main(shlex.split("fork forked.db --new-session s2")) == 0
        shutil.copy("ours.db", "noted.db")
        assert main(shlex.split("note noted.db cdc9893f 'the stock was read too early' --bookmark")) == 0
        assert main(shlex.split("export ours.db sessions.jsonl")) == 0
        assert main(shlex.split("export done.db orders.evalset.json")) == 0
        shutil.copy("ours.db", "empty.db")
        assert main(shlex.split("delete empty.db --session s1 --yes")) == 0
        (copy,) = folder.glob("empty.db.deleted-*")
        copy.rename("copy.deleted-1")
    yield folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder, in which no app is running."""
    copied = tmp_path / "copied"
    shutil.copytree(made, copied, symlinks=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return copied


def forms(row: Row) -> list[str]:
    """Return the words of a row, and the same with `--json` if the command has it."""
    has_json = any(param.name == "json" for param in COMMANDS[row.words.split()[0]].params)
    return [row.words, *([f"{row.words} --json"] if has_json else [])]


ROWS = [row for rows in RIGHT.values() for row in rows]
EVERY = [pytest.param(words, row, id=words) for row in ROWS if not row.stays for words in forms(row)]
PRINTING = [rows[0] for rows in RIGHT.values() if not (rows[0].stays and rows[0].silent)]  # a server over stdio says nothing by itself
FIRST = [pytest.param(words, row, id=words) for row in PRINTING[:: count(quick=7, full=1)] for words in forms(row)]


def started(words: str, folder: Path, stdout: int) -> subprocess.Popen[str]:
    command = [*prepared.command(), *shlex.split(words)]
    environ = {name: value for name, value in environment().items() if name != "COLUMNS"}
    return subprocess.Popen(command, env=environ, cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("words", "row"), EVERY)
def test_without_a_terminal_nothing_is_cut_or_coloured(
    words: str, row: Row, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("AGENT_INSPECTOR_SAMPLE_DELAY", "0")
    for variable in ("COLUMNS", "GOOGLE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    status = main(shlex.split(words))
    out, err = capsys.readouterr()
    assert (status, "Traceback" in out + err) == (row.status, False), err
    assert "\x1b" not in out + err and ("…" not in out or not row.fits)
    if words.endswith("--json"):
        assert [json.loads(line) for line in out.splitlines()] != [] or row.silent
    else:
        assert (out == "") == row.silent, err
        assert err.startswith("agent-inspector: ") or not row.silent


@pytest.mark.parametrize(("columns", "more"), [(80, {}), (200, {"NO_COLOR": "1"})])
def test_lines_fit_the_terminal(columns: int, more: dict[str, str], folder: Path, tmp_path: Path) -> None:
    rows = [rows[0] for rows in RIGHT.values() if not rows[0].stays and (rows[0].fits or not more)]
    program = shlex.join(prepared.command())
    script = "; ".join(f"cp -r copied {number}; cd {number}; {program} {row.words}; echo '== '$?; cd .." for number, row in enumerate(rows))
    environ = {name: value for name, value in environment().items() if name != "NO_COLOR"}
    with Terminal(["sh", "-c", script], {**environ, **more}, tmp_path, columns=columns) as terminal:
        assert terminal.wait_for_end(300) == 0
    assert "Traceback" not in terminal.said
    pieces = re.split(r"^== (\d+)$", "\n".join(terminal.screen()), flags=re.MULTILINE)
    assert [int(status) for status in pieces[1::2]] == [row.status for row in rows]
    for row, screen in zip(rows, pieces[::2], strict=False):
        lines = [line for line in screen.splitlines() if not line.startswith(("  agent-inspector ", "agent-inspector: "))]  # to be pasted
        assert not row.fits or max(map(len, lines)) <= columns, row.words
    colours = re.findall(r"\x1b\[(?:1;)?[39][0-7](?:;\d+)?m", terminal.said)
    assert bool(colours) == (not more), colours[:5]


@pytest.mark.sweep
@pytest.mark.parametrize(("words", "row"), FIRST)
def test_a_reader_that_has_left_and_a_full_disk_are_no_tracebacks(words: str, row: Row, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other, symlinks=True)
    reading, writing = os.pipe()
    os.close(reading)
    closed = started(words, folder, writing)
    os.close(writing)
    with Path("/dev/full").open("w") as full:
        failed = started(words, other, full.fileno())
    err = failed.communicate(timeout=60)[1]
    assert "Traceback" not in err
    if not row.silent:  # nothing is written
        assert failed.returncode == 1
        assert "agent-inspector: The output could not be written: No space left on device." in err
    said = closed.communicate(timeout=60)[1]
    assert said == "" or (row.silent and "Traceback" not in said)


@pytest.mark.parametrize("words", [rows[0].words for command, rows in RIGHT.items() if command in ("rewind", "delete", "prune")])
def test_a_change_whose_announcement_is_not_read_is_not_made(words: str, folder: Path) -> None:
    before = (folder / "ours.db").read_bytes()
    reading, writing = os.pipe()
    os.close(reading)
    process = started(words, folder, writing)
    os.close(writing)
    assert (process.communicate(timeout=60)[1], process.returncode) == ("", 1)
    assert (folder / "ours.db").read_bytes() == before


@pytest.mark.parametrize(("words", "status"), [pytest.param(*case, id=case[0]) for cases in WRONG.values() for case in cases])
def test_wrong_input_is_one_sentence_and_changes_nothing(
    words: str, status: int, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert main(shlex.split(words)) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err and err.endswith("\n")
    sentences = [line for line in err.splitlines() if line.startswith("agent-inspector: ")]
    assert len(sentences) == 1, err
    assert err.startswith("usage: agent-inspector" if status == 2 and "--where '" not in words else "agent-inspector: ")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_server_prints_where_it_is_in_both_forms(folder: Path) -> None:
    for words in forms(RIGHT["api_server"][0]):
        process = started(words, folder, subprocess.PIPE)
        assert process.stdout is not None
        line = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert "http://127.0.0.1:" in (json.loads(line)["server"]["url"] if "--json" in words else line)
