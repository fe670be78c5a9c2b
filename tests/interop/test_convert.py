"""The real google-adk opens and continues databases converted from every layout and version."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.convert import convert
from tests.fixture_paths import fixtures_dir, manifest
from tests.interop.google_adk import run_adk
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
