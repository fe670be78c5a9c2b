"""What fills a file of checkpoints."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from inspector_app.analysis import channel_checks
from inspector_app.cli import main
from runtime.storage.reading.reader import StoredDatabase
from tests.langgraph_threads import copy_of


def filled(tmp_path: Path) -> Path:
    """Return a file with three checkpoints: one value is copied twice, the other grows."""
    file = copy_of("react_shop", tmp_path)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM writes")
        connection.execute("DELETE FROM checkpoints")
        for number in range(3):
            values = {"document": "x" * 1_000, "log": ["y" * 100] * number}
            about = json.dumps({"source": "loop", "step": number, "parents": {}})
            stored = msgspec.msgpack.encode({"channel_values": values, "versions_seen": {}})
            row = ("t", "", f"1f0a0000-0000-6000-8000-{number:012d}", None, "msgpack", stored, about)
            connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return file


def test_bytes_and_equal_copies_are_counted_by_channel(tmp_path: Path) -> None:
    with StoredDatabase.open(str(filled(tmp_path))) as database:
        document, log = database.channel_sizes()
    assert document == ("document", 3, 3 * 1_003, 2 * 1_003)
    assert (log.channel, log.values, log.bytes, log.copied) == ("log", 3, 1 + 103 + 205, 0)


def test_doctor_says_what_fills_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(filled(tmp_path))
    assert main(["doctor", file]) == 0
    assert "checkpoints hold" not in capsys.readouterr().out
    monkeypatch.setattr(channel_checks, "LARGE", 1_000)
    main(["doctor", file, "--json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    (size,) = [each for each in found if each["kind"] == "size of checkpoints"]
    assert "document" in size["what"] and "equal copies" in size["what"]


def test_an_interrupt_that_was_never_answered_is_stale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(copy_of("create_agent_hitl", tmp_path))
    with StoredDatabase.open(file) as database:
        last = max(summary.last_update_time for summary in database.sessions())
    for days, kind in ((2, "unanswered call"), (9, "stale interrupt")):
        monkeypatch.setattr("inspector_app.analysis.call_checks.time.time", lambda days=days: last + days * 86_400)
        main(["doctor", file, "--json"])
        found = [each for each in json.loads(capsys.readouterr().out)["findings"] if "interrupt" in each["what"]]
        assert [each["kind"] for each in found] == [kind]
