"""The real google-adk opens and continues our sessions; we read the events that it appends, also while we hold the session."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.errors import StaleSessionError
from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService, Session, SqliteSessionService
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import copy_of
from tests.interop.google_adk import adk_1_python, run_adk
from tests.interop.rich_events import RICH, dumped

READ = """
    service = SERVICE
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    listed = await service.list_sessions(app_name="a")
    return {
        "state": session.state,
        "events": [json.loads(event.model_dump_json(exclude_none=True)) for event in session.events],
        "last_update_time": session.last_update_time,
        "listed": sorted(item.id for item in listed.sessions),
    }
"""
APPEND = """
    service = SERVICE
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    for number in range(3):
        actions = EventActions(state_delta={"theirs": number, "user:theirs": number, "app:theirs": None})
        image = types.Part.from_bytes(data=bytes([255, 254]), mime_type="image/png")
        content = types.Content(role="model", parts=[types.Part(text="from google-adk"), image])
        await service.append_event(session, Event(author="adk", invocation_id="e-adk", content=content, actions=actions))
    return [event.id for event in session.events]
"""
THEIRS = {"v1": 'DatabaseSessionService("sqlite+aiosqlite:///" + args[0])', "sqlite": "SqliteSessionService(args[0])"}


@pytest.fixture(params=["v1", "sqlite"])
def layout(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def ours(layout: str, file: Path) -> DatabaseSessionService:
    return DatabaseSessionService(f"sqlite:///{file}") if layout == "v1" else SqliteSessionService(file)


def theirs(layout: str, code: str) -> str:
    return code.replace("SERVICE", THEIRS[layout])


async def fill(service: DatabaseSessionService) -> Session:
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"first": 1, "user:first": [2]})
    await service.create_session(app_name="a", user_id="v", session_id="other")
    for event in RICH:
        await service.append_event(session, event.model_copy(deep=True))
    return session


def backups(folder: Path) -> list[Path]:
    return list(folder.glob("*.backup-*"))


async def test_google_adk_reads_what_we_wrote(layout: str, tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with ours(layout, file) as service:
        session = await fill(service)
        # We still have the database open.
        read = run_adk(theirs(layout, READ), str(file))
    stored = {key: value for key, value in session.state.items() if not key.startswith("temp:")}
    assert read["state"] == stored
    assert read["listed"] == ["other", "s"]
    added_by_2x = {"node_info": {"path": ""}}
    assert read["events"] == [{**dumped(event), **added_by_2x} for event in session.events]


async def test_google_adk_continues_what_we_wrote_and_we_read_it(layout: str, tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with ours(layout, file) as service:
        session = await fill(service)
        ids = run_adk(theirs(layout, APPEND), str(file))
        assert ids[: len(RICH)] == [event.id for event in session.events]
        # Our copy of the session is stale, which is reported.
        with pytest.raises(StaleSessionError, match="another program"):
            await service.append_event(session, Event(author="me"))
        reloaded = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert reloaded is not None
        assert [event.id for event in reloaded.events] == ids
        assert reloaded.state["theirs"] == reloaded.state["user:theirs"] == 2
        assert reloaded.state["app:theirs"] is None
        content = reloaded.events[-1].content
        assert content and content.parts and content.parts[1].inline_data and content.parts[1].inline_data.data == b"\xff\xfe"
        await service.append_event(reloaded, Event(author="me", actions=EventActions(state_delta={"theirs": "ours again"})))
        read = run_adk(theirs(layout, READ), str(file))
        assert [event["id"] for event in read["events"]] == [*ids, reloaded.events[-1].id]
        assert read["state"]["theirs"] == "ours again"
    with StoredDatabase.open(str(file)) as database:
        history = database.history(session.key)
        states = [history.state_at(index).session.get("theirs") for index in range(-1, len(history.events))]
        assert states == [None] * (len(RICH) + 1) + [0, 1, 2, "ours again"]
        assert history.state_at(len(history.events) - 1).unknown == []


async def test_a_google_adk_session_held_while_we_append_is_stale_there(layout: str, tmp_path: Path) -> None:
    file = copy_of(f"open/adk2.13.0-{layout}-chat_tools.db", tmp_path)
    file.chmod(0o644)
    async with ours(layout, file) as service:
        session = await service.get_session(app_name="trip_planner", user_id="maria", session_id="s-1")
        assert session is not None
        await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"k": 1})))
    code = """
        service = SERVICE
        session = await service.get_session(app_name="trip_planner", user_id="maria", session_id="s-1")
        session.last_update_time -= 100
        if getattr(session, "_storage_update_marker", None): session._storage_update_marker = "old"
        try:
            await service.append_event(session, Event(author="adk"))
        except ValueError as error:
            return [len(session.events), type(error).__name__]
    """
    count, error = run_adk(theirs(layout, code), str(file))
    assert count == len(session.events)
    assert "Error" in error


async def test_google_adk_opens_the_backup_of_its_file(layout: str, tmp_path: Path) -> None:
    file = copy_of(f"open/adk2.13.0-{layout}-chat_tools.db", tmp_path)
    file.chmod(0o644)
    async with ours(layout, file) as service:
        await service.create_session(app_name="a", user_id="u", session_id="s")
    (backup,) = backups(tmp_path)
    code = """
        service = SERVICE
        session = await service.get_session(app_name="trip_planner", user_id="maria", session_id="s-1")
        return len(session.events)
    """
    assert run_adk(theirs(layout, code), str(backup)) == run_adk(theirs(layout, code), str(file)) == 10


async def test_google_adk_1_39_continues_what_we_wrote_and_we_read_it(layout: str, tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with ours(layout, file) as service:
        session = await fill(service)
        ids = run_adk(theirs(layout, APPEND), str(file), python=adk_1_python())
        assert ids[: len(RICH)] == [event.id for event in session.events]
        reloaded = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert reloaded is not None
        assert [event.id for event in reloaded.events] == ids
        await service.append_event(reloaded, Event(author="me", actions=EventActions(state_delta={"theirs": "ours again"})))
        read = run_adk(theirs(layout, READ), str(file), python=adk_1_python())
        assert [event["id"] for event in read["events"]] == [*ids, reloaded.events[-1].id]
        assert read["state"] == {key: value for key, value in reloaded.state.items() if not key.startswith("temp:")}
