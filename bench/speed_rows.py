"""The rows of `python -m bench.speed`: to add one, write what measures it and name it in `ROWS`."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

PAGE = 2_000  # events of a session that is exported as HTML


@dataclass
class Place:
    """One version of the project, to be measured.

    Attributes:
        tree: its folder; its own benchmarks are used, so a row that it lacks stays empty.
        own: a folder for its settings and caches.
        databases: number of events → a session of that length, made by `bench/generated.py`.
        small: a database of a few events.
        page: a database of as many events as a bug report has, for an export as HTML.
    """

    tree: Path
    own: Path
    databases: dict[int, Path]
    small: Path
    page: Path
    _found: dict[tuple[str, ...], dict[str, float]] = field(default_factory=dict)

    def figures(self, *arguments: str) -> dict[str, float]:
        """Return the JSON object that a Python script or module of this version prints last. It is run once for all rows that ask."""
        if arguments not in self._found:
            done = self._run([sys.executable, "-W", "ignore", *arguments])
            self._found[arguments] = {} if done.returncode else json.loads(done.stdout.splitlines()[-1])
        return self._found[arguments]

    def command(self, words: str) -> float:
        """Return the processor seconds of one `agent-inspector` command line, the interpreter's start included."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self._run([sys.executable, "-m", "inspector_app", *shlex.split(words)])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise LookupError(done.stderr)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def html_page(self) -> float:
        """Return the seconds by the clock until `agent-inspector export` has written a page of the session in `page`."""
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            self.command(f"export {self.page} {folder}/page.html")
            return time.perf_counter() - began

    def forget(self) -> None:
        """Discard the figures and what was saved in caches, so that the next round measures again."""
        self._found.clear()
        shutil.rmtree(self.own / "XDG_CACHE_HOME", ignore_errors=True)

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        folders = {name: str(self.own / name) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
        environ |= folders | {"PYTHONPATH": str(self.tree), "QT_QPA_PLATFORM": "offscreen"}
        return subprocess.run(command, cwd=self.tree, env=environ, capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class Row:
    """One figure of the table.

    Attributes:
        work: what is done, with the unit.
        goal: as in the plan.
        measure: returns the figure of a version at a number of events; raises LookupError if that version has none.
        grows: whether it depends on the number of events: it gets a curve, and its figure in the table is that of the most events.
        peer: google-adk's or the machine's own figure, and when it was measured.
        limit: returns what a bare Qt table did with the same work in the same run.
    """

    work: str
    goal: str
    measure: Callable[[Place, int], float]
    grows: bool = False
    peer: str = ""
    limit: Callable[[Place, int], float] | None = None


def _printed(name: str, *arguments: str) -> Callable[[Place, int], float]:
    return lambda place, events: place.figures(*arguments)[name]


def _window(name: str) -> Callable[[Place, int], float]:
    return lambda place, events: place.figures("-m", "bench.stream", "--measure", str(place.databases[events]))[name]


def _background(name: str) -> Callable[[Place, int], float]:
    return lambda place, events: place.figures("-m", "bench.background", str(place.databases[events]))[name]


def _command(words: str) -> Callable[[Place, int], float]:
    return lambda place, events: place.command(words.format(db=place.databases[events], small=place.small, picture=os.devnull))


def _live(name: str) -> Callable[[Place, int], float]:
    def measure(place: Place, _events: int) -> float:
        session = ("-m", "bench.stream", "--measure", str(place.databases[min(place.databases)]))
        return place.figures(*session, "--bare" if name.startswith("limit") else "--live", "10")[name]

    return measure


_TAIL = ("-m", "bench.tail_rate", "--events", "30000")
_IDLE = ("-m", "bench.idle", "--seconds", "10")
_STORAGE = ("bench/storage_work.py", "runtime", "0.09")  # 270 appends; `python -m bench.storage` has more
_RUNTIME = ("bench/runtime_work.py", "runtime", "0.3")
ROWS = (
    Row("cold start: processor seconds", "0.5 × the version before", _printed("busy", "-m", "bench.stream", "--start")),
    Row("durable appends/s, FULL", "15 × google-adk", _printed("database: appends/s, FULL", *_STORAGE), peer="149–153 (2026-11-22)"),
    Row("durable appends/s, NORMAL", "8,000", _printed("database: appends/s, NORMAL", *_STORAGE), peer="raw sqlite3 13,900 (2026-11-21)"),
    Row("the Runner's own cost of an event, µs", "6", _printed("an event made beforehand, µs", *_RUNTIME), peer="105 (2026-11-21)"),
    Row("a turn on SQLite, CPU ms", "1.2", _printed("database: turn, fresh session, CPU ms", *_RUNTIME), peer="34.5 (2026-11-21)"),
    Row("`sessions` of a small file, CPU s", "0.25", _command("sessions {small}")),
    Row("`sessions`, CPU s", "2.5", _command("sessions {db}"), grows=True),
    Row("`events --last 20`, CPU s", "0.4", _command("events {db} --last 20"), grows=True),
    Row(
        "`events --where`, a text that is not there, CPU s",
        "4",
        _command("events {db} --where 'call.lookup.args.city contains \"77777\"'"),
        grows=True,
        peer="a plain SQL scan 0.6",
    ),
    Row("`events --where tokens.total > 20000`, CPU s", "15", _command("events {db} --where 'tokens.total > 20000'"), grows=True),
    Row("what is pending, CPU s", "", _background("pending, first"), grows=True),
    Row("the search index, CPU s", "", _background("search, first"), grows=True),
    Row("pending, failures and search index, CPU s", "15", _background("all, first"), grows=True),
    Row("… the second time, CPU s", "0", _background("all, second"), grows=True),
    Row("a plain scan of all events, CPU s", "the limit", _background("scan"), grows=True),
    Row(f"a session of {PAGE:,} events as HTML, s by the clock", "1", lambda place, _: place.html_page()),
    Row("open to the last row, ms", "200; 500 at 1,000,000", _window("open to last row, ms"), grows=True, peer="51,000 at 10,000"),
    Row("select: detail, ms", "33", _window("select: detail, ms"), grows=True, peer="4,400 at 10,000"),
    Row("select: state, ms", "10", _window("select: state, ms"), grows=True),
    Row("state at any event, ms", "10", _window("state at any event, ms"), grows=True),
    Row("filter, plain text: all, ms", "3,000", _window("filter, plain text: all, ms"), grows=True),
    Row("tail of another process, events/s", "10,000", _printed("tail: events/s", *_TAIL), limit=_printed("limit: events/s", *_TAIL)),
    Row(
        "… CPU of the window for an event, µs",
        "100",
        _printed("tail: CPU µs an event", *_TAIL),
        limit=_printed("limit: CPU µs an event", *_TAIL),
    ),
    Row("… memory of the window then, MB", "250", _printed("tail: memory, MB", *_TAIL)),
    Row(
        "live stream of 10,000 events/s: shown, events/s",
        "all",
        _live("live: events/s shown"),
        limit=_live("limit: bare table, each 16 ms: events/s"),
    ),
    Row("… the loop's gap, p99, ms", "10", _live("live: loop gap p99, ms"), limit=_live("limit: bare table, each 16 ms: loop gap p99, ms")),
    Row("idle window, the most of five states, % of a core", "0.2", _printed("idle: the most of these, %", *_IDLE)),
)
