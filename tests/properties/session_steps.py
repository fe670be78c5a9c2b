"""Random steps on sessions, and a plain replay of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from runtime.events import Event, EventActions
from runtime.sessions import BaseSessionService, Session
from runtime.sessions.state import scope_of

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


Step = tuple[str, tuple[str, str], dict[str, Any]]


deltas = st.dictionaries(st.sampled_from(KEYS), values, max_size=4)


sessions = st.tuples(st.sampled_from("uv"), st.sampled_from("st"))


steps = st.lists(st.tuples(st.sampled_from(["create", "append", "append", "append", "delete"]), sessions, deltas), max_size=25)


class Replay:
    """The simplest model: three dicts, and each session's view after each of its commits."""

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


async def play(service: BaseSessionService, steps: list[Step]) -> Replay:
    replay = Replay()
    held: dict[tuple[str, str], Session] = {}
    async with service:
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
