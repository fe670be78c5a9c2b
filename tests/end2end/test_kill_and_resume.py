"""A run is killed with SIGKILL between its steps and resumed by another process."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.end2end.processes import ORDERS, STORY, agent_inspector, answer, lines, run_and_kill
from tests.sweep import count

STORY_SESSION = ("--app", "story", "--session", "s1")
ORDER_SESSION = ("--app", "orders", "--session", "s1")
TELL = ("run", STORY, "--message", "a story about the ferry", "--session", "s1", "--json")
ORDER = ("run", ORDERS, "--message", "40 boxes of A4 paper", "--session", "s1", "--json")


def work_in(events: list[dict[str, Any]]) -> list[Any]:
    """Return texts, calls and changes in order. A resumed custom agent may repeat its checkpoints, never its work."""
    texts = [
        (event["author"], [{k: v for k, v in part.items() if k == "text"} or sorted(part) for part in event["content"]["parts"]])
        for event in events
        if event.get("content")
    ]
    return [*texts, [event["actions"]["state_delta"] for event in events if event["actions"].get("state_delta")]]


def stored_events(database: Path, session: tuple[str, ...]) -> list[dict[str, Any]]:
    return lines(agent_inspector("events", str(database), *session, "--json").stdout)


@pytest.fixture(scope="module")
def whole_story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    database = tmp_path_factory.mktemp("whole") / "story.db"
    done = agent_inspector(*TELL, "--db", str(database))
    assert (done.returncode, done.stderr) == (0, "")
    return database


@pytest.mark.sweep
@pytest.mark.parametrize("kills", range(count(quick=3, full=60)))
def test_a_killed_story_is_finished_by_resume(whole_story: Path, tmp_path: Path, kills: int) -> None:
    whole = stored_events(whole_story, STORY_SESSION)
    printed = len(whole) - 1  # the user's message is not printed
    # The last events follow each other too fast for a kill in between.
    place = (1, 9, printed - 5, 4, 14)[kills] if kills < 5 else random.Random(kills).randrange(1, printed - 4)
    database = tmp_path / "story.db"

    run_and_kill(place, *TELL, "--db", str(database), delay=0.1)
    before = stored_events(database, STORY_SESSION)
    assert place < len(before) < len(whole)
    (invocation,) = answer("invocations", str(database), *STORY_SESSION)
    assert invocation["status"] == "interrupted"
    (session,) = answer("sessions", str(database))
    assert [item["kind"] for item in session["pending"]] == ["interrupted"]

    done = agent_inspector("resume", STORY, "--db", str(database), "--session", "s1", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    *_, end = lines(done.stdout)
    assert end["run"]["status"] == "finished"
    assert end["run"]["invocation_id"] == invocation["invocation_id"]
    after = stored_events(database, STORY_SESSION)
    assert after[: len(before)] == before
    assert work_in(after) == work_in(whole)
    assert answer("state", str(database), *STORY_SESSION) == answer("state", str(whole_story), *STORY_SESSION)


@pytest.mark.sweep
@pytest.mark.parametrize("kills", range(count(quick=1, full=60)))
def test_a_story_killed_twice_is_finished_by_resume(whole_story: Path, tmp_path: Path, kills: int) -> None:
    database = tmp_path / "story.db"
    printed = len(stored_events(whole_story, STORY_SESSION)) - 1
    chance = random.Random(kills)
    first, second = ((3, 5), (printed - 6, 1))[kills] if kills < 2 else (chance.randrange(1, printed - 4), 0)
    # A killed run may have committed a few more events than were read; the next run does not print those.
    second = second or chance.randrange(1, max(2, (printed - first) // 2))
    run_and_kill(first, *TELL, "--db", str(database), delay=0.1)
    run_and_kill(second, "resume", STORY, "--db", str(database), "--session", "s1", "--json", delay=0.1)
    (invocation,) = answer("invocations", str(database), *STORY_SESSION)
    assert invocation["status"] == "interrupted"
    assert agent_inspector("resume", STORY, "--db", str(database), "--session", "s1").returncode == 0
    assert work_in(stored_events(database, STORY_SESSION)) == work_in(stored_events(whole_story, STORY_SESSION))
    assert answer("state", str(database), *STORY_SESSION) == answer("state", str(whole_story), *STORY_SESSION)


@pytest.mark.sweep
@pytest.mark.parametrize("kills", range(count(quick=1, full=20)))
def test_an_order_killed_before_and_after_its_approval_is_finished(tmp_path: Path, kills: int) -> None:
    chance = random.Random(kills)
    database = tmp_path / "order.db"
    resume = ("resume", ORDERS, "--db", str(database), "--session", "s1", "--json")
    run_and_kill(chance.randrange(1, 4), *ORDER, "--db", str(database), delay=0.1)
    run_and_kill(chance.randrange(1, 3), *resume, delay=0.1)
    assert agent_inspector(*resume).returncode == 3
    run_and_kill(1, *resume, "--response", '{"status": "approved", "by": "Maria"}', delay=0.1)
    done = agent_inspector(*resume)
    assert (done.returncode, done.stderr) == (0, "")
    state = answer("state", str(database), *ORDER_SESSION)
    assert state["user"]["user:orders"] == [{"number": 1041, "total": 168.0}]
    results = [part for event in stored_events(database, ORDER_SESSION) for part in event.get("content", {}).get("parts", [])]
    calls = [part["function_call"]["id"] for part in results if "function_call" in part]
    assert len(calls) == len(set(calls)) == 6


def test_a_killed_order_can_be_approved(tmp_path: Path) -> None:
    whole, database = tmp_path / "whole.db", tmp_path / "order.db"
    assert agent_inspector(*ORDER, "--db", str(whole)).returncode == 3
    run_and_kill(4, *ORDER, "--db", str(database), delay=0.1)

    resumed = agent_inspector("resume", ORDERS, "--db", str(database), "--session", "s1", "--json")
    assert (resumed.returncode, resumed.stderr) == (3, "")
    (pending,) = lines(resumed.stdout)[-1]["run"]["pending"]
    assert (pending["kind"], pending["name"]) == ("long_running", "ask_for_approval")

    for file in (whole, database):
        approval = ("--response", '{"status": "approved", "by": "Maria"}')
        done = agent_inspector("resume", ORDERS, "--db", str(file), "--session", "s1", "--json", *approval)
        assert (done.returncode, done.stderr) == (0, "")
    assert work_in(stored_events(database, ORDER_SESSION)) == work_in(stored_events(whole, ORDER_SESSION))
    state = answer("state", str(database), *ORDER_SESSION)
    assert state == answer("state", str(whole), *ORDER_SESSION)
    assert state["user"]["user:orders"] == [{"number": 1041, "total": 168.0}]
    assert state["app"]["app:stock_calls"] == 2
