"""`note` and `notes`, and what becomes of notes elsewhere."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from inspector_app.cli import main
from inspector_app.support.data_folder import data_folder
from runtime.sessions.note import MOST_CHARACTERS
from runtime.storage.connections.database_url import database_url
from tests.end2end.processes import ROOT
from tests.postgres import server

DATA = ROOT / "tests" / "data"
TEXT = "Read too early: <b>stock</b>\n*twice* | `x`"
FIRST = "cdc9893f-8e8b-4883-a974-f37fc89a95ba"


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def ours(tmp_path: Path) -> str:
    """A database of ours that an earlier version wrote: it has no table of notes."""
    return shutil.copy(DATA / "ours.db", tmp_path)


@pytest.fixture
def foreign(tmp_path: Path) -> str:
    return shutil.copy(DATA / "v1.db", tmp_path)


def answer(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == status
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return lines[0] if len(lines) == 1 else lines


def noted(capsys: pytest.CaptureFixture[str], database: str) -> dict[str, tuple[str, bool]]:
    """Return the notes that `notes` lists: session and event → text and bookmark."""
    found = answer(capsys, "notes", database)
    return {f"{one['session_id']} {one['event_id'][:8]}": (one["text"], one["bookmark"]) for one in found}


def first_event(capsys: pytest.CaptureFixture[str], database: str) -> str:
    found: str = answer(capsys, "events", database, "--limit", "1")["id"]
    return found


def test_a_note_is_written_changed_and_deleted(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = answer(capsys, "events", ours)
    written = answer(capsys, "note", ours, FIRST[:6], TEXT)
    assert {name: written[name] for name in ("event_id", "text", "bookmark")} == {"event_id": FIRST, "text": TEXT, "bookmark": False}
    answer(capsys, "note", ours, FIRST, "--bookmark")
    assert noted(capsys, ours) == {"s1 cdc9893f": (TEXT, True)}
    answer(capsys, "note", ours, FIRST, "again", "--no-bookmark")
    assert noted(capsys, ours) == {"s1 cdc9893f": ("again", False)}
    answer(capsys, "note", ours, FIRST, "--delete")
    assert noted(capsys, ours) == {}
    assert answer(capsys, "events", ours) == before
    assert not data_folder().exists()
    with closing(sqlite3.connect(ours)) as database:
        assert database.execute("SELECT count(*) FROM inspector_notes").fetchone() == (0,)


def test_conditions_find_notes_and_event_lines_show_them(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    last = answer(capsys, "events", ours, "--last", "1")["id"]
    main(["note", ours, FIRST, "The STOCK was read"])
    main(["note", ours, last, "--bookmark"])
    for condition, found in (
        ('note contains "stock"', [FIRST]),
        ("bookmarked", [last]),
        ('note ~ "^The" or bookmarked', [FIRST, last]),
        ('bookmarked and state["nothing"] != 1', []),
        ('note and author == "user" and not bookmarked', [FIRST]),
    ):
        lines = answer(capsys, "events", ours, "--where", condition)
        assert [line["id"] for line in (lines if isinstance(lines, list) else [lines])] == found, condition
    assert answer(capsys, "events", ours, "--last", "1")["custom_metadata"]["inspector_note"]["bookmark"] is True
    assert main(["events", ours]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "[note: The STOCK was read]" in lines[0] and "[bookmark]" in lines[-1] and "[" not in lines[1].split("  ")[4]


def test_another_programs_file_never_changes(foreign: str, capsys: pytest.CaptureFixture[str]) -> None:
    before, event_id = Path(foreign).read_bytes(), first_event(capsys, foreign)
    assert main(["note", foreign, event_id, "kept elsewhere"]) == 0
    assert "data folder" in capsys.readouterr().out
    linked = Path(foreign).with_name("link.db")
    linked.symlink_to(foreign)
    assert [*noted(capsys, str(linked)).values()] == [("kept elsewhere", False)]
    assert Path(foreign).read_bytes() == before and sorted(path.suffix for path in Path(foreign).parent.glob("v1.*")) == [".db"]
    (kept,) = (data_folder() / "notes").iterdir()
    assert kept.stat().st_mode & 0o77 == 0
    answer(capsys, "note", foreign, event_id, "--delete")
    assert noted(capsys, foreign) == {} and b"kept elsewhere" not in kept.read_bytes()


def test_notes_on_anothers_file_move_into_it_once_it_is_ours(foreign: str, capsys: pytest.CaptureFixture[str]) -> None:
    events = [event["id"] for event in answer(capsys, "events", foreign)]
    for event_id in events[:3]:
        main(["note", foreign, event_id, event_id])
    copy = str(Path(foreign).with_name("converted.db"))
    assert main(["convert", foreign, copy]) == 0
    assert len(noted(capsys, copy)) == 3
    main(["fork", foreign, "--into", foreign, "--at", events[1], "--new-session", "s2"])  # makes the file ours
    assert {name for name in noted(capsys, foreign) if name.startswith("s2")} == {f"s2 {name[:8]}" for name in events[:2]}
    main(["note", foreign, events[0], "in the file", "--session", "s-1"])
    assert not list((data_folder() / "notes").iterdir())
    assert len(noted(capsys, foreign)) == 5


@pytest.mark.parametrize("kind", ["jsonl", "json", "md", "html", "capsule"])
def test_exports_carry_notes_and_an_import_restores_them(kind: str, ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, new = f"{ours}.{kind}", f"{ours}.new.db"
    main(["note", ours, FIRST, TEXT, "--bookmark"])
    assert main(["capsule", ours, out, "--yes"] if kind == "capsule" else ["export", ours, out]) == 0
    if kind == "html":
        page = Path(out).read_text()
        assert "&lt;b&gt;stock&lt;/b&gt;" in page and "<b>stock" not in page and "Note, bookmarked" in page
    if kind == "capsule":
        new = out
    else:
        assert main(["import", out, new, "--app", "orders", "--user", "user"]) == 0
        with closing(sqlite3.connect(new)) as database:
            assert "custom_metadata" not in str(database.execute("SELECT event_data FROM events LIMIT 1").fetchone())
    assert noted(capsys, new) == {"s1 cdc9893f": (TEXT, True)}


def test_secrets_in_notes_are_not_exported(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["note", ours, FIRST, "key AIzaSyA1234567890abcdefghijklmnopqrstuvw"])
    for name in ("a.md", "a.html", "a.jsonl"):
        out = Path(ours).with_name(name)
        assert main(["export", ours, str(out)]) == 0
        assert "AIzaSyA" not in out.read_text() and "key (redacted)" in out.read_text()


def test_notes_are_deleted_and_restored_with_their_session_and_copied(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["note", ours, FIRST, "kept"])
    main(["import", ours, f"{ours}.copy.db"])
    main(["recover", ours, f"{ours}.recovered.db"])
    main(["convert", ours, f"{ours}.converted.db"])
    for copy in ("copy", "recovered", "converted"):
        assert noted(capsys, f"{ours}.{copy}.db") == {"s1 cdc9893f": ("kept", False)}, copy
    deleted = answer(capsys, "delete", ours, "--session", "s1", "--yes")["delete"]["copy"]
    assert noted(capsys, ours) == {}
    answer(capsys, "undelete", ours, deleted)
    assert noted(capsys, ours) == {"s1 cdc9893f": ("kept", False)}


def test_a_text_that_is_too_long_is_refused(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["note", ours, FIRST, "x" * (MOST_CHARACTERS + 1)]) == 1
    assert f"at most {MOST_CHARACTERS:,} characters; this one has {MOST_CHARACTERS + 1:,}" in capsys.readouterr().err
    answer(capsys, "note", ours, FIRST, " a\x00b\ud800\r\nc\x1b ")
    assert noted(capsys, ours) == {"s1 cdc9893f": ("a\ufffdb?\nc\ufffd", False)}


def test_a_crafted_table_of_notes_is_read_as_far_as_it_makes_sense(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(ours)) as database:
        database.execute("CREATE TABLE inspector_notes (app_name, user_id, session_id, event_id, text, is_bookmark, at)")
        values = (("a", "text", 1), (b"\xff", "", 1), (4, "yes", "when"), ("x" * 20_000, 0, 1e300), (None, None, None))
        for number, row in enumerate(values):
            database.execute("INSERT INTO inspector_notes VALUES ('orders', 'user', 's1', ?, ?, ?, ?)", (str(number), *row))
        database.commit()
    assert noted(capsys, ours)["s1 0"] == ("a", True)
    assert main(["notes", ours]) == 0
    assert main(["events", ours, "--where", "note or bookmarked"]) == 0


def test_notes_on_a_server(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    url = server().new_database()
    assert main(["fork", ours, "--into", url, "--new-session", "s1"]) == 0
    engine = create_engine(database_url(url))
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE inspector_notes")  # as an earlier version left it
    engine.dispose()
    assert noted(capsys, url) == {}
    answer(capsys, "note", url, FIRST, TEXT, "--bookmark")
    assert noted(capsys, url) == {"s1 cdc9893f": (TEXT, True)}
    assert answer(capsys, "events", url, "--where", 'note contains "TOO EARLY"')["id"] == FIRST


def titles(capsys: pytest.CaptureFixture[str], database: str) -> list[str]:
    found = answer(capsys, "sessions", database)
    return [one["title"] for one in (found if isinstance(found, list) and found and isinstance(found[0], dict) else found[0])]


def test_a_session_is_listed_by_its_first_message_and_its_name(
    ours: str, foreign: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert titles(capsys, ours) == ["40 boxes of A4 paper"]
    for database, session in ((ours, "s1"), (foreign, "s-")):
        before = Path(database).read_bytes()
        named = answer(capsys, "name", database, session, " Paper\n<b>for</b> all ")
        assert named["title"] == "Paper <b>for</b> all"
        assert titles(capsys, database) == ["Paper <b>for</b> all"]
        assert noted(capsys, database) == {}
        assert (Path(database).read_bytes() == before) == (database == foreign)
        main(["sessions", database])
        heading, line = capsys.readouterr().out.splitlines()
        assert heading.startswith("TITLE") and line.startswith("Paper <b>for</b> all ")
        answer(capsys, "name", database, session, "")
    assert titles(capsys, ours) == ["40 boxes of A4 paper"]
    assert titles(capsys, foreign) == ["How is the weather in Lisbon?"]


def test_a_name_that_is_too_long_or_of_no_session_is_refused(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["name", ours, "s1", "x" * (MOST_CHARACTERS + 1)]) == 1
    assert main(["name", ours, "none", "x"]) == 1
    capsys.readouterr()
    assert titles(capsys, ours) == ["40 boxes of A4 paper"]


@pytest.mark.parametrize("kind", ["jsonl", "html", "md"])
def test_an_export_is_headed_by_the_title_and_carries_the_name(
    kind: str, foreign: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def exported(name: str) -> Path:
        out = tmp_path / f"{name}.{kind}"
        assert main(["export", foreign, str(out)]) == 0
        return out

    heads = {"html": "<h1>{}</h1>", "md": "# {}\n"}
    if kind in heads:
        assert heads[kind].format("How is the weather in Lisbon?") in exported("unnamed").read_text()
    answer(capsys, "name", foreign, "s-1", "Lisbon, password=hunter2hunter2")
    out = exported("named")
    assert "hunter2" not in out.read_text()
    new = str(tmp_path / "new.db")
    assert main(["import", str(out), new]) == 0
    capsys.readouterr()
    assert titles(capsys, new)[0].startswith("Lisbon, ")
