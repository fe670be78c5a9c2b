"""The writers of a key: agents, tools and other sessions, earlier values, and parallel writes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from runtime.agents import LlmAgent, ParallelAgent, ReadonlyContext, SequentialAgent, ToolContext
from runtime.events import Event, EventActions
from runtime.forks.fork import fork_session
from runtime.history.key_writers import are_parallel, reading_agents, readings_of, writes_of
from runtime.history.state_at import History
from runtime.history.state_checkpoints import SharedWrite
from runtime.models.scripted_llm import ScriptedLlm
from runtime.sessions import BaseSessionService, DatabaseSessionService, SqliteSessionService
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import copy_of
from tests.seeds.running import run, runner_for

KEY = SessionKey("app", "u", "s")


async def note(number: int, tool_context: ToolContext) -> dict[str, int]:
    """Notes a number."""
    tool_context.state.update({"n": number, "user:n": number, "temp:n": number})
    return {"noted": number}


def noting(name: str, number: int, **more: Any) -> LlmAgent:
    return LlmAgent(name=name, model=ScriptedLlm(replies=[{"calls": [["note", {"number": number}]]}, "ok"]), tools=[note], **more)


@pytest.fixture(params=["v1", "adk_web"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> BaseSessionService:
    return DatabaseSessionService(str(tmp_path / "s.db")) if request.param == "v1" else SqliteSessionService(tmp_path / "s.db")


async def test_writes_have_their_tool_and_earlier_value(service: BaseSessionService, tmp_path: Path) -> None:
    branches = ParallelAgent(name="both", sub_agents=[noting("left", 1), noting("right", 2)])
    root = SequentialAgent(name="root", sub_agents=[branches, noting("last", 3)])
    async with service:
        await service.create_session(app_name="app", user_id="u", session_id="s", state={"n": 0})
        await run(runner_for(root, service), "go")
        await runner_for(root, service).edit_state(user_id="u", session_id="s", changes={"n": 9})
    with StoredDatabase.open(str(tmp_path / "s.db")) as database:
        writes = database.writes(KEY, "n")
        temp = database.writes(KEY, "temp:n")
    assert [(write.author, write.branch, write.tools, write.before, write.after, write.is_new) for write in writes] == [
        ("", None, (), None, 0, True),
        ("left", "both.left", ("note",), 0, 1, False),
        ("right", "both.right", ("note",), 1, 2, False),
        ("last", None, ("note",), 2, 3, False),
        ("system", None, (), 3, 9, False),
    ]
    assert all(write.known for write in writes)
    assert [write.parallel for write in writes] == [(), (writes[2].event_id,), (writes[1].event_id,), (), ()]
    assert [(write.author, write.after) for write in temp] == [(name, "not stored (int)") for name in ("left", "right", "last")]


async def test_writes_of_shared_keys_include_other_sessions_but_not_forks(service: BaseSessionService, tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    async with service:
        for user, session_id in (("u", "s"), ("u", "other"), ("v", "foreign")):
            session = await service.create_session(app_name="app", user_id=user, session_id=session_id, state={"user:n": session_id})
            delta = {"user:n": f"{session_id}!", "app:n": session_id}
            await service.append_event(session, Event(author="me", invocation_id="i", actions=EventActions(state_delta=delta)))
        await service.delete_session(app_name="app", user_id="v", session_id="foreign")
    fork = await fork_session(path, KEY)
    with StoredDatabase.open(path) as database:
        users, apps = database.writes(fork.key, "user:n"), database.writes(KEY, "app:n")
    assert [(write.session.session_id, write.author, write.before, write.after, write.is_new) for write in users] == [
        ("s", "", None, "s", True),
        ("s", "me", "s", "s!", False),
        ("other", "", "s!", "other", False),
        ("other", "me", "other", "other!", False),
    ]
    assert [(write.session.session_id, write.before, write.after) for write in apps] == [
        ("s", None, "s"),
        ("other", "s", "other"),
        ("", "other", "foreign"),
    ]


def test_the_first_value_is_unknown_in_another_programs_database(tmp_path: Path) -> None:
    for name in ("adk2.13.0-v1-shared_state", "adk1.18.0-v0-shared_state", "adk2.13.0-sqlite-shared_state"):
        with StoredDatabase.open(str(copy_of(f"open/{name}.db", tmp_path))) as database:
            for summary in database.sessions():
                for key, present in database.state(summary.key).items():
                    writes = database.writes(summary.key, key)
                    assert not writes or not key.startswith(("user:", "app:")) or not writes[0].known
                    if writes and key.startswith(("user:", "app:")):
                        assert writes[-1].after == present


async def test_prompts_that_read_a_key_are_found(tmp_path: Path) -> None:
    def made(context: ReadonlyContext) -> str:
        return "x"

    reader = LlmAgent(name="reader", model=ScriptedLlm(replies=["read"]), instruction="Say {n} and {other?} and {{n}}.")
    maker = LlmAgent(name="maker", model=ScriptedLlm(replies=["made"]), instruction=made)
    escaped = LlmAgent(name="escaped", model=ScriptedLlm(replies=["no"]), instruction="Say ${{n}}, {n.x} and n.")
    root = SequentialAgent(name="root", sub_agents=[noting("one", 1), reader, maker, escaped, noting("two", 2)])
    assert reading_agents(root, "n") == {"reader": True, "maker": False}
    assert reading_agents(root, "other") == {"reader": True, "maker": False}
    async with DatabaseSessionService(str(tmp_path / "s.db")) as service:
        await service.create_session(app_name="app", user_id="u", session_id="s", state={"n": 0})
        for text in ("go", "again"):
            await run(runner_for(root, service), text)
    with StoredDatabase.open(str(tmp_path / "s.db")) as database:
        history = database.history(KEY)
    writes = writes_of(history, KEY, "n")
    assert [write.after for write in writes] == [0, 1, 2]
    readings = readings_of(history, root, "n", writes)
    assert [(reading.agent, reading.write) for reading in readings] == [("reader", 1), ("reader", 2)]
    assert all(history.events[reading.index].id == reading.event_id for reading in readings)


def test_the_writes_of_a_key_are_those_of_the_events_deltas() -> None:
    deltas = [{"k": 1, "temp:t": 1}, {"user:u": 2}, {"k": 2, "user:u": 3}, {"temp:t": 2}, {"k": None, "other": 1}]
    events = [Event(id=str(n), author="a", invocation_id=f"i{n // 4}", actions={"state_delta": delta}) for n, delta in enumerate(deltas)]
    shared = [SharedWrite(-1, {"user:u": 0}), SharedWrite(2, {"user:u": 9}, complete="user"), SharedWrite(4, {}, forgotten=("session",))]
    for baseline in (None, {"k": 0}):
        history = History(events, baseline=baseline, shared=shared, present={"user:u": 3, "k": None})
        for name in ("k", "user:u", "temp:t", "other", "none"):
            expected = [(index, one) for index in range(len(events)) for one in history.delta_at(index) if one.key == name]
            assert list(history.changes_of(name)) == expected


def test_the_time_for_the_writes_of_a_key_does_not_grow_with_the_other_keys() -> None:
    events = [Event(id=str(n), author="a", invocation_id="i", actions={"state_delta": {"k": n}}) for n in range(500)]
    histories = [History(events, baseline={f"other{n}": n for n in range(count)}) for count in (10, 50_000)]

    def seconds(history: History) -> float:
        begin = time.thread_time()
        assert len(writes_of(history, KEY, "k")) == 500
        return time.thread_time() - begin

    few, many = (min(seconds(history) for _ in range(3)) for history in histories)
    assert many < 10 * few + 0.05


@pytest.mark.parametrize(
    ("branch", "other", "parallel"),
    [
        ("both.left", "both.right", True),
        ("both.left", "both.left.inner", False),
        ("both.left", "both.left2", True),
        ("both.left", "both.left2.inner", True),
        ("both.left", "both.left", False),
        ("both.left", None, False),
    ],
)
def test_branches_are_parallel_unless_one_is_inside_the_other(branch: str, other: str | None, parallel: bool) -> None:
    assert are_parallel(branch, other) is are_parallel(other, branch) is parallel
