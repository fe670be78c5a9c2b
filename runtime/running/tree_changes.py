"""How an agent tree differs from the one that was interrupted, as far as the events show.

The tree itself is not recorded. The differences are inferred from event authors, checkpoints, and calls without a result.
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
from runtime.events.marks import CALLBACK, SET_ANSWER_CALL, TRANSFER_CALL
from runtime.history.agent_places import AgentPlaces
from runtime.history.checkpoints import Checkpoints
from runtime.tools.base_tool import BaseTool
from runtime.tools.base_toolset import BaseToolset

_STATES: dict[type[BaseAgent], type[BaseAgentState]] = {
    SequentialAgent: SequentialAgentState,
    LoopAgent: LoopAgentState,
    ParallelAgent: BaseAgentState,
}
_OWN_TOOLS = {TRANSFER_CALL, SET_ANSWER_CALL}


def tree_changes(events: Sequence[Event], found: Checkpoints, root: BaseAgent, places: AgentPlaces) -> list[str]:
    """Describe each difference and its effect on a resumed run in one sentence.

    Args:
        events: the invocation's events, in commit order, with the agents' keys as authors.
        found: each agent's progress.
        root: the present agent tree.
        places: the agents of that tree.
    """
    authors = dict.fromkeys(event.author for event in events if event.author not in ("user", "model", "system"))
    said = [f"{author} took part and is no longer in the agent tree." for author in authors if places.with_key(author) is None]
    for agent in (root, *root.descendants()):
        key = places.key(agent)
        if type(agent) in _STATES and key not in found.states and _spoke(events, key):
            said.append(f"{key} produced messages and is now a {type(agent).__name__}, which produces none: it starts again.")
        if isinstance(agent, LlmAgent):
            said += _changed_llm_agent(events, found, agent, key)
        elif isinstance(agent, (SequentialAgent, LoopAgent)) and key in found.states:
            said += _changed_order(found.seen[key], agent, key)
    return said


def misfits(found: Checkpoints, places: AgentPlaces) -> list[str]:
    """Describe the checkpoints that do not fit their agents' present types. Such an invocation cannot be resumed.

    A custom agent's checkpoint is validated only when the agent asks for it.
    """
    said = []
    for name, state in found.states.items():
        agent = places.with_key(name)
        state_type = _STATES.get(type(agent)) if isinstance(agent, BaseAgent) else None
        if state_type is not None and not _fits(state, state_type):
            said.append(f"{name} is now a {type(agent).__name__}, and its checkpoint {json.dumps(state)} belongs to another type.")
    return said


def has_tool(agent: LlmAgent, name: str | None) -> bool:
    """Return whether an agent still has a tool that its model called, or may have it: what a toolset contains is known in a run only."""
    if any(isinstance(tool, BaseToolset) for tool in agent.tools):
        return True
    tools = {tool.name if isinstance(tool, BaseTool) else getattr(tool, "__name__", None) for tool in agent.tools}
    return name in tools | _OWN_TOOLS


def _fits(state: dict[str, Any], state_type: type[BaseAgentState]) -> bool:
    try:
        state_type.model_validate(state)
    except ValidationError:
        return False
    return True


def _spoke(events: Iterable[Event], key: str) -> bool:
    return any(event.author == key and event.content and CALLBACK not in (event.custom_metadata or {}) for event in events)


def _changed_llm_agent(events: Sequence[Event], found: Checkpoints, agent: LlmAgent, key: str) -> Iterator[str]:
    if key in found.states:
        yield f"{key} has the checkpoint {json.dumps(found.states[key])} and is now an LlmAgent, which keeps none."
    for target in dict.fromkeys(event.actions.transfer_to_agent for event in events if event.author == key):
        if target and agent.root_agent.find_agent(target) is None:
            yield f"{key} transferred to {target}, which is no longer in the agent tree: {key} calls its own model instead."


def _changed_order(checkpoints: Sequence[dict[str, Any]], agent: BaseAgent, key: str) -> Iterator[str]:
    """Compare the order in which sub-agents were called with their present order."""
    last = checkpoints[-1]
    called = [state.get("current_sub_agent") for state in checkpoints if state.get("times_looped") == last.get("times_looped")]
    names = [sub_agent.name for sub_agent in agent.sub_agents]
    if called[-1] not in names or len({*names}) < len(names):
        return
    at = names.index(str(called[-1]))
    for name in names[:at]:
        if name not in called:
            yield f"{name} is now before {called[-1]} in {key} and was not called: it is skipped."
    for name in names[at + 1 :]:
        if name in called:
            yield f"{name} was called before {called[-1]} in {key} and is now after it: it runs again."
