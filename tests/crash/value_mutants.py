"""A program that runs every reading command on databases with crafted values, one after another, in this process.

Where `reading_mutants` damages bytes, this replaces values: times, keys, states and fields of events of other types and sizes.
Arguments: a folder of good databases, the number of the first mutant, and the number of mutants. It prints a line before and after each.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sqlite3
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from inspector_app.cli import main as command_line
from runtime.errors.known_error import KnownError
from runtime.storage.layouts.statements import quoted_name
from runtime.storage.reading.reader import StoredDatabase
from tests.crash.reading_mutants import look_at_tables, read_all

NUMBERS = [0, -1, 1, 2**63 - 1, -(2**63), 1e308, float("inf"), float("-inf"), 1856916000000, 253402300800, -62135596801, 1e18, 0.5]
TEXTS = [
    "",
    "x",
    "1e400",
    "NaN",
    "Infinity",
    "58862-01-01 00:00:00",
    "2026-13-45",
    "0000-00-00",
    "null",
    "[]",
    "{}",
    "\0",
    "\ud800",
    "7" * 5_000,
]
DEEP = "[" * 3_000 + "]" * 3_000
JSONS = [
    "1e400",
    "-1e400",
    "NaN",
    "null",
    "[]",
    "{}",
    "0",
    '"x"',
    "1856916000000",
    DEEP,
    '{"a": 1e400}',
    '{"temp:k": 1}',
    '"\\ud800"',
    "true",
]
FIELDS = ["timestamp", "id", "author", "invocation_id", "actions", "content", "branch", "partial", "error_code", "usage_metadata"]
ACTIONS = [
    "state_delta",
    "artifact_delta",
    "escalate",
    "transfer_to_agent",
    "agent_state",
    "end_of_agent",
    "requested_auth_configs",
    "compaction",
]


def mutate(file: Path, chance: random.Random) -> None:
    """Replace some values of a database, whose tables lose their constraints first."""
    database = sqlite3.connect(file, isolation_level=None)
    try:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
        chosen = [chance.choice(tables) for _ in range(chance.choice([1, 1, 2, 6]))]
        for table in set(chosen):
            _drop_constraints(database, table)
        for table in chosen:
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({quoted_name(table)})")]
            numbers = [number for (number,) in database.execute(f"SELECT rowid FROM {quoted_name(table)}")]
            if not numbers:
                continue
            column, number = chance.choice(columns), chance.choice(numbers)
            where = "" if chance.random() < 0.15 else f" WHERE rowid = {number}"
            (before,) = database.execute(f"SELECT {quoted_name(column)} FROM {quoted_name(table)} WHERE rowid = ?", (number,)).fetchone()
            database.execute(f"UPDATE {quoted_name(table)} SET {quoted_name(column)} = ?{where}", (_value(before, chance),))
    finally:
        database.close()


def _drop_constraints(database: sqlite3.Connection, table: str) -> None:
    columns = ", ".join(f"{quoted_name(row[1])} {row[2]}" for row in database.execute(f"PRAGMA table_info({quoted_name(table)})"))
    name, kept = quoted_name(table), quoted_name(f"{table} kept")
    database.execute("PRAGMA legacy_alter_table = ON")
    database.execute("PRAGMA foreign_keys = OFF")
    database.execute(f"ALTER TABLE {name} RENAME TO {kept}")
    database.execute(f"CREATE TABLE {name} ({columns})")
    database.execute(f"INSERT INTO {name} SELECT * FROM {kept} ORDER BY rowid")
    database.execute(f"DROP TABLE {kept}")


def _value(before: Any, chance: random.Random) -> Any:
    if isinstance(before, str) and before[:1] == "{" and chance.random() < 0.8:
        return _crafted_json(before, chance)
    kind = chance.randrange(6)
    if kind == 0:
        return None
    if kind == 1:
        return chance.choice(NUMBERS)
    if kind == 2:
        return (
            chance.choice(TEXTS).encode("utf-8", "surrogatepass")
            if chance.random() < 0.5
            else chance.choice([text for text in TEXTS if text != "\ud800"])
        )
    if kind == 3:
        return chance.randbytes(chance.choice([0, 1, 16, 300]))
    if kind == 4:
        return chance.choice(JSONS)
    return sqlite3.Binary(str(before).encode("utf-8", "surrogatepass"))


def _crafted_json(text: str, chance: random.Random) -> str:
    """Return an object's JSON with another value for one key, written as text, because Python's encoder refuses some of them."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    mark = "PUT-THE-CRAFTED-VALUE-HERE"
    place = value
    if "actions" in value and isinstance(value["actions"], dict) and chance.random() < 0.5:
        place = value["actions"]
        key = chance.choice(ACTIONS)
    elif "author" in value:
        key = chance.choice(FIELDS)
    else:
        key = chance.choice([*value, "temp:k", "user:k", "k"])
    while isinstance(place.get(key), dict) and place[key] and chance.random() < 0.5:
        place, key = place[key], chance.choice([*place[key]])
    place[key] = mark
    return json.dumps(value).replace(f'"{mark}"', chance.choice(JSONS))


