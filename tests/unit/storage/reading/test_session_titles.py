"""The titles found from a few rows equal those of the law, told of every event."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.events import Event, EventActions
from runtime.forks.fork import Cut, fork_session
from runtime.history.session_title import METADATA, message_of, session_title
from runtime.sessions import DatabaseSessionService, SqliteSessionService
from runtime.sessions.note import NAME, Note
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir, manifest

HAND_MADE = sorted(f"hand/{path.name}" for path in (fixtures_dir() / "hand").glob("*.db"))
DATABASES = [f"open/{entry['file']}" for entry in manifest()] + HAND_MADE
SERVICES = {"v1": DatabaseSessionService, "sqlite": SqliteSessionService}


def by_the_law(database: StoredDatabase) -> dict[SessionKey, str]:
    found, lineages = {}, database.lineages()
    for summary in database.sessions():
        key = summary.key
        fork_at = lineages[key].event_count if key in lineages else None
        message, state = message_of(list(database.events(key))), database.state(key)
        found[key] = session_title(key, database.created(key), state=state, message=message, fork_at=fork_at)
    return found


def check(file: Path) -> dict[SessionKey, str]:
    with StoredDatabase.open(str(file)) as database:
        expected = by_the_law(database)
        assert database.titles() == expected
        assert database.titles(list(expected)) == expected
        return expected


def test_every_fixture_has_the_titles_of_the_law() -> None:
    found = [title for name in DATABASES for title in check(fixtures_dir() / name).values()]
    assert len(found) > 200
    assert "How is the weather in Lisbon?" in found


Said = tuple[str, str, str]  # author, text and invocation; a text `<` rewinds the invocation, `+` is a file
PLANS = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(["user", "user", "me"]), st.sampled_from(["Hello", "rewind it", "", " ", "+", "<", "<"]), st.sampled_from("abc")
        ),
        max_size=6,
    ),
    min_size=1,
    max_size=4,
)


def event(author: str, text: str, invocation: str) -> Event:
    if text == "<":
        return Event(author="user", invocation_id="r", actions=EventActions(rewind_before_invocation_id=invocation))
    file = types.Part(inline_data=types.Blob(data=b"x", mime_type="text/csv", display_name="a.csv"))
    parts = [file if text == "+" else types.Part(text=text)] if text else []
    return Event(author=author, invocation_id=invocation, content=types.Content(role="user", parts=parts))


async def write(file: Path, layout: str, plans: Sequence[Sequence[Said]], state: dict[str, Any] | None = None) -> None:
    async with SERVICES[layout](f"sqlite:///{file}" if layout == "v1" else str(file)) as service:
        for number, plan in enumerate(plans):
            session = await service.create_session(app_name="shop", user_id="ann", session_id=f"s{number}", state=state)
            for one in plan:
                await service.append_event(session, event(*one))


def without_index(file: Path) -> None:
    """Make a v1 file like those of google-adk's versions that created no index of a session's events."""
    with closing(sqlite3.connect(file)) as connection:
        for name in ("inspector_idx_events_session", "idx_events_app_user_session_ts_id"):
            connection.execute(f"DROP INDEX IF EXISTS {name}")
        connection.commit()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plans=PLANS, layout=st.sampled_from(list(SERVICES)), indexed=st.booleans())
async def test_any_sessions_have_the_titles_of_the_law(
    tmp_path_factory: pytest.TempPathFactory, plans: list[list[Said]], layout: str, indexed: bool
) -> None:
    file = tmp_path_factory.mktemp("titles") / "some.db"
    await write(file, layout, plans)
    if not indexed:
        without_index(file)
    assert len(check(file)) == len(plans)


@pytest.mark.parametrize(("layout", "indexed"), [("v1", True), ("v1", False), ("sqlite", True)])
async def test_rewinds_forks_and_late_messages_are_found(tmp_path: Path, layout: str, indexed: bool) -> None:
    file = tmp_path / "some.db"
    plans = [
        [("user", "Hello", "a"), ("user", "<", "a"), ("user", "Porto", "b")],
        [("user", "Hello", "a"), ("user", "<", "a")],
        [("me", "Welcome", "a"), ("user", "Lisbon", "a")],
        [("me", "Welcome", "a"), ("user", "+", "a"), ("me", "the user", "a")],
    ]
    await write(file, layout, plans)
    await fork_session(str(file), SessionKey("shop", "ann", "s2"), Cut(session_id="s4"))
    if not indexed:
        without_index(file)
    assert [*check(file).values()] == ["Porto", "Hello", "Lisbon", "a.csv", "Lisbon (fork at 2)"]


async def test_names_and_titles_of_adk_web_come_first(tmp_path: Path) -> None:
    file = tmp_path / "some.db"
    await write(file, "v1", [[("user", "Hello", "a")], [("user", "Bye", "a")]], {METADATA: {"displayName": "Greeting"}})
    one, other = (SessionKey("shop", "ann", name) for name in ("s0", "s1"))
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        await service.set_note(one, NAME, Note("Mine"))
    with StoredDatabase.open(str(file)) as database:
        assert database.titles() == {one: "Mine", other: "Greeting"}
        assert database.titles([other, SessionKey("shop", "ann", "none")], {other: "Given"}) == {other: "Given"}
        assert database.titles([other], {other: "\u200b"}) == {other: "Greeting"}


async def test_a_damaged_event_or_state_leaves_a_title(tmp_path: Path) -> None:
    file = tmp_path / "some.db"
    await write(file, "sqlite", [[("user", "Hello", "a")], [("user", "Bye", "a")]])
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE events SET event_data = '{\"author\": \"user\", oh' WHERE session_id = 's0'")
        connection.execute(f"UPDATE sessions SET state = '{{\"{METADATA}\"' WHERE id = 's1'")
        connection.commit()
    with StoredDatabase.open(str(file)) as database:
        titles = [*database.titles().values()]
        assert titles[0].startswith("shop, 2") and titles[1] == "Bye"
        assert [*database.titles(database.titles()).values()] == titles


async def test_a_message_of_another_spelling_is_found(tmp_path: Path) -> None:
    data = {"author": "user", "content": {"parts": [{"inlineData": {"displayName": "a.csv", "mimeType": "text/csv", "data": ""}}]}}
    file = tmp_path / "some.db"
    await write(file, "sqlite", [[("user", "Hello", "a")]])
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE events SET rowid = rowid * 1000000000000, event_data = ?", (json.dumps(data),))
        connection.commit()
    assert [*check(file).values()] == ["a.csv"]
