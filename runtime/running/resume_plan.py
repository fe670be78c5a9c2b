"""What resuming an invocation will do, computed from its events before anything runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from runtime.agents.base_agent import BaseAgent
from runtime.agents.llm_agent import LlmAgent
from runtime.agents.loop_agent import LoopAgent
from runtime.agents.parallel_agent import ParallelAgent
from runtime.agents.sequential_agent import SequentialAgent
from runtime.events.event import Event
from runtime.events.marks import REQUEST_CALLS
from runtime.history.agent_places import AgentPlaces
from runtime.history.checkpoints import Checkpoints, read_checkpoints, with_keys_as_authors
from runtime.history.invocations import Invocation, PendingItem, invocations
from runtime.history.turns import asked_name, asked_on_branch, events_of_call, read_turn, requested_call_id, transferred_to
from runtime.running.tree_changes import has_tool, misfits, tree_changes
from runtime.sessions.recorded_end import RecordedEnd


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool call that has no committed result, so that resuming executes it, perhaps for the second time.

    Attributes:
        agent: the calling agent.
        name: the tool's name.
        args: the tool's arguments.
        call_id: the call's id, unchanged from the first time.
    """

    agent: str
    name: str
    args: dict[str, Any]
    call_id: str | None


@dataclass(slots=True)
class ResumePlan:
    """What resuming an invocation would do. Agents that share a name are named by their places.

    Attributes:
        invocation: its status.
        last_checkpoint: the event of its last checkpoint or end; None if it has none.
        finished: agents that do not run again.
        next_steps: what happens first, one sentence for each agent that continues (several agents may run in parallel), but for those that
            start over.
        runs_again: tool calls that are executed.
        starts_over: custom agents that keep no checkpoints; their events repeat.
        waits_for: requests that a person must answer first.
        lost_temp: `temp:` keys that the interrupted run had set and that are lost.
        changed: how the agent tree differs from the one that was interrupted.
        blocks: why the invocation cannot be resumed; empty if it can.
    """

    invocation: Invocation
    last_checkpoint: Event | None = None
    finished: list[str] = field(default_factory=list)
    next_steps: list[str] = field(default_factory=list)
    runs_again: list[ToolRun] = field(default_factory=list)
    starts_over: list[str] = field(default_factory=list)
    waits_for: list[PendingItem] = field(default_factory=list)
    lost_temp: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)


def plan_resume(
    events: Sequence[Event],
    invocation_id: str,
    root: BaseAgent,
    *,
    is_resumable: bool,
    temp_keys: Iterable[str] = (),
    ends: Mapping[str, RecordedEnd] | None = None,
) -> ResumePlan | None:
    """Compute what resuming would do. Nothing runs.

    Args:
        events: all events of the session, in commit order.
        invocation_id: the invocation to resume.
        root: the agent tree as it is now.
        is_resumable: whether the app is resumable.
        temp_keys: the recorded `temp:` keys of the invocation.
        ends: the session's recorded ends by invocation id.

    Returns:
        The plan; None if the session has no such invocation.
    """
    places = AgentPlaces(root)
    of_invocation = [event for event in events if event.invocation_id == invocation_id]
    found = read_checkpoints(of_invocation, places)
    own = with_keys_as_authors(of_invocation, places)
    keyed = iter(own)
    events = [next(keyed) if event.invocation_id == invocation_id else event for event in events]
    summary = next(iter(invocations(events, {invocation_id}, ends=ends or {})), None)
    if summary is None:
        return None
    plan = ResumePlan(summary, lost_temp=sorted(temp_keys))
    marks = [event for event in own if event.actions.agent_state is not None or event.actions.end_of_agent]
    plan.last_checkpoint = marks[-1] if marks else None
    plan.waits_for = [item for item in summary.pending if item.kind != "interrupted"]
    plan.blocks = _blocks(summary, is_resumable)
    plan.finished = [name for name, ended in found.ended.items() if ended]
    plan.changed = tree_changes(own, found, root, places)
    if summary.status not in ("finished", "rewound"):
        plan.blocks += misfits(found, places)
        walk = _Walk(plan, found, own, places)
        walk.visit(root, None)
        if not walk.can_continue:
            plan.blocks += [f"{item.name or 'A call'} waits for an answer." for item in plan.waits_for]
    return plan


def _blocks(summary: Invocation, is_resumable: bool) -> list[str]:
    blocks = []
    if summary.status == "finished":
        blocks.append(f"The invocation is finished: {summary.reason}.")
    if summary.status == "rewound":
        blocks.append("A rewind took the invocation back.")
    if not is_resumable:
        blocks.append("The app is not resumable: make it with ResumabilityConfig(is_resumable=True).")
    return blocks


