"""The copy that the doctor proposes has no errors, also where the file has something that no program can read."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspector_app.analysis.doctor import examine
from inspector_app.analysis.finding import Finding
from inspector_app.cli import main
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir

V0, V1, SQLITE, HOSTILE = (
    "open/adk1.18.0-v0-chat_tools.db",
    "open/adk2.13.0-v1-chat_tools.db",
    "open/adk2.13.0-sqlite-chat_tools.db",
    "hand/v0_hostile_pickle.db",
)
ONE_EVENT = "WHERE rowid = (SELECT max(rowid) - 1 FROM events)"
# What makes a file unreadable → what the copy has lost, as its notes say.
DAMAGE = {
    (V0, f"UPDATE events SET actions = substr(actions, 1, length(actions) - 9) {ONE_EVENT}"): "It lost its actions when",
    (V0, "UPDATE events SET actions = x'80'"): "It lost its actions when",
    (V0, f"UPDATE events SET content = '{{' {ONE_EVENT}"): "It lost its content when",
    (V0, f"UPDATE events SET long_running_tool_ids_json = '[', content = '{{' {ONE_EVENT}"): "It lost its content and long_",
    (HOSTILE, "PRAGMA user_version = 1"): "It lost its actions when",
    ("other-adks/iqai0.5.9-chat_tools.db", f"UPDATE events SET actions = '[1]' {ONE_EVENT}"): "It lost its actions when",
    (V1, f"UPDATE events SET event_data = '{{' {ONE_EVENT}"): "It lost its event_data when",
    (V1, f"UPDATE events SET event_data = '[1]' {ONE_EVENT}"): "It lost its event_data when",
    (SQLITE, f"UPDATE events SET event_data = 'no event' {ONE_EVENT}"): "It lost its event_data when",
    (V1, "UPDATE sessions SET state = '[1]'"): None,
    (V1, "UPDATE app_states SET state = 'null'"): None,
    (V1, "UPDATE user_states SET state = 7"): None,
    (SQLITE, "UPDATE sessions SET state = '{'"): None,
    (V0, "UPDATE sessions SET state = '[1]'"): None,
    ("OURS", "UPDATE sessions SET state = '[1]'"): None,
    ("OURS", "UPDATE user_states SET state = '\"x\"'"): None,
}  # fmt: skip


def findings(file: str) -> list[Finding]:
    with StoredDatabase.open(file) as database:
        return list(examine(database, file))


def errors(file: str) -> list[Finding]:
    return [finding for finding in findings(file) if finding.level == "error" and finding.kind != "unreachable resume"]  # ADK-TS has none


@pytest.mark.parametrize(("name", "statement"), DAMAGE)
def test_the_proposed_copy_of_unreadable_rows_has_no_error(
    name: str, statement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = Path(__file__).parents[3] / "data" / "ours.db" if name == "OURS" else fixtures_dir() / name
    shutil.copyfile(source, "old.db")
    with closing(sqlite3.connect("old.db")) as connection, connection:
        connection.execute(statement)
    fixes = {finding.fix for finding in errors("old.db")}
    assert fixes == {("agent-inspector", "convert", "old.db", "new.db", "--drop-unreadable")}
    assert main(["convert", "old.db", "new.db", "--drop-unreadable"]) == 0
    assert errors("new.db") == []
    lost = DAMAGE[name, statement]
    assert all(finding.what.startswith(lost) for finding in findings("new.db") if finding.kind == "lost in a copy") if lost else True
    assert any(finding.kind == "lost in a copy" for finding in findings("new.db")) == bool(lost)
    assert main(["convert", "new.db", "newer.db"]) == 0, "nothing more is lost"
    assert [finding.what for finding in findings("newer.db")] == [finding.what for finding in findings("new.db")]


def test_a_state_that_is_no_object_becomes_what_the_events_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    shutil.copyfile(fixtures_dir() / V1, old)
    with StoredDatabase.open(str(old)) as database:
        key = database.listing()[0].key
        written = {name: value for event in database.events(key) for name, value in event.actions.state_delta.items()}
        before = database.state(key)
    with closing(sqlite3.connect(old)) as connection, connection:
        connection.execute("UPDATE sessions SET state = '[1]'")
        connection.execute("UPDATE app_states SET state = '[1]'")
    assert main(["convert", str(old), str(new)]) == 1
    assert "agent-inspector convert" not in capsys.readouterr().err
    assert main(["convert", str(old), str(new), "--drop-unreadable"]) == 0
    assert "2 stored states were no JSON objects: the copy has what the events wrote." in capsys.readouterr().out
    with StoredDatabase.open(str(new)) as database:
        after = database.state(key)
    assert written
    assert {name: value for name, value in before.items() if name in written} == {name: after[name] for name in written if name in before}


def test_a_state_that_is_stored_as_bytes_is_kept(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    shutil.copyfile(fixtures_dir() / V1, old)
    with closing(sqlite3.connect(old)) as connection, connection:
        (state,) = connection.execute("SELECT state FROM sessions").fetchone()
        connection.execute("UPDATE sessions SET state = CAST(state AS BLOB)")
    assert main(["convert", str(old), str(new)]) == 0
    with closing(sqlite3.connect(new)) as connection:
        assert json.loads(connection.execute("SELECT state FROM sessions").fetchone()[0]) == json.loads(state)
