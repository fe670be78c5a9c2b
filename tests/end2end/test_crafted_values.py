"""Crafted values in a database: what cannot be read is marked, the rest is shown, and nothing takes long."""

from __future__ import annotations

import json
import pickle
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main as command_line
from runtime.errors import StorageError
from runtime.events.marks import has_unreadable_actions
from runtime.sessions.session import SessionKey
from runtime.storage.layouts.column_values import read_time
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.convert import convert

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    return shutil.copyfile(DATA / "ours.db", tmp_path / "ours.db")


@pytest.fixture
def v0(tmp_path: Path) -> Path:
    return shutil.copyfile(DATA / "v0.db", tmp_path / "v0.db")


def change(file: Path, *statements: tuple[str, Any]) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        for sql, value in statements:
            database.execute(sql, [value])
    database.close()


def key_of(file: Path) -> SessionKey:
    with StoredDatabase.open(str(file)) as database:
        return database.sessions()[0].key


@pytest.mark.rule("F3")
@pytest.mark.parametrize(
    "value", [float("inf"), float("-inf"), 1856916000000, "1e400", "58862-01-01", "9999-12-31T23:59:59-14:00", b"\xff", -1e300]
)
def test_a_crafted_time_is_no_traceback(ours: Path, capsys: pytest.CaptureFixture[str], value: Any) -> None:
    change(ours, ("UPDATE sessions SET update_time = ?, create_time = update_time", value), ("UPDATE events SET timestamp = ?", value))
    names = [str(ours), "--app", "orders", "--user", "user", "--session", "s1"]
    for command in (
        ["sessions", str(ours)],
        ["events", *names],
        ["invocations", *names],
        ["state", *names],
        ["forks", str(ours)],
        ["costs", str(ours)],
    ):
        assert command_line(command) == 0, command
        assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1856916000000", "1e18"])
def test_a_crafted_time_inside_an_event_is_no_traceback(ours: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    with closing(sqlite3.connect(ours)) as database, database:
        rows = database.execute("SELECT id, event_data FROM events").fetchall()
        for event_id, data in rows:
            crafted = json.dumps({**json.loads(data), "timestamp": "HERE"}).replace('"HERE"', text)
            database.execute("UPDATE events SET event_data = ? WHERE id = ?", (crafted, event_id))
    database.close()
    names = [str(ours), "--app", "orders", "--user", "user", "--session", "s1"]
    for more in ([], ["--json"]):
        assert command_line(["events", *names, *more]) == 0
        shown = capsys.readouterr()
        assert len(shown.out.splitlines()) == 11 and shown.err == ""


@pytest.mark.parametrize("value", [None, b"\x00\xff", 7])
@pytest.mark.parametrize("column", ["id", "invocation_id"])
def test_an_id_of_another_type_is_marked_and_the_rest_is_shown(ours: Path, column: str, value: Any) -> None:
    with closing(sqlite3.connect(ours)) as database, database:
        names = ", ".join(row[1] for row in database.execute("PRAGMA table_info(events)"))
        database.execute(f"CREATE TABLE other AS SELECT {names} FROM events ORDER BY rowid")
        database.execute("DROP TABLE events")
        database.execute(f"CREATE TABLE events ({names.replace('event_data', 'event_data TEXT')})")
        database.execute("INSERT INTO events SELECT * FROM other")
        database.execute(f"UPDATE events SET {column} = ? WHERE rowid = 3", [value])
    database.close()
    with StoredDatabase.open(str(ours)) as stored:
        events = stored.events(key_of(ours))
        marked = [getattr(event, column) for event in events if getattr(event, column).startswith("(unreadable: ")]
        assert len(events) == 11 and len(marked) == 1
        assert json.loads(events[2].model_dump_json())[column] == marked[0]


def test_a_session_whose_name_is_not_text_is_marked(tmp_path: Path, ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(ours, ("INSERT INTO sessions SELECT app_name, user_id, ?, state, create_time, update_time FROM sessions", b"\xff\xfe"))
    assert command_line(["sessions", str(ours)]) == 0
    assert "(unreadable: 2 bytes)" in capsys.readouterr().out
    with pytest.raises(StorageError, match=r"The name of session orders/user/\(unreadable: 2 bytes\) is not text"):
        convert(str(ours), str(tmp_path / "new.db"))
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "9999-12-31T23:59:59-14:00", True, None])
def test_what_is_not_a_time_is_a_value_error(value: Any) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        read_time(value)


