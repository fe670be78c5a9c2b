"""google-adk continues the unusual files that we continued, which adds the rows it needs. Files that it cannot read stay unreadable."""

from __future__ import annotations

from pathlib import Path

from runtime.events import Event, EventActions
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import copy_of, fixtures_dir
from tests.interop.google_adk import run_adk

CONTINUE = """
    import pathlib
    found = {}
    for file in sorted(pathlib.Path(args[0]).glob("*_*.db")):
        service = SqliteSessionService(str(file)) if file.name.startswith("sqlite") else DatabaseSessionService(f"sqlite+aiosqlite:///{file}")
        try:
            session = await service.get_session(app_name="app", user_id="u", session_id="s")
            await service.append_event(session, Event(author="adk", actions=EventActions(state_delta={"app:theirs": 1})))
            found[file.name] = [event.id for event in session.events]
        except Exception as error:
            found[file.name] = str(error)
    return found
"""
UNKNOWN_KEY = {"sqlite_unknown_key_in_actions.db", "v1_unknown_key_in_actions.db"}


async def test_google_adk_continues_files_that_we_continued(tmp_path: Path) -> None:
    names = [path.name for path in (fixtures_dir() / "hand").glob("*.db") if not path.name.startswith("v0")]
    for name in names:
        file = copy_of(f"hand/{name}", tmp_path)
        file.chmod(0o644)
        async with open_session_service(str(file)) as service:
            session = await service.get_session(app_name="app", user_id="u", session_id="s")
            assert session is not None
            await service.append_event(session, Event(author="me", id="ours", actions=EventActions(state_delta={"user:ours": 1})))
    found = run_adk(CONTINUE, str(tmp_path))
    assert set(found) == set(names)
    for name, said in found.items():
        if name in UNKNOWN_KEY:
            assert "our_own_field" in said
            continue
        assert said[:6] == ["hand-0", "hand-1", "hand-2", "hand-3", "hand-4", "ours"], name
        with StoredDatabase.open(str(tmp_path / name)) as database:
            key = database.sessions()[0].key
            assert [event.id for event in database.events(key)] == said
            state = database.state(key)
            assert (state["user:ours"], state["app:theirs"]) == (1, 1)
