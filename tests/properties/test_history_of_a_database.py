"""State at N is exact: whatever sessions do to each other's shared keys, it equals a plain replay of all commits."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService, Session, SqliteSessionService
from runtime.sessions.session import SessionKey
from runtime.sessions.state import scope_of
from runtime.sessions.stored.reader import StoredDatabase

KEYS = ("a", "b", "user:a", "user:b", "app:a", "app:b", "temp:a")
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
deltas = st.dictionaries(st.sampled_from(KEYS), values, max_size=4)
sessions = st.tuples(st.sampled_from("uv"), st.sampled_from("st"))
steps = st.lists(st.tuples(st.sampled_from(["create", "append", "append", "append", "delete"]), sessions, deltas), max_size=25)


class Replay:
    """The plainest possible model: three dicts, and what each session saw after each of its commits."""

    def __init__(self) -> None:
        self.own: dict[tuple[str, str], dict[str, Any]] = {}
        self.user: dict[str, dict[str, Any]] = {"u": {}, "v": {}}
        self.app: dict[str, Any] = {}
        self.seen: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def apply(self, who: tuple[str, str], delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            scope = scope_of(key)
            if scope != "temp":
                {"session": self.own[who], "user": self.user[who[0]], "app": self.app}[scope][key] = value
        self.seen.setdefault(who, []).append({**self.own[who], **self.app, **self.user[who[0]]})


@pytest.mark.parametrize("layout", ["v1", "sqlite"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=steps)
def test_state_at_equals_a_plain_replay(layout: str, steps: list[tuple[str, tuple[str, str], dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.db"
        replay = asyncio.run(_play(layout, file, steps))
        if not file.exists():
            return
        with StoredDatabase.open(str(file)) as database:
            assert {summary.key for summary in database.sessions()} == {SessionKey("app", *who) for who in replay.own}
            for who, seen in replay.seen.items():
                history = database.history(SessionKey("app", *who))
                assert len(history.events) == len(seen) - 1
                for index, state in enumerate(seen, start=-1):
                    scoped = history.state_at(index)
                    assert scoped.unknown == []
                    assert repr(dict(sorted(scoped.merged().items()))) == repr(dict(sorted(state.items())))
                for index, event in enumerate(history.events):
                    before = history.state_at(index - 1)
                    for change in history.delta_at(index):
                        if change.kind == "added" and change.scope == "session":
                            assert change.key not in before.session
                        assert change.scope == "temp" or repr(change.after) == repr(event.actions.state_delta[change.key])
                now = {**replay.own[who], **replay.app, **replay.user[who[0]]}
                assert database.state(SessionKey("app", *who)) == now


async def _play(layout: str, file: Path, steps: list[tuple[str, tuple[str, str], dict[str, Any]]]) -> Replay:
    replay = Replay()
    held: dict[tuple[str, str], Session] = {}
    async with DatabaseSessionService(f"sqlite:///{file}") if layout == "v1" else SqliteSessionService(file) as service:
        for what, who, delta in steps:
            user_id, session_id = who
            if what == "create" and who not in held:
                held[who] = await service.create_session(app_name="app", user_id=user_id, session_id=session_id, state=delta)
                replay.own[who] = {}
                replay.apply(who, delta)
            elif what == "append" and who in held:
                await service.append_event(held[who], Event(author="me", invocation_id="i", actions=EventActions(state_delta=dict(delta))))
                replay.apply(who, delta)
            elif what == "delete" and who in held:
                await service.delete_session(app_name="app", user_id=user_id, session_id=session_id)
                del held[who], replay.own[who], replay.seen[who]
    return replay