# A few bytes that describe many million values, and keys with equal hashes.
REPEATED = b"\x80\x04]\x94" + b"".join(b"(" + b"h" + bytes([n]) + (b"h" + bytes([n])) * 99 + b"l\x94" for n in range(5)) + b"."
COLLIDING = pickle.dumps({n * (2**61 - 1): 0 for n in range(3_000)})


@pytest.mark.parametrize("slow", [REPEATED, COLLIDING], ids=["repeated", "colliding"])
def test_slow_pickles_share_one_time_limit(v0: Path, slow: bytes) -> None:
    with closing(sqlite3.connect(v0)) as database, database:
        (first,) = database.execute("SELECT min(rowid) FROM events").fetchone()
        names = [row[1] for row in database.execute("PRAGMA table_info(events)") if row[1] != "id"]
        for number in range(40):
            columns = ", ".join(names)
            database.execute(
                f"INSERT INTO events (id, {columns}) SELECT ?, {columns} FROM events WHERE rowid = ?", [f"slow{number}", first]
            )
        database.execute("UPDATE events SET actions = ? WHERE id LIKE 'slow%'", [slow])
        honest = database.execute("SELECT count(*) FROM events WHERE id NOT LIKE 'slow%'").fetchone()[0]
    database.close()
    with StoredDatabase.open(str(v0)) as stored:
        for read in (stored.events, stored.history, lambda key: stored.pages(key)):
            begin = time.thread_time()
            read(key_of(v0))
            assert time.thread_time() - begin < 4
        events = stored.events(key_of(v0))
    assert sum(not has_unreadable_actions(event) for event in events) >= honest, "honest events are read also after slow ones"


def damaged(v0: Path, event: int) -> list[str]:
    """Damage the actions of one event; return the ids of all events."""
    with closing(sqlite3.connect(v0)) as database, database:
        ids = [event_id for (event_id,) in database.execute("SELECT id FROM events ORDER BY rowid")]
        database.execute("UPDATE events SET actions = ? WHERE id = ?", [b"\x80\x04damaged", ids[event]])
    database.close()
    return ids


@pytest.fixture
def counting(v0: Path) -> Path:
    """A v0 database whose events set the keys k0, k1, … and n."""
    with closing(sqlite3.connect(v0)) as database, database:
        for number, (rowid,) in enumerate(database.execute("SELECT rowid FROM events ORDER BY rowid").fetchall()):
            delta = {"state_delta": {f"k{number}": number, "n": number, f"app:a{number % 3}": number}}
            database.execute("UPDATE events SET actions = ? WHERE rowid = ?", [pickle.dumps(delta), rowid])
        last = number
        state = {**{f"k{n}": n for n in range(last + 1)}, "n": last}
        database.execute("UPDATE sessions SET state = ?", [json.dumps(state)])
        shared = {f"a{number % 3}": number for number in range(last + 1)}
        database.execute("UPDATE app_states SET state = ?", [json.dumps(shared)])
    database.close()
    return v0


