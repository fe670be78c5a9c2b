"""Measure what must be fast, beside the version before: `python -m bench.speed [--before COMMIT] [--events N …] [--rounds N]`.

The version before is checked out into a temporary folder (`git worktree`) and measured in turn with this one: the commit that is named, or
the last tag. The figures of several lengths are also drawn, as growth curves in `bench/growth`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.generated import write_database
from bench.growth_chart import Curve, growth_chart
from bench.speed_rows import PAGE, ROWS, Place, Row
from bench.table import ROOT, headline, number

SMALL = 20  # events
Found = dict[tuple[str, int], list[float]]  # work and number of events → a figure of each round


def main() -> None:
    """Make the databases, measure in turn, print a table, draw the curves."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed")
    parser.add_argument("--before", metavar="COMMIT", help="the version before; default: the last tag")
    parser.add_argument("--events", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", metavar="TEXT", default="", help="only the rows whose work contains this text")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="where the databases are kept for the next time")
    parser.add_argument("--curves", metavar="FOLDER", type=Path, help="where the growth curves are drawn; default: nowhere")
    options = parser.parse_args()
    commit = options.before or _last_tag()
    rows = [row for row in ROWS if options.rows in row.work]
    with tempfile.TemporaryDirectory() as temporary, _checked_out(commit, Path(temporary) / "before") as before:
        folder = Path(temporary)
        kept = options.keep or folder
        kept.mkdir(parents=True, exist_ok=True)
        databases = {events: kept / f"{events}.db" for events in options.events}
        for events, file in [*databases.items(), (SMALL, folder / "small.db"), (PAGE, folder / "page.db")]:
            if not file.exists():
                write_database(file, events)
        trees = [ROOT, *([before] if before else [])]
        places = [
            Place(tree, folder / f"own-{index}", databases, folder / "small.db", folder / "page.db") for index, tree in enumerate(trees)
        ]
        began = headline(options.rounds)
        found = measured(rows, places, options.events, options.rounds)
    sys.stdout.write(f"# Speed\n\n{began}{_table(rows, found, max(options.events), commit)}\n")
    if options.curves:
        _draw(rows, found, options.events, options.curves, commit)


def measured(rows: list[Row], places: list[Place], lengths: list[int], rounds: int) -> list[Found]:
    """Return the figures of each version, measured in turn."""
    found: list[Found] = [{} for _ in places]
    for _ in range(rounds):
        for row in rows:
            for events in lengths if row.grows else [max(lengths)]:
                for place, figures in zip(places, found, strict=True):
                    try:
                        figures.setdefault((row.work, events), []).append(row.measure(place, events))
                    except LookupError:  # that version cannot do it
                        figures.pop((row.work, events), None)
                if row.limit is not None:
                    found[0].setdefault((_limit_of(row), events), []).append(row.limit(places[0], events))
        for place in places:
            place.forget()
    return found


def _table(rows: list[Row], found: list[Found], events: int, commit: str | None) -> str:
    before = commit or "none: there is no tag, name one by --before"
    lines = [f"At {events:,} events; the version before is {before}.", ""]
    lines += ["| work | goal | now | before | now / before | peer or limit |", "|---|---|---|---|---|---|"]
    for row in rows:
        now, earlier = (_median(figures, row, events) for figures in (found[0], found[1] if len(found) > 1 else {}))
        ratio = f"{now / earlier:.2f}" if now and earlier else ""
        limit = found[0].get((_limit_of(row), events))
        peer = f"a bare table {number(statistics.median(limit))}" if limit else row.peer
        lines.append(f"| {row.work} | {row.goal} | {number(now)} | {number(earlier)} | {ratio} | {peer} |")
    return "\n".join(lines) + "\n"


def _limit_of(row: Row) -> str:
    return f"{row.work}: limit"


def _median(figures: Found, row: Row, events: int) -> float | None:
    values = figures.get((row.work, events))
    return statistics.median(values) if values else None


def _draw(rows: list[Row], found: list[Found], lengths: list[int], folder: Path, commit: str | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for row in (row for row in rows if row.grows):
        curves = []
        for name, figures in zip(("now", commit or ""), found, strict=False):
            points = [(events, value) for events in sorted(lengths) if (value := _median(figures, row, events)) is not None]
            curves += [Curve(name, points)] if points else []
        file = "-".join("".join(letter if letter.isalnum() else " " for letter in row.work.lower()).split())
        (folder / f"{file}.svg").write_text(growth_chart(row.work.replace("`", ""), curves), encoding="utf-8")


def _last_tag() -> str | None:
    done = _git("describe", "--tags", "--abbrev=0")
    return done.stdout.strip() if done.returncode == 0 else None


@contextmanager
def _checked_out(commit: str | None, folder: Path) -> Iterator[Path | None]:
    if commit is None:
        yield None
        return
    done = _git("worktree", "add", "--detach", str(folder), commit)
    if done.returncode:
        raise SystemExit(f"{commit} cannot be checked out: {done.stderr.strip()}")
    for package in ("runtime", "inspector_app", "resources", "bench"):
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder / package)], check=False)
    try:
        yield folder
    finally:
        _git("worktree", "remove", "--force", str(folder))


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    main()
