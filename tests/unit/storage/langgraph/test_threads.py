"""Threads of LangGraph as sessions, compared with what its own API returns."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.events.event import Event
from runtime.sessions.session_key import SessionKey
from runtime.storage.langgraph.threads import Checkpoint, Content, Thread, Write
from runtime.storage.langgraph.values import Typed
from runtime.storage.reading.reader import StoredDatabase
from tests.langgraph_threads import copy_of, differences, names, threads


@pytest.mark.parametrize("name", names())
def test_every_thread_is_as_langgraph_shows_it(name: str, tmp_path: Path) -> None:
    file = copy_of(name, tmp_path)
    content = file.read_bytes()
    with StoredDatabase.open(str(file)) as database:
        found = {thread["thread_id"]: differences(database, thread) for thread in threads(name)}
    assert found and not any(found.values()), found
    assert file.read_bytes() == content
    assert not [path for path in tmp_path.iterdir() if path.name not in (file.name, f"{file.name}-wal")]


def _events(name: str, thread: str, tmp_path: Path) -> list[Event]:
    with StoredDatabase.open(str(copy_of(name, tmp_path))) as database:
        return database.events(SessionKey(name, "user", thread))


def test_an_open_interrupt_says_who_can_answer_it_and_what_is_not_run_again(tmp_path: Path) -> None:
    name = "interrupts"
    with StoredDatabase.open(str(copy_of(name, tmp_path))) as database:
        (item,) = database.pending(SessionKey(name, "user", "parallel-one-open"))[SessionKey(name, "user", "parallel-one-open")]
    assert item.kind == "long_running" and item.args["value"] == {"from": "finance"}
    assert item.hint == "Only the graph's own code can answer: invoke it with Command(resume=…). It does not run legal again."


def test_a_failed_run_says_what_failed_and_what_is_not_run_again(tmp_path: Path) -> None:
    with StoredDatabase.open(str(copy_of("failures", tmp_path))) as database:
        (run,) = database.invocations(SessionKey("failures", "user", "failed"))
    assert (run.status, run.reason) == ("unfinished", "right failed with RuntimeError; a resume does not run left again")


def test_encrypted_checkpoints_and_pickles_are_named_and_not_read(tmp_path: Path) -> None:
    (sealed, *_) = _events("encrypted", "sealed", tmp_path)
    assert sealed.error_code == "UNREADABLE_CHECKPOINT" and "is encrypted (msgpack+aes)" in (sealed.error_message or "")
    *_, pickled = _events("pickled", "hostile-checkpoint", tmp_path)
    assert "is a pickle, which is not read" in (pickled.error_message or "")
    assert not (tmp_path / "PWNED").exists() and not Path("PWNED").exists()


def test_an_inner_graph_is_nested_and_does_not_leave_its_keys_in_the_state(tmp_path: Path) -> None:
    name = "subgraphs"
    key = SessionKey(name, "user", "nested-done")
    with StoredDatabase.open(str(copy_of(name, tmp_path))) as database:
        events, state, history = database.events(key), database.state(key), database.history(key)
    inner = [event for event in events if event.branch]
    assert {"one", "deepest", "ask"} <= {event.author for event in inner}
    assert any("secret_note" in event.actions.state_delta for event in inner)
    assert state.get("secret_note") is None and history.state_at(len(events) - 1).merged().get("secret_note") is None


def test_other_branches_are_forks_of_the_newest(tmp_path: Path) -> None:
    name = "edits"
    with StoredDatabase.open(str(copy_of(name, tmp_path))) as database:
        lineages = database.lineages()
        forks = {key: lineage for key, lineage in lineages.items() if lineage.parent.session_id == "two-forks"}
        events = {key: database.events(key) for key in (SessionKey(name, "user", "two-forks"), *forks)}
    assert len(forks) == len(next(each for each in threads(name) if each["thread_id"] == "two-forks")["leaves"]) - 1 > 0
    for key, lineage in forks.items():
        shared = [event.id for event in events[key][: lineage.event_count]]
        assert shared == [event.id for event in events[lineage.parent][: lineage.event_count]]
        assert shared[-1:] == ([lineage.event_id] if lineage.event_id else [])
        assert [event.id for event in events[key]] != [event.id for event in events[lineage.parent]]


def test_a_key_of_the_user_may_be_named_like_a_channel_of_langgraph() -> None:
    own = {"branch:to:x": None, "join:l+r:z": Typed("builtins", "set", ["l"]), "start:y": "__start__", "__start__": {}, "node": "node"}
    state = {"branch:main": 1, "user:name": "eva", "join:a:b": [1], "start:x": "no", "word": "word", "messages": {"a": 1}}
    place = Checkpoint("", "1", None, "loop", {})
    thread = Thread([place], lambda _: Content(0.0, own | state, {"node": {}}), lambda _: [])
    assert thread.values(place) == state


def test_two_tasks_may_ask_the_same_question_without_an_id() -> None:
    first, second = Checkpoint("", "1", None, "input", {}), Checkpoint("", "2", "1", "loop", {})
    asks = [Write(task, f"~__pregel_pull, {task}", "__interrupt__", [{"value": "same?"}]) for task in ("left", "right")]
    thread = Thread([first, second], lambda _: Content(0.0, {}, {}), lambda place: asks if place is second else [])
    events = [event for step in thread.steps([first, second]) for event in step]
    assert [event["author"] for event in events] == ["left", "right"]
    assert len({name for event in events for name in event["long_running_tool_ids"]}) == 2
