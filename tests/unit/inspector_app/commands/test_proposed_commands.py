"""Commands that messages propose: each is run as it is written, in the situation that it is proposed in."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy.dialects.postgresql import JSONB

from inspector_app.cli import main
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir
from tests.postgres import server

ORDERS = str(Path(__file__).parents[4] / "resources" / "samples" / "orders")
V0 = "open/adk1.18.0-v0-chat_tools.db"
_JSON = {"state", "content", "grounding_metadata", "custom_metadata", "usage_metadata", "citation_metadata"}  # in google-adk's tables


def on_server(file: Path) -> str:
    """Return the URL of a new database of a server with the tables of a file, typed as google-adk types them there."""
    url = server().new_database()
    source, target = (
        sqlalchemy.create_engine(f"sqlite:///{file}"),
        sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:")),
    )
    tables = sqlalchemy.MetaData()
    tables.reflect(source)
    with source.connect() as old, target.begin() as new:
        rows = {table.name: [dict(row) for row in old.execute(table.select()).mappings()] for table in tables.sorted_tables}
        for table in tables.sorted_tables:
            for column in table.columns:
                is_json = column.name in _JSON
                column.type = JSONB() if is_json else column.type.as_generic()
                for row in rows[table.name] if is_json else ():
                    row[column.name] = sqlalchemy.null() if row[column.name] is None else json.loads(row[column.name])
        tables.create_all(new)
        for table in tables.sorted_tables:
            for row in rows[table.name]:
                new.execute(table.insert().values(row))
    source.dispose()
    target.dispose()
    return url


def proposed(text: str) -> list[str]:
    """Return the words of the command that ends a message, without the program."""
    (found,) = re.findall(r": agent-inspector (.*)", text)
    return shlex.split(found)


def sessions(target: str) -> dict[str, list[str]]:
    with StoredDatabase.open(target) as database:
        return {each.key.session_id: [event.id for event in database.events(each.key)] for each in database.listing()}


@pytest.fixture(autouse=True)
def in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(words) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize("name", [V0, "other-adks/google2.0.0-chat_tools.db"])
@pytest.mark.parametrize("place", ["story.db", "my story's.db", "folder/story.db", "sqlite:///story.db", "SERVER"])
def test_what_cannot_be_written_is_copied_by_the_proposed_command(name: str, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = fixtures_dir() / name
    if place == "SERVER":
        if name != V0:
            pytest.skip("other programs' layouts are files")
        place = on_server(file)
    else:
        Path("folder").mkdir()
        shutil.copy(file, place.removeprefix("sqlite:///"))
    words = proposed(refused(["run", ORDERS, "--engine", "embedded", "--message", "hello", "--db", place], capsys))
    assert words[1] == place or "@" in place
    assert main(words) == 0
    assert sessions("new.db") == sessions(place)
    assert main(["run", ORDERS, "--engine", "embedded", "--message", "hello", "--db", "new.db"]) == 0


def test_a_damaged_file_is_recovered_by_the_proposed_command(capsys: pytest.CaptureFixture[str]) -> None:
    content = bytearray((fixtures_dir() / "open/adk2.13.0-v1-many_events.db").read_bytes())
    content[len(content) // 2 : len(content) // 2 + 40_000] = b"\xff" * 40_000
    Path("it's damaged.db").write_bytes(content)
    words = proposed(refused(["events", "it's damaged.db"], capsys))
    assert words == ["recover", "it's damaged.db", "recovered.db"]
    assert main(words) == 0
    assert main(["events", "recovered.db"]) == 0


def test_instead_of_writing_into_a_foreign_file_the_proposed_fork_leaves_out_what_would_be_taken_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(fixtures_dir() / "open/adk2.13.0-v1-chat_tools.db", "other's.db")
    with StoredDatabase.open("other's.db") as database:
        key = database.listing()[0].key
        last = database.invocations(key)[-1].invocation_id
    text = refused(["rewind", "other's.db", "--session", key.session_id, "--before", last], capsys)
    words = proposed(text)
    assert main(words) == 0
    kept = sessions("other's.db")[key.session_id]
    (forked,) = sessions("new.db").values()
    assert 0 < len(forked) < len(kept)


def test_a_waiting_run_ends_with_the_command_that_answers_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ORDERS, "--engine", "embedded", "--db", "its own.db", "--message", "40 boxes of A4 paper"]) == 3
    words = proposed(capsys.readouterr().out)
    assert main(words) == 0
    assert "finished" in capsys.readouterr().out
