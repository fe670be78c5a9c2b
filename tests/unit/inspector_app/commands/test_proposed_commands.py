"""Commands that messages propose: each is run as it is written, in the situation that it is proposed in."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy.dialects.postgresql import JSONB

from inspector_app.analysis.doctor import examine
from inspector_app.cli import main
from inspector_app.engines.adk_storage import StorageRefusedError, session_storage
from inspector_app.engines.adk_worker import errors
from runtime.errors.missing_package_error import install_command
from runtime.storage.reading.reader import StoredDatabase
from tests.agent_folders import write_agent
from tests.fixture_paths import fixtures_dir
from tests.interop.google_adk import adk_python
from tests.postgres import server
from tests.sweep import count
from tests.unit.inspector_app.analysis.test_doctor import CASES
from tests.unit.inspector_app.analysis.v1_file import write_v1
from tests.unit.inspector_app.commands.test_repeat import AGENT as DICE

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


def test_two_runs_are_compared_by_the_proposed_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dice = write_agent(tmp_path / "dice", DICE)
    assert main(["run", dice, "--message", "hi", "--repeat", "2", "--db", "it's runs.db"]) == 0
    assert main(proposed(capsys.readouterr().out)) == 1, "as diff, for runs that differ"
    assert "look" in capsys.readouterr().out


def test_what_an_eval_got_is_compared_with_what_was_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dice = write_agent(tmp_path / "dice", DICE)
    turn = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "other"}]}, "intermediate_data": {
        "tool_uses": [{"name": "look", "args": {"word": "b"}}]}}  # fmt: skip
    Path("a.evalset.json").write_text(json.dumps({"eval_set_id": "a", "eval_cases": [{"eval_id": "one", "conversation": [turn]}]}))
    assert main(["eval", dice, "a.evalset.json", "--db", "its evals.db", "--engine", "embedded"]) == 1
    assert main(proposed(capsys.readouterr().out)) == 1, "as diff, for runs that differ"
    assert capsys.readouterr().err == ""


def test_what_was_deleted_is_restored_by_the_proposed_command(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(fixtures_dir() / "open/adk2.13.0-v1-chat_tools.db", "other.db")
    assert main(["convert", "other.db", "my story's.db"]) == 0
    before = sessions("my story's.db")
    capsys.readouterr()
    assert main(["delete", "my story's.db", "--session", *before, "--yes"]) == 0
    assert sessions("my story's.db") == {}
    assert main(proposed(capsys.readouterr().out)) == 0
    assert sessions("my story's.db") == before


def test_in_place_of_a_rewind_a_fork_is_proposed(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(fixtures_dir() / "open/adk2.13.0-v1-chat_tools.db", "other.db")
    assert main(["convert", "other.db", "mine.db"]) == 0
    with StoredDatabase.open("mine.db") as database:
        key = database.listing()[0].key
        last = database.invocations(key)[-1].invocation_id
    capsys.readouterr()
    assert main(["rewind", "mine.db", "--before", last, "--dry-run"]) == 0
    assert main(proposed(capsys.readouterr().out)) == 0
    assert len(sessions("mine.db")) == 2


@pytest.mark.parametrize("version", ["1.22.0", "1.27.5"])
@pytest.mark.parametrize("name", ["open/adk2.13.0-sqlite-chat_tools.db", "open/adk2.13.0-v1-chat_tools.db", V0])
def test_a_file_that_an_agents_google_adk_does_not_open_is_copied_for_it(name: str, version: str) -> None:
    shutil.copy(fixtures_dir() / name, "story.db")
    with pytest.raises(StorageRefusedError) as refusal:
        session_storage("story.db", version)
    assert main(proposed(str(refusal.value))) == 0
    assert session_storage("new.db", version)["kind"] == "database"


@pytest.mark.parametrize("name", [*CASES, "without its session", "taken name"])
def test_the_commands_that_the_doctor_proposes_succeed_and_mend_what_they_are_for(name: str) -> None:
    file, case = Path("new.db" if name == "taken name" else "it's a story.db"), "one time" if name == "taken name" else name
    write_v1(file, CASES.get(case, CASES["nothing"])[0], state=CASES.get(case, CASES["nothing"])[1])
    if name == "without its session":
        with sqlite3.connect(file) as connection:
            connection.execute("DELETE FROM sessions")
        connection.close()
    with StoredDatabase.open(str(file)) as database:
        found = [finding for finding in examine(database, str(file)) if finding.fix and finding.fix[1] != "resume"]
    mended = {"no call", "call comes later", "answered in reverse", "one time", "folded", "without its session", "taken name"}
    assert bool(found) == (name in mended)
    for finding in found:
        assert finding.fix is not None and main(list(finding.fix[1:])) == 0
        new = Path(finding.fix[finding.fix.index("--into") + 1] if "--into" in finding.fix else finding.fix[3])
        with StoredDatabase.open(str(new)) as database:
            assert finding.kind not in {each.kind for each in examine(database, str(new))}
        new.unlink()


@pytest.mark.parametrize("layout", ["ours", "of google-adk", "read-only"])
def test_an_open_call_that_the_doctor_finds_is_answered_by_its_command(layout: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ORDERS, "--engine", "embedded", "--db", "mine.db", "--message", "40 boxes of A4 paper"]) == 3
    shutil.copy(fixtures_dir() / "open/adk1.16.0-v0-lro_resumable-before.db", "read-only.db")
    with sqlite3.connect("mine.db") as connection:
        if layout == "of google-adk":
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'inspector%' AND type = 'table'").fetchall():
                connection.execute(f"DROP TABLE {table}")
    connection.close()
    file = "read-only.db" if layout == "read-only" else "mine.db"
    with StoredDatabase.open(file) as database:
        (fix,) = {finding.fix for finding in examine(database, file) if finding.kind == "unanswered call"}
    if layout == "read-only":
        assert fix is None, "it has to be copied before it is continued"
        return
    assert fix is not None
    assert main([ORDERS if word == "AGENT" else word for word in fix[1:]]) == 0
    assert "finished" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["state", "--session", "none"], ["state", "--at", "none"], ["rewind", "--before", "none"], ["costs", "--session", "none"]]
)
def test_what_can_be_named_is_listed_by_the_proposed_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(fixtures_dir() / "open/adk2.13.0-v1-chat_tools.db", "it's a story.db")
    assert main(["convert", "it's a story.db", "my story's.db"]) == 0
    (found,) = re.findall(r"`agent-inspector (.*)` lists", refused([words[0], "my story's.db", *words[1:]], capsys))
    assert main(shlex.split(found)) == 0
    assert capsys.readouterr().out


EXTRAS = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.sweep
@pytest.mark.parametrize("extra", sorted({*EXTRAS} - {"docs", "test", "interop"})[: count(2, 100)])
def test_what_is_missing_is_installed_by_the_proposed_command_beside_this_program(extra: str) -> None:
    command = install_command(extra=extra)
    assert "agent-inspector" not in command, "an index may have another project of that name"
    printed = installed(command)
    for package in EXTRAS[extra]:
        assert f"Requirement already satisfied: {re.split('[^A-Za-z0-9-]', package)[0]}" in printed


def installed(command: str) -> str:
    """Run an installer's command where all that it installs is there already, and return what it prints."""
    offline = {**os.environ, "PIP_NO_INDEX": "1", "PIP_DRY_RUN": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(command, shell=True, env=offline, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_google_adk_needs_to_store_sessions_is_installed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", adk_python())
    assert errors.install_command("sqlalchemy") == errors.install_command("greenlet")
    printed = installed(errors.install_command("sqlalchemy.ext.asyncio"))
    assert "satisfied: sqlalchemy" in printed and "satisfied: greenlet" in printed


def test_without_pip_the_proposed_installer_is_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)  # Python then finds no such package
    for command in (install_command("jinja2"), errors.install_command("jinja2")):
        assert command == shlex.join(("uv", "pip", "install", "--python", sys.executable, "jinja2"))
