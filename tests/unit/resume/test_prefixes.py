"""A resumed run's events after every prefix of a run, compared with google-adk (prefixes-1.39.1.json).

Where the specification requires more than google-adk does, ours differs: `BETTER` lists each such place with its reason.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from runtime.apps import App, ResumabilityConfig
from runtime.events import Event
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService
from tests.agent_specs import build_agent, message, shown
from tests.fixture_paths import fixtures_dir

_FINISHED = "finished work is not done again: an agent whose end or final response is committed does not run, nor call its model, again"
_ASKED = "a call whose request is committed, but not its result, commits its result after the resume"
_PAUSED = "a paused child stays paused until it is answered; its parent does not continue"

# tree → numbers of kept events → why ours yields the rest of the uninterrupted run, and google-adk something else
BETTER: dict[str, tuple[set[int], str]] = {
    "seq_llm": ({3, 4, 6, 7}, _FINISHED),
    "seq_tools": ({3, 4, 8, 9, 11, 12}, _FINISHED),
    "loop_llm": ({3, 4, 6, 7, 9, 10, 12, 13}, _FINISHED),
    "loop_emit": ({5, 6, 10, 11, 15, 16}, _FINISHED),
    "parallel_llm": ({3, 4, 5}, _FINISHED),
    "nested": ({3, 4, 8, 9, 11, 12, 13, 16, 17, 19, 20, 21, 22, 24, 25}, _FINISHED),
    "steps": ({5, 6}, _FINISHED),
    "solo_tool": ({4}, _FINISHED),
    "solo_two_calls": ({4}, _FINISHED),
    "transfer": ({6, 7}, _FINISHED),
    "confirm": ({3}, _ASKED),
    "lro_seq": ({3, 4, 6, 7}, _FINISHED + "; " + _PAUSED),
}

TREES = json.loads((fixtures_dir() / "open" / "prefixes-1.39.1.json").read_text("utf-8"))


def _app(tree: dict[str, Any]) -> App:
    return App(name="app", root_agent=build_agent(tree["agent"]), resumability_config=ResumabilityConfig(is_resumable=True))


async def _run(tree: dict[str, Any]) -> list[Event]:
    """Run a tree without interruption and return its events, the user's message first."""
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    runner = Runner(app=_app(tree), session_service=service)
    async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message(tree["message"])):
        pass
    stored = await service.get_session(app_name="app", user_id="u", session_id="s")
    assert stored is not None
    return list(stored.events)


async def _resume(tree: dict[str, Any], kept: list[Event]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Resume a run with only the events `kept` committed; return its events and the final state."""
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    for event in kept:
        await service.append_event(session, event.model_copy(deep=True))
    runner = Runner(app=_app(tree), session_service=service)
    events = [event async for event in runner.run_async(user_id="u", session_id="s", invocation_id=kept[0].invocation_id)]
    stored = await service.get_session(app_name="app", user_id="u", session_id="s")
    assert stored is not None
    return [shown(event) for event in events], stored.state


def _as_one_event(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join the results of one turn's parallel calls: ours are separate events, in the order in which the tools return."""
    joined: list[dict[str, Any]] = []
    for row in rows:
        if joined and "responses" in row and "responses" in joined[-1] and row["author"] == joined[-1]["author"]:
            last = joined[-1]
            delta = {**last.get("state_delta", {}), **row.get("state_delta", {})}
            joined[-1] = {**last, "responses": sorted([*last["responses"], *row["responses"]], key=lambda pair: pair[0])}
            joined[-1] |= {"state_delta": delta} if delta else {}
        else:
            joined.append(row)
    return joined


def _by_branch(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort parallel agents' events by branch, keeping the order within each branch: the interleaving is random."""
    return sorted(rows, key=lambda row: (row.get("end_of_agent", False) and "branch" not in row, row.get("branch", "")))


@pytest.mark.rule("C11", "C2")
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree["name"])
async def test_an_uninterrupted_run_commits_what_google_adk_commits(tree: dict[str, Any]) -> None:
    assert _as_one_event([shown(event) for event in await _run(tree)]) == tree["events"]


@pytest.mark.rule("C1", "C2")
@pytest.mark.parametrize(
    ("tree", "row"), [pytest.param(tree, row, id=f"{tree['name']}-{row['keep']}") for tree in TREES for row in tree["resumed_after"]]
)
@pytest.mark.rule("C2")
async def test_resuming_after_a_prefix(tree: dict[str, Any], row: dict[str, Any]) -> None:
    events = await _run(tree)
    # The table counts a turn's results as one event.
    kept = next(
        count for count in range(1, len(events) + 1) if len(_as_one_event([shown(event) for event in events[:count]])) == row["keep"]
    )
    while kept < len(events) and len(_as_one_event([shown(event) for event in events[: kept + 1]])) == row["keep"]:
        kept += 1
    yields, state = await _resume(tree, events[:kept])
    keeps, reason = BETTER.get(tree["name"], (set(), ""))
    if row["keep"] in keeps:
        rest = [shown(event) for event in events[kept:]]
        assert _by_branch(yields) == _by_branch(rest), reason
        assert _by_branch(yields) != _by_branch(row["yields"]), "google-adk now does the same: remove the row from BETTER"
        finished = await _resume(tree, events)
        assert state == finished[1], reason
    else:
        assert _as_one_event(yields) == row["yields"]
        assert state == row["final_state"]
