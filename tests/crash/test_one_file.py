"""One file in the hands of a window, two google-adk, a reading command and another program: nothing that was acknowledged is lost."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.interop.google_adk import adk_1_python, adk_python
from tests.stranger import Stranger
from tests.sweep import count
from tests.whole_file import events_of_file

ROOT = Path(__file__).parents[2]
ROUNDS_OF_A_WINDOW = 25
SEED = int(os.environ.get("INSPECTOR_SEED", "1"))

pytestmark = [
    pytest.mark.sweep,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(sys.platform != "linux", reason="asks the system which deleted files are open"),
]


class Acknowledged:
    """What writers have reported, in all threads.

    Attributes:
        written: kind and id of each acknowledged write.
        problems: what a window reported.
    """

    def __init__(self) -> None:
        self.written: list[tuple[str, str]] = []
        self.problems: list[str] = []

    def take(self, line: str) -> None:
        kind, _, rest = line.strip().partition(" ")
        if kind == "problem":
            self.problems.append(rest)
        elif rest:
            self.written.append((kind, rest))


@contextmanager
def google_adk(python: str, file: Path, name: str, acknowledged: Acknowledged) -> Iterator[None]:
    """Let a google-adk append meanwhile."""
    command = [python, str(Path(__file__).with_name("adk_writer.py")), str(file), name]
    process = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, text=True)
    assert process.stdin and process.stdout
    thread = threading.Thread(target=lambda lines: [acknowledged.take(line) for line in lines], args=(process.stdout,))
    thread.start()
    try:
        yield
    finally:
        process.stdin.close()
        process.wait(60)
        thread.join()
        process.stdout.close()


@contextmanager
def others(file: Path, problems: list[str]) -> Iterator[None]:
    """Let another program open, read and close the file again and again, and a reading command, too."""
    stop = threading.Event()

    def visit() -> None:
        stranger = Stranger(file)
        while not stop.is_set():
            stranger.ask("visit")
        stranger.close()

    def command() -> None:
        while not stop.is_set():
            words = [sys.executable, "-m", "inspector_app", "sessions", str(file), "--json"]
            done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode:
                problems.append(f"sessions: {done.stderr}")

    threads = [threading.Thread(target=work) for work in (visit, command)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def window(file: Path, seed: int, acknowledged: Acknowledged, *, may_be_killed: bool = True) -> bool:
    """Let a window work, and kill it somewhere on its way; return whether it had ended before."""
    last = random.Random(seed).randrange(1, ROUNDS_OF_A_WINDOW) if may_be_killed else None  # line after which it is killed
    command = [sys.executable, "-m", "tests.crash.one_file", str(file), str(seed), str(ROUNDS_OF_A_WINDOW)]
    with subprocess.Popen(command, cwd=ROOT, stdout=-1, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stderr
        for number, line in enumerate(process.stdout, 1):
            acknowledged.take(line)
            if number == last:
                process.kill()
        errors = process.stderr.read()
    if process.returncode > 0 or errors:
        acknowledged.problems.append(errors)
    return process.returncode == 0


def missing(file: Path, written: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what was acknowledged and is not in the database."""
    with closing(sqlite3.connect(file, timeout=20)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        kept = {("event", name) for (name,) in connection.execute("SELECT id FROM events")}
        kept |= {("session", name) for (name,) in connection.execute("SELECT id FROM sessions")}
        kept |= {("note", name) for (name,) in connection.execute("SELECT event_id FROM inspector_notes")}
    return [one for one in written if one not in kept]


def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    file, windows = tmp_path / "x.db", count(quick=50, full=1_000) // ROUNDS_OF_A_WINDOW
    acknowledged, ended = Acknowledged(), 0
    assert window(file, SEED * 1_000 + windows, acknowledged, may_be_killed=False)  # there is a file, as when others open it
    with (
        google_adk(adk_python(), file, "two", acknowledged),
        google_adk(adk_1_python(), file, "one", acknowledged),
        others(file, acknowledged.problems),
    ):
        for number in range(windows):
            seed = SEED * 1_000 + number
            ended += window(file, seed, acknowledged)
            written = list(acknowledged.written)
            assert missing(file, written) == [], f"seed {seed}"
            assert acknowledged.problems == [], f"seed {seed}"
    assert missing(file, acknowledged.written) == []
    assert window(file, SEED * 1_000 + windows + 1, acknowledged, may_be_killed=False)
    assert acknowledged.problems == []
    kinds = {kind: sum(one == kind for one, _ in acknowledged.written) for kind in ("session", "event", "note")}
    by_adk = [name for _, name in acknowledged.written if name.startswith(("one-", "two-"))]
    sys.stderr.write(
        f"seed {SEED}: {windows} windows, {ended} ended by themselves, {len(by_adk)} writes by google-adk; {kinds}: all there\n"
    )
    assert {name[:3] for name in by_adk} == {"one", "two"}
    assert events_of_file(file) >= kinds["event"]
