"""Random agent trees that wait for answers, and runs of them that a person answers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count as numbers
from typing import Any

from google.genai import types

from runtime.agents import ToolContext
from runtime.events import Event
from runtime.events.marks import CONFIRMATION_CALL
from runtime.sessions import InMemorySessionService
from runtime.tools import FunctionTool, LongRunningFunctionTool
from tests.agent_specs import TOOLS, build_agent, message
from tests.crash.trees import Spec, asks, hands_over, loop, note, notes, par, says, seq, works
from tests.seeds.running import runner_for

WAITING = ("order", "silent_order", "pay", "ask_first")  # tools whose calls need an answer from outside
WAYS = ("one by one", "together", "twice")


def random_tree(chance: random.Random, names: Iterator[int], depth: int = 2) -> Spec:
    """Return a tree of agents, most of which wait for answers."""
    name = f"a{next(names)}"
    if depth and chance.random() < 0.4:
        subs = [random_tree(chance, names, depth - 1) for _ in range(chance.randint(1, 3))]
        return chance.choice((seq, par, loop))(name, *subs)
    kind = chance.choice(("says", "notes", "asks", "asks", "several", "several", "transfer", "tool"))
    if kind == "says":
        return says(name)
    if kind == "notes":
        return notes(name)
    if kind == "asks":
        return asks(name, chance.choice(WAITING))
    if kind == "several":
        turns = [_calls(chance, f"{name}{turn}") for turn in range(chance.randint(1, 2))]
        return works(name, *turns)
    if kind == "transfer":
        below = random_tree(chance, names, min(depth, 1) if chance.random() < 0.3 else 0)
        return hands_over(name, below["name"], below)
    inner = notes(f"a{next(names)}")
    return {**works(name, [[inner["name"], {"request": "go"}], *_calls(chance, name)]), "agent_tools": [inner]}


def _calls(chance: random.Random, what: str) -> list[list[Any]]:
    calls = [[chance.choice(WAITING), {"what": f"{what}{number}"}] for number in range(chance.randint(1, 2))]
    return [*calls, note(what)] if chance.random() < 0.3 else calls


class Attempt:
    """Runs of one tree in one session, with the side effects of its tools."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self.effects: Counter[str] = Counter()
        self.service = InMemorySessionService()

    def _tools(self) -> dict[str, Any]:
        async def note(what: str) -> dict[str, str]:
            self.effects[what] += 1
            return {"noted": what}

        async def order(what: str) -> dict[str, str]:
            self.effects[what] += 1
            return {"status": "pending"}

        async def silent_order(what: str) -> None:
            self.effects[what] += 1

        async def pay(what: str) -> dict[str, str]:
            self.effects[what] += 1
            return {"paid": what}

        async def ask_first(what: str, tool_context: ToolContext) -> dict[str, str]:
            if tool_context.tool_confirmation is None:
                tool_context.request_confirmation(hint=f"Really {what}?")
                return {"status": "asked"}
            self.effects[what] += 1
            tool_context.actions.skip_summarization = what.endswith("0")
            return {"status": "done"}

        return TOOLS | {
            "note": note,
            "order": LongRunningFunctionTool(order),
            "silent_order": LongRunningFunctionTool(silent_order),
            "pay": FunctionTool(pay, require_confirmation=True),
            "ask_first": ask_first,
        }

    async def run(self, **more: Any) -> list[Event]:
        """Run or resume in a new process, as far as it goes."""
        runner = runner_for(build_agent(self._spec, self._tools()), self.service, resumable=True)
        return [event async for event in runner.run_async(user_id="u", session_id="s", **more)]

    async def events(self) -> list[Event]:
        session = await self.service.get_session(app_name="app", user_id="u", session_id="s")
        return list(session.events) if session is not None else []

    async def begin_with(self, events: Sequence[Event]) -> None:
        session = await self.service.create_session(app_name="app", user_id="u", session_id="s")
        for event in events:
            await self.service.append_event(session, event.model_copy(deep=True))


def open_calls(events: Sequence[Event]) -> list[types.FunctionCall]:
    """Return the calls that wait for an answer from outside."""
    given = {response.id for event in events if event.author == "user" for response in event.get_function_responses()}
    calls = [call for event in events for call in event.get_function_calls() if call.id in (event.long_running_tool_ids or ())]
    return [call for call in calls if call.id not in given]


def answered(events: Sequence[Event], calls: Sequence[types.FunctionCall], chance: random.Random) -> list[Event]:
    """Return the events with an answer of a person after them, as a process stores it that is killed before it does more."""
    asking = next(event for event in events if any(call.id == calls[0].id for call in event.get_function_calls()))
    answer = Event(author="user", invocation_id=events[0].invocation_id, branch=asking.branch, content=_answer(calls, chance))
    return [*events, answer]


def _answer(calls: Sequence[types.FunctionCall], chance: random.Random) -> types.Content:
    parts = []
    for call in calls:
        response = {"confirmed": chance.random() < 0.8} if call.name == CONFIRMATION_CALL else {"status": "delivered"}
        parts.append(types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=response)))
    return types.Content(role="user", parts=parts)


async def whole_run(spec: Spec, way: str, chance: random.Random) -> list[Event]:
    """Run a tree, answer its calls in one of the ways until none is open, and return all events."""
    attempt = Attempt(spec)
    await attempt.run(new_message=message("go"))
    for _ in range(20):
        calls = open_calls(await attempt.events())
        if not calls:
            break
        answer = _answer(calls if way == "together" else [chance.choice(calls)], chance)
        await attempt.run(new_message=answer)
        if way == "twice" and chance.random() < 0.5:
            await attempt.run(new_message=answer)
    return await attempt.events()


async def stopped_runs(seed: int, stops: int) -> list[tuple[str, Spec, list[Event]]]:
    """Return what is left of a random tree's run that is stopped after any event, and then answered without running on.

    Args:
        seed: decides the tree, and in which of the ways its calls are answered.
        stops: the number of places where the run is stopped, besides those after the answers.

    Returns:
        Where it was stopped, the tree, and the events.
    """
    chance, way = random.Random(seed), WAYS[seed % len(WAYS)]
    spec = random_tree(chance, numbers())
    events = await whole_run(spec, way, chance)
    replies = [place + 1 for place, event in enumerate(events) if place and event.author == "user"]
    found = []
    for kept in sorted({*chance.sample(range(1, len(events) + 1), min(stops, len(events))), *replies[:stops]}):
        left = events[:kept]
        found.append((f"seed {seed}, {way}, after {kept} of {len(events)} events", spec, left))
        while calls := open_calls(left):
            left = answered(left, calls if way == "together" else [chance.choice(calls)], chance)
            found.append((f"{found[-1][0]}, answered", spec, left))
    return found
