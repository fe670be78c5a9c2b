"""Every session service returns any event exactly as stored, or rejects it before anything is written."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.errors import UnstorableValueError
from runtime.events import Event, EventActions
from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService, Session, SqliteSessionService
from tests.postgres import server
from tests.sweep import count

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
ANYTHING = JSON | st.binary() | st.tuples(st.integers()) | st.sets(st.integers()) | st.text(alphabet=st.characters(categories=["Cs", "Ll"]))
PARTS = (
    st.builds(types.Part, text=st.text())
    | st.builds(
        lambda name, args: types.Part(function_call=types.FunctionCall(id="c", name=name, args=args)),
        st.text(),
        st.dictionaries(st.text(), JSON),
    )
    | st.builds(lambda data: types.Part(inline_data=types.Blob(data=data, mime_type="x/y")), st.binary())
)


SERVICES: dict[str, Callable[[Path], BaseSessionService]] = {
    "in memory": lambda folder: InMemorySessionService(),
    "SQLite": lambda folder: DatabaseSessionService(f"sqlite:///{folder / 'v1.db'}"),
    "adk web's layout": lambda folder: SqliteSessionService(folder / "session.db"),
    "PostgreSQL": lambda folder: DatabaseSessionService(server().new_database()),
}


@pytest.mark.sweep
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", SERVICES)
def test_an_event_is_stored_exactly_or_rejected(name: str, tmp_path: Path) -> None:
    service, outcomes = SERVICES[name](tmp_path), Counter[str]()

    @settings(
        max_examples=count(quick=25, full=2000) if name == "PostgreSQL" else count(quick=60, full=5000),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        state=st.dictionaries(st.text() | st.sampled_from(["user:k", "app:k", "temp:k"]), ANYTHING, max_size=4),
        parts=st.lists(PARTS, max_size=3),
        metadata=st.none() | st.dictionaries(st.text(), ANYTHING, max_size=2),
        when=st.floats(min_value=1, max_value=4e9),
    )
    def store_anything(state: dict[str, Any], parts: list[types.Part], metadata: Any, when: float) -> None:
        content = types.Content(role="model", parts=parts)
        actions = EventActions(state_delta=state)
        outcomes[
            loop.run(_store(service, Event(author="me", timestamp=when, content=content, custom_metadata=metadata, actions=actions)))
        ] += 1

    with asyncio.Runner() as loop:
        store_anything()
        loop.run(service.close())
    assert outcomes.keys() == {"read back", "refused"}
    sys.stderr.write(f"{name}: {outcomes.total()} events, {outcomes['read back']} read back exactly, {outcomes['refused']} refused\n")


async def _store(service: BaseSessionService, event: Event) -> str:
    """Commit an event and check that either the exact event or nothing is stored."""
    outcome, sent = "read back", event.model_copy(deep=True)
    session = await service.create_session(app_name="a", user_id="u")
    try:
        await service.append_event(session, event)
    except UnstorableValueError:
        outcome = "refused"
    again = await service.get_session(app_name="a", user_id="u", session_id=session.id)
    assert again is not None
    assert list(again.events) == list(session.events)
    assert len(again.events) == (outcome == "read back")
    assert {key: repr(value) for key, value in again.state.items()} == _stored(session)
    for found in again.events:
        assert repr(found.actions.state_delta) == repr({k: v for k, v in sent.actions.state_delta.items() if not k.startswith("temp:")})
        assert repr(found.content) == repr(sent.content)
        assert repr(found.custom_metadata) == repr(sent.custom_metadata)
        assert found.timestamp == sent.timestamp
    return outcome


def _stored(session: Session) -> dict[str, str]:
    return {key: repr(value) for key, value in session.state.items() if not key.startswith("temp:")}