def run_commands(file: Path, new: Path) -> str:
    """Run the commands that read, and a conversion; return the outcome. An exception other than our own ends the program."""
    statuses = []
    keys: list[Any] = []
    events: list[Any] = []
    with contextlib.suppress(KnownError), StoredDatabase.open(str(file)) as database:
        keys = [summary.key for summary in database.sessions()]
        for key in keys[:2]:
            with contextlib.suppress(KnownError):
                events += [(key, event.id) for event in database.events(key)[:2]]
    commands = [
        ["sessions", str(file)],
        ["sessions", str(file), "--json"],
        ["forks", str(file)],
        ["costs", str(file)],
        ["convert", str(file), str(new)],
    ]
    for key in keys[:2]:
        named = [str(file), "--app", str(key.app_name), "--user", str(key.user_id), "--session", str(key.session_id)]
        commands += [[command, *named, *json_] for command in ("events", "state", "invocations") for json_ in ([], ["--json"])]
        commands.append(["state", *named, "--writers", "user:k"])
    for key, event_id in events:
        named = [str(file), "--app", str(key.app_name), "--user", str(key.user_id), "--session", str(key.session_id)]
        commands += [["state", *named, "--at", str(event_id), "--json"], ["events", *named, "--after", str(event_id)]]
    for command in commands:
        out, problems = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(problems):
            status = command_line(command)
        assert "Traceback" not in problems.getvalue(), problems.getvalue()
        assert status in (0, 1, 2), (command, status)
        assert (status == 0) or problems.getvalue(), command
        if "--json" in command and status == 0:
            for line in out.getvalue().split("\n")[:-1] if command[0] == "events" else [out.getvalue()]:
                json.loads(line, parse_constant=lambda constant: 1 / 0)
        statuses.append(status)
    return "read" if 0 in statuses else "refused"


def main(folder: str, first: int, count: int) -> None:
    """Read mutants."""
    good = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    with tempfile.TemporaryDirectory() as scratch:
        file, new = Path(scratch) / "mutant.db", Path(scratch) / "new.db"
        for number in range(first, first + count):
            chance = random.Random(number)
            for path in (*Path(scratch).iterdir(),):
                path.unlink()
            file.write_bytes(chance.choice(good))
            try:
                mutate(file, chance)
            except (sqlite3.Error, UnicodeError):
                continue  # the good database is one of the damaged fixtures
            sys.stdout.write(f"begin {number}\n")
            sys.stdout.flush()
            begin = time.process_time()
            try:
                read_all(file)
                look_at_tables(file)
                how = run_commands(file, new)
            except Exception:
                how = "traceback"
                sys.stderr.write(f"mutant {number}:\n{traceback.format_exc()}\n")
            sys.stdout.write(f"end {number} {how} {time.process_time() - begin:.3f}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
