"""A run that is cut off anywhere and resumed ends like the uninterrupted run, even if the resumed run is cut off too."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.agents import ToolContext
from runtime.events import Event
from runtime.events.marks import is_replayed_checkpoint
from runtime.sessions import InMemorySessionService
from runtime.tools import FunctionTool
from tests import sweep
from tests.agent_specs import TOOLS, build_agent, message, shown
from tests.seeds.running import runner_for, stored

STEPS = ("x", "y", "z")
LEAVES = st.sampled_from(["text", "text with key", "one call", "two calls", "steps"])


def trees(depth: int = 2) -> st.SearchStrategy[Any]:
    """Shapes of agent trees: a leaf's kind, or a workflow's with its sub-agents' shapes."""
    if depth == 0:
        return LEAVES
    subs = st.lists(trees(depth - 1), min_size=1, max_size=3)
    return st.one_of(
        LEAVES,
        st.tuples(st.just("sequential"), subs),
        st.tuples(st.just("parallel"), subs),
        st.tuples(st.just("loop"), subs, st.integers(1, 3), st.booleans()),
    )


def spec_of(shape: Any, names: Iterator[int]) -> dict[str, Any]:
    """Turn a shape into the fixtures' description of agents, with generated names."""
    name = f"a{next(names)}"
    if isinstance(shape, tuple):
        kind, subs = shape[0], [spec_of(sub, names) for sub in shape[1]]
        spec = {"type": kind, "name": name, "sub_agents": subs}
        if kind == "loop":
            spec["max_iterations"] = shape[2]
            if shape[3]:
                leaver = {
                    "type": "llm",
                    "name": f"{name}_leaver",
                    "tools": ["leave_loop"],
                    "script": [{"text": "stay"}, _calls("leave_loop")],
                }
                subs.insert(0, leaver)
        return spec
    if shape == "steps":
        return {"type": "steps", "name": name, "steps": [{"name": step, "text": step, "state": {f"{name}_{step}": 1}} for step in STEPS]}
    text = {"text": f"{name} says {{n}}"}
    script: list[Any] = [text]
    if shape == "one call":
        script = [_calls("note", name), text]
    elif shape == "two calls":
        script = [{"calls": [["note", {"who": f"{name}-1"}], ["note", {"who": f"{name}-2"}]]}, text]
    spec = {"type": "llm", "name": name, "script": script, "tools": ["note"] if "call" in shape else []}
    return spec | ({"output_key": f"{name}_said"} if shape == "text with key" else {})


def _calls(tool: str, who: str | None = None) -> dict[str, Any]:
    return {"calls": [[tool, {"who": who} if who else {}]]}


class Attempt:
    """Runs of one tree in one session, with a list of its tools' side effects."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.effects: Counter[str | None] = Counter()
        self.service = InMemorySessionService()

    def _runner(self) -> Any:
        def note(who: str, tool_context: ToolContext) -> dict[str, str]:
            self.effects[tool_context.function_call_id] += 1
            tool_context.state[f"noted_{who}"] = True
            return {"noted": who}

        return runner_for(build_agent(self.spec, {**TOOLS, "note": FunctionTool(note)}), self.service, resumable=True)

    async def begin_with(self, events: list[Event]) -> None:
        session = await self.service.create_session(app_name="app", user_id="u", session_id="s")
        for event in events:
            await self.service.append_event(session, event.model_copy(deep=True))

    async def run(self, *, at_most: int | None = None, **more: Any) -> None:
        """Run to the end, or until a number of events are committed, as a kill would."""
        stream = self._runner().run_async(user_id="u", session_id="s", **more)
        count = 0
        async for _ in stream:
            count += 1
            if count == at_most:
                break
        await stream.aclose()

    async def events(self) -> list[Event]:
        return list((await stored(self._runner())).events)

    async def state(self) -> dict[str, Any]:
        return (await stored(self._runner())).state


def work(events: list[Event]) -> list[str]:
    """Return the effects of a run, independent of the order of parallel branches.

    A custom agent repeats a step without a checkpoint, so repeated lines of an author count once.
    """
    rows = [shown(event) for event in events if not is_replayed_checkpoint(event)]
    steps = {str(row) for row in rows if row.get("text", [""])[0] in STEPS}
    return sorted([str(row) for row in rows if str(row) not in steps] + list(steps))


async def check(shape: Any, cut: int, second_cut: int) -> None:
    spec = spec_of(shape, itertools.count())
    whole = Attempt(spec)
    await whole.run(new_message=message("go"))
    events = await whole.events()
    invocation_id = events[0].invocation_id
    resumed = Attempt(spec)
    await resumed.begin_with(events[: 1 + cut % len(events)])
    with_result = {response.id for event in await resumed.events() for response in event.get_function_responses()}
    await resumed.run(invocation_id=invocation_id, at_most=1 + second_cut)
    committed = {response.id for event in await resumed.events() for response in event.get_function_responses()}
    before = Counter(resumed.effects)
    await resumed.run(invocation_id=invocation_id)
    assert work(await resumed.events()) == work(events)
    assert await resumed.state() == await whole.state()
    assert not with_result & set(resumed.effects), "a tool with a committed result ran again"
    assert all(resumed.effects[call] == before[call] for call in committed), "a tool with a committed result ran again"
    assert max(resumed.effects.values(), default=0) <= 2


@pytest.mark.rule("C1", "C3")
@pytest.mark.sweep
@settings(max_examples=sweep.count(150, 10_000), deadline=None)
@given(trees(), st.integers(0, 60), st.integers(0, 20))
def test_a_run_cut_anywhere_and_resumed_ends_like_the_whole_run(shape: Any, cut: int, second_cut: int) -> None:
    asyncio.run(check(shape, cut, second_cut))
