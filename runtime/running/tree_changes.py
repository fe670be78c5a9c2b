"""How an agent tree differs from the one that was interrupted, as far as the events tell (seed: resume, "Modificación de flujo").

Nobody records the tree, so this is what can be concluded from who spoke, from the checkpoints, and from calls without a result.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from runtime.agents.base_agent import BaseAgent, BaseAgentState
from runtime.agents.llm_agent import LlmAgent
from runtime.agents.loop_agent import LoopAgent, LoopAgentState
from runtime.agents.parallel_agent import ParallelAgent
from runtime.agents.sequential_agent import SequentialAgent, SequentialAgentState
from runtime.events.event import Event
from runtime.events.marks import CALLBACK
from runtime.history.checkpoints import Checkpoints
from runtime.history.turns import SET_ANSWER_CALL
from runtime.tools.base_tool import BaseTool

_STATES: dict[type[BaseAgent], type[BaseAgentState]] = {
    SequentialAgent: SequentialAgentState,
    LoopAgent: LoopAgentState,
    ParallelAgent: BaseAgentState,
}
_OWN_TOOLS = {"transfer_to_agent", SET_ANSWER_CALL}


def tree_changes(events: Sequence[Event], found: Checkpoints, root: BaseAgent) -> list[str]:
    """Say how the tree differs, and what that means for a resumed run; a sentence each.

    Args:
        events: of one invocation, in commit order.
        found: how far each agent is.
        root: the agent tree as it is now.
    """
    authors = dict.fromkeys(event.author for event in events if event.author not in ("user", "model", "system"))
    said = [f"{author} took part and is no longer in the agent tree." for author in authors if root.find_agent(author) is None]
    for agent in (root, *root.descendants()):
        if type(agent) in _STATES and agent.name not in found.states and _spoke(events, agent):
            said.append(f"{agent.name} spoke, and is now a {type(agent).__name__}, which does not: it begins anew.")
        if isinstance(agent, LlmAgent):
            said += _changed_llm_agent(events, found, agent)
        elif isinstance(agent, (SequentialAgent, LoopAgent)) and agent.name in found.states:
            said += _changed_order(found.seen[agent.name], agent)
    return said


def misfits(found: Checkpoints, root: BaseAgent) -> list[str]:
    """Say which checkpoints do not fit the agents that they are of now; such an invocation cannot be resumed.

    Of a custom agent that is only known when it asks for its checkpoint.
    """
    said = []
    for name, state in found.states.items():
        agent = root.find_agent(name)
        state_type = _STATES.get(type(agent)) if agent else None
        if state_type is not None and not _fits(state, state_type):
            said.append(f"{name} is now a {type(agent).__name__}, and its checkpoint {json.dumps(state)} is not of one.")
    return said


def has_tool(agent: LlmAgent, name: str | None) -> bool:
    """Return whether an agent still has a tool that its model had called."""
    tools = {tool.name if isinstance(tool, BaseTool) else getattr(tool, "__name__", None) for tool in agent.tools}
    return name in tools | _OWN_TOOLS


def _fits(state: dict[str, Any], state_type: type[BaseAgentState]) -> bool:
    try:
        state_type.model_validate(state)
    except ValidationError:
        return False
    return True


def _spoke(events: Iterable[Event], agent: BaseAgent) -> bool:
    return any(event.author == agent.name and event.content and CALLBACK not in (event.custom_metadata or {}) for event in events)


def _changed_llm_agent(events: Sequence[Event], found: Checkpoints, agent: LlmAgent) -> Iterator[str]:
    if agent.name in found.states:
        yield f"{agent.name} has the checkpoint {json.dumps(found.states[agent.name])}, and is now an LlmAgent, which keeps none."
    for event in events:
        target = event.actions.transfer_to_agent if event.author == agent.name else None
        if target and agent.root_agent.find_agent(target) is None:
            yield f"{agent.name} handed over to {target}, which is no longer in the agent tree: its own model is called instead."


def _changed_order(checkpoints: Sequence[dict[str, Any]], agent: BaseAgent) -> Iterator[str]:
    """Hold the order in which sub-agents were called against the one they stand in now."""
    last = checkpoints[-1]
    called = [state.get("current_sub_agent") for state in checkpoints if state.get("times_looped") == last.get("times_looped")]
    names = [sub_agent.name for sub_agent in agent.sub_agents]
    if called[-1] not in names:
        return
    at = names.index(str(called[-1]))
    for name in names[:at]:
        if name not in called:
            yield f"{name} now stands before {called[-1]} in {agent.name} and was not called: it is passed over."
    for name in names[at + 1 :]:
        if name in called:
            yield f"{name} was called before {called[-1]} in {agent.name} and now stands behind it: it runs again."