class _Walk:
    """A walk down the agent tree, in the order of a resumed run.

    Attributes:
        can_continue: whether some agent has more to do than wait.
    """

    def __init__(self, plan: ResumePlan, found: Checkpoints, events: Sequence[Event], places: AgentPlaces) -> None:
        self._plan = plan
        self._found = found
        self._events = events
        self._key = places.key
        self.can_continue = False

    def _add_step(self, step: str) -> None:
        self.can_continue = True
        self._plan.next_steps.append(step)

    def visit(self, agent: BaseAgent, branch: str | None) -> None:
        """Add what this agent will do to the plan."""
        if self._found.ended.get(self._key(agent)):
            return
        if isinstance(agent, ParallelAgent):
            self._visit_parallel(agent, branch)
        elif isinstance(agent, (SequentialAgent, LoopAgent)):
            self._visit_current(agent, branch)
        elif isinstance(agent, LlmAgent):
            self._visit_llm_agent(agent, branch)
        else:
            self._visit_custom(agent, branch)

    def _visit_parallel(self, agent: ParallelAgent, branch: str | None) -> None:
        key = self._key(agent)
        branches = {sub: f"{branch}.{agent.branch_of(sub)}" if branch else agent.branch_of(sub) for sub in agent.sub_agents}
        if key in self._found.escalated_by_child:  # the others were stopped, but not calls that wait for a person
            branches = {sub: below for sub, below in branches.items() if asked_on_branch(self._events, key, below)}
            if not branches:
                self._add_step(f"An agent of {key} escalated; only the end of {key} remains to be recorded.")
        elif all(self._found.ended.get(self._key(sub_agent)) for sub_agent in agent.sub_agents):
            self._add_step(f"All agents of {key} are finished; only the end of {key} remains to be recorded.")
        for sub_agent, below in branches.items():
            self.visit(sub_agent, below)

    def _visit_current(self, agent: BaseAgent, branch: str | None) -> None:
        key = self._key(agent)
        name = self._found.states.get(key, {}).get("current_sub_agent", "")
        position = self._found.positions.get(key)
        if position is None and name:
            self._plan.changed.append(f"{key} was at {name}, which is no longer one of its agents: it starts with its first one.")
        if position is None:
            if agent.sub_agents:
                self._add_step(f"{key} starts with {self._key(agent.sub_agents[0])}.")
            return
        current = agent.sub_agents[position]
        if isinstance(agent, SequentialAgent):
            self._note_passed(agent, position)
        if self._found.ended.get(self._key(current)):
            after = agent.sub_agents[position + 1 :]
            follows = self._key(after[0]) if after else "its next round" if isinstance(agent, LoopAgent) else "its end"
            self._add_step(f"{self._key(current)} is finished; {key} continues with {follows}.")
            return
        self.visit(current, branch)

    def _note_passed(self, agent: SequentialAgent, position: int) -> None:
        """Note agents that ended before their sequence's last checkpoint, unless an agent above may start the sequence again."""
        if all(type(above) in (SequentialAgent, ParallelAgent) for above in agent.ancestors()):
            ended = {event.author for event in self._events if event.actions.end_of_agent}
            passed = [self._key(sub_agent) for sub_agent in agent.sub_agents[:position]]
            self._plan.finished += [name for name in passed if name in ended and name not in self._plan.finished]

    def _visit_llm_agent(self, agent: LlmAgent, branch: str | None) -> None:
        events = events_of_call(agent, self._events, branch)
        key = self._key(agent)
        name = transferred_to(key, events)
        target = agent.root_agent.find_agent(name) if name is not None else None
        if target is not None and not self._found.ended.get(self._key(target)):
            self.visit(target, branch)
            return
        turn = read_turn(events, key)
        to_run = [call for call in turn.to_run if has_tool(agent, call.name)]
        self._plan.runs_again += [_tool_run(key, call) for call in to_run]
        for call in turn.to_run:
            if call not in to_run:
                self._plan.changed.append(f"{key} called {call.name}, a tool it no longer has: its model receives an error instead.")
        if turn.to_run:
            step = f"runs {', '.join(call.name or '?' for call in to_run)}" if to_run else "calls its model"
            self._add_step(f"{key} {step}.")
        elif turn.to_ask:
            self._add_step(f"{key} asks for the confirmation or credential that its tools requested.")
        elif turn.waiting:
            self._plan.next_steps.append(f"{key} waits for an answer to {', '.join(_asked_for(call, events) for call in turn.waiting)}.")
        elif turn.answered or target is not None:
            self._add_step(f"{key} has answered; only its end remains to be recorded.")
        else:
            self._add_step(f"{key} calls its model.")

    def _visit_custom(self, agent: BaseAgent, branch: str | None) -> None:
        key = self._key(agent)
        keys = {key, *map(self._key, agent.descendants())}
        if key in self._found.states:
            checkpoint = json.dumps(self._found.states[key], ensure_ascii=False)
            self._add_step(f"{key} continues from its checkpoint {checkpoint}.")
            for sub_agent in agent.sub_agents:
                # Which agent its own code calls first is unknown; it calls again those that it had called and that had not ended.
                sub_key = self._key(sub_agent)
                if sub_key in self._found.states or self._found.ended.get(sub_key) is False:
                    self.visit(sub_agent, branch)
        elif any(event.author in keys for event in self._events):
            self._plan.starts_over.append(key)
            self.can_continue = True
        else:
            self._add_step(f"{key} starts.")


def _tool_run(agent_key: str, call: types.FunctionCall) -> ToolRun:
    return ToolRun(agent_key, call.name or "", dict(call.args or {}), call.id)


def _asked_for(call: types.FunctionCall, events: Sequence[Event]) -> str:
    """Return the name of a waiting call; for a confirmation or credential request, the name of the call that it concerns."""
    about = requested_call_id(call) if call.name in REQUEST_CALLS else None
    names = (made.name for event in events for made in event.get_function_calls() if about and made.id == about)
    return next(names, None) or asked_name(call)
