"""`delete`, `prune` and `undelete`, from a script and at a terminal."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench.generated import write_many_sessions
from inspector_app.cli import main
from tests.fixture_paths import copy_of

HOLDS_IT_OPEN = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM sessions').fetchone(); print(flush=True); input()"
)


@pytest.fixture
def database(tmp_path: Path) -> str:
    """A database of ours with three sessions of three users; one changed an hour ago, the others long ago."""
    others, ours = tmp_path / "others.db", tmp_path / "ours.db"
    write_many_sessions(others, 3, 4, 60)
    assert main(["convert", str(others), str(ours)]) == 0
    connection = sqlite3.connect(ours)
    for session, age in (("s-0000000", "-90 days"), ("s-0000001", "-90 days"), ("s-0000002", "-1 hour")):
        connection.execute("UPDATE sessions SET update_time = strftime('%Y-%m-%d %H:%M:%f000', 'now', ?) WHERE id = ?", (age, session))
    connection.commit()
    connection.close()
    return str(ours)


def sessions(database: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["sessions", database, "--json"]) == 0
    return [session["id"] for session in json.loads(capsys.readouterr().out)]


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def app_of(database: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["sessions", database, "--json"]) == 0
    name: str = json.loads(capsys.readouterr().out)[0]["app_name"]
    return name


def everything(database: str) -> dict[str, list[Any]]:
    connection = sqlite3.connect(database)
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    rows = {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}
    connection.close()
    return rows


def test_named_sessions_are_deleted_and_restored_unchanged(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    app, before = app_of(database, capsys), everything(database)
    deleted = answered(capsys, "delete", database, "--app", app, "--user", "user1", "--session", "s-0000001", "--yes")["delete"]
    assert deleted["sessions"] == [{"app_name": app, "user_id": "user1", "id": "s-0000001", "event_count": 4}]
    assert deleted["done"] is True
    assert Path(deleted["copy"]).parent == Path(database).parent
    assert sessions(database, capsys) == ["s-0000000", "s-0000002"]
    assert answered(capsys, "undelete", database, deleted["copy"]) == {"put_back": 1}
    assert everything(database) == before


def test_prune_asks_and_takes_a_missing_answer_as_no(
    database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(database)
    for typed in ("", "no\n"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        assert main(["prune", database, "--days", "30"]) == 1
        out, err = capsys.readouterr()
        assert f"Delete 2 sessions with 8 events from {database}? [y/N]" in err
        assert "s-0000001" in out
        assert "s-0000002" not in out
    assert everything(database) == before
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main(["prune", database, "--days", "30"]) == 0
    out = capsys.readouterr().out
    assert f"To restore them: agent-inspector undelete {database} {database}.deleted-" in out
    assert out.endswith("2 sessions deleted.\n")
    assert sessions(database, capsys) == ["s-0000002"]


def test_a_dry_run_and_no_match_delete_nothing(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(Path(database).parent.iterdir())
    found = answered(capsys, "prune", database, "--days", "30", "--user", "user0", "--dry-run")["delete"]
    assert ([each["id"] for each in found["sessions"]], found["done"], found["copy"]) == (["s-0000000"], False, None)
    nothing = answered(capsys, "prune", database, "--days", "30", "--user", "unknown", "--yes")["delete"]
    assert nothing == {"sessions": [], "done": False, "copy": None}
    assert main(["delete", database, "--app", "a", "--session", "unknown", "--yes"]) == 1
    assert "There is no session" in capsys.readouterr().err
    assert main(["prune", database, "--days", "30", "--json"]) == 2
    assert sorted(Path(database).parent.iterdir()) == before


def test_another_programs_database_needs_in_place_and_gets_a_backup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    file.chmod(0o644)
    (tmp_path / "kept").mkdir()
    original = Path(shutil.copy(file, tmp_path / "kept"))
    assert main(["prune", str(file), "--days", "0", "--yes"]) == 1
    assert "give --in-place" in capsys.readouterr().err
    assert file.read_bytes() == original.read_bytes()
    deleted = answered(capsys, "prune", str(file), "--days", "0", "--yes", "--in-place")["delete"]
    assert deleted["sessions"]
    assert sessions(str(file), capsys) == []
    (backup,) = tmp_path.glob("*.backup-*")
    assert sessions(str(backup), capsys) == sessions(str(original), capsys) == [each["id"] for each in deleted["sessions"]]


def test_nothing_is_deleted_while_another_process_has_it_open(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(database)
    program = [sys.executable, "-c", HOLDS_IT_OPEN, database]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert main(["prune", database, "--days", "30", "--yes"]) == 1
        assert f"process {other.pid}" in capsys.readouterr().err
        other.communicate("\n")
    assert everything(database) == before


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill sends no Ctrl-C on Windows")
def test_ctrl_c_ends_restoring_into_a_database_with_an_endless_trigger(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    copy = answered(capsys, "delete", database, "--session", "s-0000000", "--yes")["delete"]["copy"]
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"CREATE TRIGGER no BEFORE INSERT ON events BEGIN {endless} END")
    before = sessions(database, capsys)

    def interrupt_when_it_writes() -> None:
        with closing(sqlite3.connect(database, isolation_level=None, timeout=0)) as connection:
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.execute("ROLLBACK")
                except sqlite3.OperationalError:  # locked
                    break
        os.kill(os.getpid(), signal.SIGINT)

    other = threading.Thread(target=interrupt_when_it_writes)
    other.start()
    assert main(["undelete", database, copy]) == 130
    other.join()
    assert sessions(database, capsys) == before
