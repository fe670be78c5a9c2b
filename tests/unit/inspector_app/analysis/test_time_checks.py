"""Calls that take most of an invocation, as recorded."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspector_app.analysis.doctor import examine
from runtime.storage.reading.reader import StoredDatabase
from tests.unit.inspector_app.analysis.recorded_runs import findings_of, reply

# seconds of the first model call, of the tool and of the second model call → what is found
TIMES = {
    "a slow tool": ((2.0, 9.0, 3.0), "The tool look took 9.0 of the 14.0 seconds in which this invocation worked."),
    "a slow model": ((2.0, 3.0, 9.0), "The model call of seer took 9.0 of the 14.0 seconds in which this invocation worked."),
    "even": ((5.0, 5.0, 5.0), None),
    "half": ((5.0, 10.0, 5.0), None),
    "short": ((1.0, 7.9, 1.0), None),
}


def look(place: str) -> str:
    """Look at a place."""
    return place


@pytest.mark.parametrize("name", TIMES)
async def test_a_call_that_takes_most_of_an_invocation(name: str, tmp_path: Path) -> None:
    seconds, expected = TIMES[name]
    assert await findings_of(tmp_path, [reply(100, calls=[("look", {"place": "x"})]), reply(200)], tools=[look]) == []
    with closing(sqlite3.connect(tmp_path / "run.rec.db")) as connection, connection:
        (began,) = connection.execute("SELECT min(started) FROM inspector_model_calls").fetchone()
        first, tool, last = seconds
        rows = connection.execute("SELECT id FROM inspector_model_calls ORDER BY id").fetchall()
        for (number,), start, length in zip(rows, (0.0, first + tool), (first, last), strict=True):
            connection.execute("UPDATE inspector_model_calls SET started = ?, ended = ? WHERE id = ?", (began + start, length, number))
        connection.execute("UPDATE inspector_tool_calls SET started = ?, ended = ?", (began + first, tool))
    with StoredDatabase.open(str(tmp_path / "run.db")) as database:
        assert [finding.what for finding in examine(database, str(tmp_path / "run.db"))] == ([expected] if expected else [])
