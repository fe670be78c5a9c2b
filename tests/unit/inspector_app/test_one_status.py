"""The window, the list of sessions, the doctor, the commands and the library give an invocation the same status."""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from inspector_app.analysis.session_facts import read_facts
from inspector_app.cli import main
from inspector_app.documents import sources
from inspector_app.documents.long_session import TAIL
from inspector_app.documents.session_address import SessionAddress
from inspector_app.support.preferences import Preferences
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.kept_sessions import KeptSessions
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.history.invocations import Invocation, PendingItem, invocations
from runtime.sessions import BaseSessionService, DatabaseSessionService, SqliteSessionService
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from tests.answered_trees import stopped_runs
from tests.fixture_paths import copy_of, fixtures_dir, manifest
from tests.sweep import count
from tests.unit.inspector_app.workspace.fakes import FakeTasks

OTHER_ADKS = sorted(f"other-adks/{path.name}" for path in (fixtures_dir() / "other-adks").glob("*.db"))
Waiting = dict[SessionKey, list[tuple[PendingItem, bool]]]  # items, and whether the conversation has gone on since
CUT = "DELETE FROM events WHERE rowid IN (SELECT rowid FROM events ORDER BY rowid DESC LIMIT ?)"
DATABASES = [f"open/{entry['file']}" for entry in manifest()] + OTHER_ADKS


def _pending(found: Mapping[SessionKey, list[Invocation]]) -> Waiting:
    return _all({key: [item for each in entries for item in each.pending] for key, entries in found.items()})


def _all(found: Mapping[SessionKey, list[PendingItem]]) -> Waiting:
    return {key: [(item, item.is_past) for item in items] for key, items in found.items() if items}


async def check(file: Path, *, most: int = 1_000) -> int:
    """Ask everything that tells statuses about every session of a database; return the number of invocations."""
    target = str(file)
    with StoredDatabase.open(target) as database:
        keys = [summary.key for summary in database.sessions()][:most]
        ends = database.recorded_ends()
        statuses = {key: invocations(database.events(key), ends=ends.get(key, {})) for key in keys}
        for key in keys:
            assert database.invocations(key) == statuses[key]
            assert list(read_facts(database, key, target).invocations) == statuses[key]
        waiting = _pending(statuses)
        assert _known(_all(database.pending()), keys) == waiting
        if database.layout.format.is_json:
            assert _known(_pending(database.unfinished()), keys) == waiting
        longest = max((len(database.events(key)) for key in keys), default=0)
    if longest <= TAIL:
        with patch.object(sources, "LONG", 0):  # as of long sessions
            await _check_window(target, statuses, waiting)
    await _check_window(target, statuses, waiting)
    return sum(map(len, statuses.values()))


def _known(found: Waiting, keys: list[SessionKey]) -> Waiting:
    return {key: items for key, items in found.items() if items and key in keys}


async def _check_window(target: str, statuses: Mapping[SessionKey, list[Invocation]], waiting: Waiting) -> None:
    tasks, cursor, catalog = FakeTasks(), Cursor(), SessionCatalog()
    with tempfile.TemporaryDirectory() as folder:
        kept = KeptSessions(Preferences(Path(folder) / "preferences.json"), MessageBus())
    databases = OpenDatabases(catalog, tasks, kept)  # type: ignore[arg-type]
    current = CurrentSession(cursor, databases, catalog, tasks)  # type: ignore[arg-type]
    await databases.open_database(target, scan=False)
    (source,) = (each for each in databases.sources if each.target == target)
    try:
        for key, expected in statuses.items():
            assert await source.latest_invocations(key) == expected
            assert _all({key: await source.pending(key)}).get(key, []) == waiting.get(key, [])
            address = SessionAddress(target, key)
            cursor.select_session(address)
            await tasks.run_all()
            assert current.session is not None
            assert current.session.invocations == expected
            assert current.session.statuses == {each.invocation_id: each.word for each in expected}
            assert _all({key: catalog.pending.get(address, [])}).get(key, []) == waiting.get(key, [])
    finally:
        await databases.close()


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Return what a command prints."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def check_commands(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that the commands say the same."""
    with StoredDatabase.open(str(file)) as database:
        statuses = {summary.key: database.invocations(summary.key) for summary in database.sessions()}
    listed = answer(capsys, "sessions", str(file))
    for session in listed:
        key = SessionKey(session["app_name"], session["user_id"], session["id"])
        names = ("--app", key.app_name, "--user", key.user_id, "--session", key.session_id)
        found = answer(capsys, "invocations", str(file), *names)
        assert [(each["invocation_id"], each["status"], each["reason"]) for each in found] == [
            (each.invocation_id, each.status, each.reason) for each in statuses[key]
        ]
        waiting = [(item.kind, item.invocation_id, item.call_id, item.name) for each in statuses[key] for item in each.pending]
        assert [(item["kind"], item["invocation_id"], item["call_id"], item["name"]) for item in session["pending"]] == waiting


@pytest.mark.rule("C9", "I3")
@pytest.mark.sweep
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("layout", ["v1", "sqlite"])
async def test_stopped_and_answered_runs_have_one_status(
    layout: str, qapp: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trees, stops, found = count(quick=5, full=300), count(quick=2, full=1_000), 0
    for seed in range(trees):
        file = tmp_path / f"{seed}.db"
        service: BaseSessionService = DatabaseSessionService(f"sqlite:///{file}") if layout == "v1" else SqliteSessionService(file)
        async with service:
            for number, (_, _, events) in enumerate(await stopped_runs(seed, stops)):
                session = await service.create_session(app_name="app", user_id="u", session_id=f"s{number}")
                for event in events:
                    await service.append_event(session, event.model_copy(deep=True, update={"id": ""}))
        found += await check(file)
        check_commands(file, capsys)
    sys.stderr.write(f"{trees} trees in {layout}: {found} stops\n")


@pytest.mark.rule("C9", "I3")
@pytest.mark.sweep
@pytest.mark.timeout(7200)
async def test_every_prefix_of_a_fixture_has_one_status(qapp: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance, prefixes, found = random.Random(4), 0, 0
    names = chance.sample(DATABASES, count(quick=8, full=len(DATABASES)))
    for name in names:
        file = copy_of(name, tmp_path)
        file.chmod(0o644)
        found += await check(file)
        check_commands(file, capsys)
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            left = connection.execute("SELECT count(*) FROM events").fetchone()[0]
            removed = max(left // count(quick=3, full=40), 1)  # at once
            while connection.execute(CUT, (removed,)).rowcount:
                found += await check(file, most=20)
                prefixes += 1
    sys.stderr.write(f"{prefixes} prefixes of {len(names)} databases: {found} invocations\n")
