"""A separate process that runs SQL on a database, and can be killed without closing it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_PROGRAM = """
import json, os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
for line in sys.stdin:
    sql, values = json.loads(line)
    if sql == "die":
        os._exit(9)
    rows = connection.execute(sql, values).fetchall()
    print(json.dumps(rows), flush=True)
connection.close()
"""
_EVENT = '{{"id": "{0}", "author": "{1}", "invocation_id": "i", "timestamp": 1.5, "content": {{"parts": [{{"text": "{0}"}}]}}}}'
_TIME = "2026-11-21 10:00:00.000000"


class SqlWriter:
    """A connection in a separate process.

    Args:
        file: an existing database; for `add_event` and `add_session`, in google-adk's v1 layout.
        mode: the journal mode.
    """

    def __init__(self, file: Path, mode: str = "delete") -> None:
        self._process = subprocess.Popen([sys.executable, "-c", _PROGRAM, str(file)], stdin=-1, stdout=-1, text=True)
        self.run(f"PRAGMA journal_mode = {mode}")

    def run(self, sql: str, *values: Any) -> list[list[Any]]:
        """Run a statement, wait for it, and return the rows."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps([sql, values]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the writer died of {sql}"
        rows: list[list[Any]] = json.loads(answer)
        return rows

    def add_session(self, session_id: str) -> None:
        """Commit a session of app `a` and user `u`."""
        self.run("INSERT INTO sessions VALUES ('a', 'u', ?, '{}', ?, ?)", session_id, _TIME, _TIME)

    def add_event(self, session_id: str, event_id: str, author: str = "me") -> None:
        """Commit an event."""
        data = _EVENT.format(event_id, author)
        self.run("INSERT INTO events VALUES (?, 'a', 'u', ?, 'i', ?, ?)", event_id, session_id, _TIME, data)

    def kill(self) -> None:
        """End the process without closing the database."""
        self._process.kill()
        self._process.communicate()

    def close(self) -> None:
        """Close the database and end the process."""
        self._process.communicate(timeout=20)
        assert self._process.returncode == 0
