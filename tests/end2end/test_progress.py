"""Progress with the time left appears on a terminal, on stderr only, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.generated import write_database
from tests.end2end.processes import environment
from tests.terminal import Terminal

# Without a second of patience, so that a small file has progress, too.
PROGRAM = (
    "import sys; from inspector_app.commands import progress; progress._PATIENCE = progress._BETWEEN = 0;"
    " from inspector_app.cli import main; sys.exit(main())"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_database(tmp_path / "long.db", 300)
    return tmp_path / "long.db"


@pytest.mark.parametrize("words", ["sessions long.db", "events long.db", "events long.db --where error", "convert long.db new.db"])
def test_it_is_shown_on_stderr_and_removed(file: Path, words: str) -> None:
    out = file.parent / "out"
    with out.open("w") as stdout, Terminal(_command(words), environment(), file.parent, stdout=stdout.fileno()) as terminal:
        assert terminal.wait_for_end() == 0
    assert " events" in terminal.said and "%" in terminal.said
    assert "\x1b[?25h" in terminal.said  # the cursor is visible again
    printed = out.read_text()
    assert "%" not in printed and "\x1b" not in printed
    assert printed or "--where" in words


@pytest.mark.parametrize("words", ["sessions long.db", "events long.db"])
def test_results_on_the_same_terminal_are_whole(file: Path, words: str) -> None:
    with Terminal(_command(words), environment(), file.parent) as terminal:
        assert terminal.wait_for_end() == 0
    plain = subprocess.run(_command(words), env={**environment(), "COLUMNS": "200"}, cwd=file.parent, capture_output=True, check=True)
    assert [line for line in terminal.screen() if line] == plain.stdout.decode().splitlines()


def test_it_is_never_written_to_a_pipe(file: Path) -> None:
    done = subprocess.run(_command("sessions long.db"), env=environment(), cwd=file.parent, capture_output=True, check=True)
    assert done.stderr == b""


def _command(words: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, *words.split()]
