"""Commands over LangGraph's checkpoints on a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector_app.cli import main
from runtime.storage.reading.reader import StoredDatabase
from tests.unit.storage.reading.test_checkpoint_server import database_of, execute, folder

__all__ = ["folder"]


def test_commands_read_a_server_and_nothing_is_written_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = database_of(folder, "pg_shop")
    tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1"
    before = execute(url, tables)
    assert main(["sessions", url, "--json"]) == 0
    (session,) = json.loads(capsys.readouterr().out)
    for words in (["events", url], ["state", url], ["invocations", url], ["doctor", url], ["costs", url]):
        assert main([*words, "--json"]) in (0, 1), words
    assert session["id"] == "pg-1" and session["event_count"]
    assert execute(url, tables) == before
    with StoredDatabase.open(url) as database:
        assert database.layout.format.writer is None