@pytest.mark.rule("S2")
def test_after_unreadable_actions_earlier_values_are_unknown(counting: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = damaged(counting, 3)
    key = key_of(counting)
    with StoredDatabase.open(str(counting)) as stored:
        past = stored.history(key)
        long = stored.long_history(key, stored.pages(key))
    assert past.state_at(2).session == {"k0": 0, "k1": 1, "k2": 2, "n": 2}
    for history in (past, long):
        assert history.state_at(3).session == {} and {"k0", "k1", "k2", "n", "app:a0"} <= set(history.state_at(3).unknown)
        assert history.state_at(4).session == {"k4": 4, "n": 4} and history.state_at(4).app == {"app:a1": 4}
        assert {"k0", "k1", "k2", "k3", "app:a2"} <= set(history.state_at(4).unknown)
    last = len(ids) - 1
    assert past.state_at(last).session == {**{f"k{n}": n for n in range(last + 1)}, "n": last}, (
        "the stored state is that after the last event"
    )
    names = [str(counting), "--app", key.app_name, "--user", key.user_id, "--session", key.session_id]
    assert command_line(["state", *names, "--at", ids[4], "--json"]) == 0
    shown = capsys.readouterr()
    assert "k2" in json.loads(shown.out)["unknown"]
    assert f"The changes of event {ids[3]} cannot be read" in shown.err


def test_unreadable_actions_of_another_session_make_shared_keys_unknown(counting: Path) -> None:
    with closing(sqlite3.connect(counting)) as database, database:
        database.execute("INSERT INTO sessions SELECT app_name, 'other', 'other', '{}', create_time, update_time FROM sessions")
        names = [row[1] for row in database.execute("PRAGMA table_info(events)")]
        columns = ", ".join(name for name in names if name not in ("id", "user_id", "session_id"))
        database.execute(
            f"INSERT INTO events (id, user_id, session_id, {columns}) SELECT 'theirs', 'other', 'other', {columns} FROM events LIMIT 1"
        )
        database.execute("UPDATE events SET actions = ? WHERE id = 'theirs'", [b"\x80\x04 app: damaged"])
    database.close()
    with StoredDatabase.open(str(counting)) as stored:
        (key,) = [summary.key for summary in stored.sessions() if summary.key.session_id != "other"]
        past = stored.history(key)
        assert past.state_at(5).app == {"app:a0": 3, "app:a1": 4, "app:a2": 5}, "it came later"
        (theirs,) = [summary.key for summary in stored.sessions() if summary.key.session_id == "other"]
        assert set(stored.history(theirs).state_at(0).unknown) >= {"app:a0", "app:a1"}


def test_a_conversion_refuses_to_lose_deltas_unless_told_to(counting: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged(counting, 3)
    new = tmp_path / "new.db"
    before = sorted(tmp_path.iterdir())
    assert command_line(["convert", str(counting), str(new)]) == 1
    assert "1 event cannot be read completely" in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before
    assert command_line(["convert", str(counting), str(new), "--drop-unreadable"]) == 0
    assert "1 event could not be read completely; the changes are lost." in capsys.readouterr().out


def test_an_old_state_with_temp_keys_is_shown_without_them(v0: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(v0, ("UPDATE sessions SET state = ?", '{"temp:old": 1, "k": 2}'))
    key = key_of(v0)
    names = [str(v0), "--app", key.app_name, "--user", key.user_id, "--session", key.session_id]
    assert command_line(["state", *names, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["session"] == {"k": 2}


def commands_on(file: Path, new: Path) -> None:
    """Run reading commands and a conversion; a command fails the test if it raises."""
    key = key_of(file)
    names = [str(file), "--app", str(key.app_name), "--user", str(key.user_id), "--session", str(key.session_id)]
    for command in (["sessions", str(file)], ["events", *names], ["invocations", *names], ["convert", str(file), str(new)]):
        assert command_line(command) in (0, 1)


@pytest.mark.rule("F3")
@pytest.mark.parametrize("where", ["", " WHERE rowid = 1", " WHERE rowid > 2"])
def test_an_event_stored_as_a_blob_is_no_traceback(ours: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], where: str) -> None:
    change(ours, (f"UPDATE events SET event_data = CAST(event_data AS BLOB) WHERE ?{where.replace(' WHERE', ' AND')}", 1))
    commands_on(ours, tmp_path / "new.db")
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.rule("F3")
@pytest.mark.parametrize("value", [10**13, -3, 0.5, float("inf")])
def test_a_number_in_place_of_a_pickle_is_no_traceback_and_takes_no_memory(v0: Path, tmp_path: Path, value: float) -> None:
    change(v0, ("UPDATE events SET actions = ?", value))
    commands_on(v0, tmp_path / "new.db")


@pytest.mark.rule("F3")
@pytest.mark.parametrize("name", ["sqlite.db", "v1.db"])
def test_an_infinite_time_inside_an_event_can_be_converted(tmp_path: Path, name: str) -> None:
    file = shutil.copyfile(DATA / name, tmp_path / name)
    change(
        file,
        ("UPDATE events SET event_data = json_set(event_data, '$.timestamp', ?)", "endless"),
        ("UPDATE events SET event_data = replace(event_data, ?, '1e400')", '"endless"'),
    )
    commands_on(file, tmp_path / "new.db")
