"""The real google-adk opens and continues databases converted from every layout and version."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from inspector_app.engines.adk_storage import session_storage
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.convert import convert
from tests.architecture.source_rules import ROOT
from tests.fixture_paths import fixtures_dir, manifest
from tests.interop.google_adk import adk_1_25_python, run_adk
from tests.sweep import count

APPEND_TO_ALL = """
    import pathlib
    found = {}
    for file in sorted(pathlib.Path(args[0]).glob("*.db")):
        service = DatabaseSessionService("sqlite+aiosqlite:///" + str(file))
        for app, user, name in json.loads(file.with_suffix(".json").read_text()):
            session = await service.get_session(app_name=app, user_id=user, session_id=name)
            before = [event.id for event in session.events]
            await service.append_event(session, Event(author="adk", actions=EventActions(state_delta={"theirs": 1})))
            found[f"{file.name} {app} {user} {name}"] = before
        await service.db_engine.dispose()
    return found
"""


@pytest.mark.sweep
def test_google_adk_opens_and_continues_what_was_converted(tmp_path: Path) -> None:
    expected: dict[str, list[str]] = {}
    files = [fixtures_dir() / "open" / entry["file"] for entry in manifest()][:: count(quick=3, full=1)]
    files += (fixtures_dir() / "hand").glob("*.db")
    for number, old in enumerate(files):
        new = tmp_path / f"{number}.db"
        convert(str(old), str(new), drops_unreadable="hostile" in old.name)  # refuses none of google-adk's own files
        with StoredDatabase.open(str(new)) as database:
            keys = [summary.key for summary in database.sessions()]
            for key in keys:
                events = database.events(key)
                expected[f"{new.name} {key.app_name} {key.user_id} {key.session_id}"] = [event.id for event in events]
        new.with_suffix(".json").write_text(json.dumps([(key.app_name, key.user_id, key.session_id) for key in keys]))
    assert run_adk(APPEND_TO_ALL, str(tmp_path)) == expected
    with StoredDatabase.open(str(tmp_path / "0.db")) as database:
        assert database.state(database.sessions()[0].key)["theirs"] == 1
    sys.stderr.write(f"{len(files)} databases converted: google-adk opens and continues all {len(expected)} sessions\n")


@pytest.mark.parametrize("name", ["v1.db", "sqlite.db"])
def test_an_old_google_adk_continues_a_copy_without_the_fields_of_google_adk_2(tmp_path: Path, name: str) -> None:
    new = tmp_path / "new.db"
    done = convert(str(ROOT / "tests" / "data" / name), str(new), for_old_adk=True)
    assert any(note.startswith(f"{done.events:,} events had fields that google-adk up to 1.27 refuses") for note in done.notes)
    assert session_storage(str(new), "1.25.0")["kind"] == "database"
    with StoredDatabase.open(str(new)) as database:
        (key,) = [summary.key for summary in database.sessions()]
        ids = [event.id for event in database.events(key)]
    new.with_suffix(".json").write_text(json.dumps([(key.app_name, key.user_id, key.session_id)]))
    (continued,) = run_adk(APPEND_TO_ALL, str(tmp_path), python=adk_1_25_python()).values()
    assert continued == ids
    with StoredDatabase.open(str(new)) as database:
        assert database.state(key)["theirs"] == 1
