"""An invocation's progress, computed from its events alone.

An agent's checkpoint means that everything below it starts again from there. So the checkpoints, ends and escalations of an agent's
descendants count only if they came after the agent's own last checkpoint. This rule keeps finished work finished, and lets a loop's next
round run the same sub-agents again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from runtime.events.marks import CALLBACK, agent_key, is_replayed_checkpoint, recorded_place
from runtime.history.agent_places import AgentPlaces
from runtime.history.agent_tree import AgentTree

if TYPE_CHECKING:
    from runtime.events.event import Event


@dataclass(slots=True)
class Checkpoints:
    """The progress of each agent of an invocation, by the agents' keys: their names, or their places if they share a name.

    Attributes:
        states: agent → its last checkpoint.
        ended: agent → whether its end is committed; False if it has only started.
        escalated: the agents above one that escalated: an escalation ends the nearest loop.
        escalated_by_child: the agents of which a direct sub-agent escalated: that ends a parallel agent.
        seen: agent → every checkpoint it committed since it was called, for recognizing replayed ones.
        called_back: agent → its agent callbacks whose event is committed since it was called, and whether that event has content.
        positions: workflow agent → index of the sub-agent that its checkpoint names; several sub-agents may have that name.
    """

    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    ended: dict[str, bool] = field(default_factory=dict)
    escalated: set[str] = field(default_factory=set)
    escalated_by_child: set[str] = field(default_factory=set)
    seen: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    called_back: dict[str, dict[str, bool]] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)

    def forget(self, key: str) -> None:
        """Drop an agent's progress: it starts again."""
        self.states.pop(key, None)
        self.ended.pop(key, None)
        self.forget_escalation(key)
        self.seen.pop(key, None)
        self.called_back.pop(key, None)
        self.positions.pop(key, None)

    def forget_escalation(self, key: str) -> None:
        """Drop what is known of escalations below an agent."""
        self.escalated.discard(key)
        self.escalated_by_child.discard(key)


def read_checkpoints(events: Iterable[Event], places: AgentPlaces | None) -> Checkpoints:
    """Read each agent's progress from the committed events of one invocation.

    Args:
        events: the invocation's events, in commit order.
        places: the agents of the tree; without it, an agent's checkpoint does not reset its descendants.
    """
    found = Checkpoints()
    for event in events:
        _read_event(found, event, places)
    return found


def with_keys_as_authors(events: Sequence[Event], places: AgentPlaces) -> list[Event]:
    """Return events whose authors are the agents' keys, so that agents of one name are different authors.

    Args:
        events: events of one invocation from its first one on, in commit order.
        places: the agents of the tree.
    """
    if not places.has_equal_names and not any(map(recorded_place, events)):
        return list(events)
    found = Checkpoints()
    keyed = []
    for event in events:
        key = _read_event(found, event, places)
        keyed.append(event if key == event.author else event.model_copy(update={"author": key}))
    return keyed


def _read_event(found: Checkpoints, event: Event, places: AgentPlaces | None) -> str:
    """Add an event to the progress found so far, and return its author's key."""
    if event.author == "user":
        return event.author
    key, agent = (agent_key(event), None) if places is None else _author(found, event, places)
    if is_replayed_checkpoint(event):
        return key
    actions = event.actions
    if hook := (event.custom_metadata or {}).get(CALLBACK):
        found.called_back.setdefault(key, {})[hook] = event.content is not None
    if actions.end_of_agent:
        found.states.pop(key, None)
        found.positions.pop(key, None)
        found.forget_escalation(key)
        found.ended[key] = True
    elif actions.agent_state is not None:
        if agent is not None and places is not None:
            for below in agent.descendants():
                found.forget(places.key(below))
            _note_position(found, key, agent, actions.agent_state)
        found.forget_escalation(key)
        found.states[key] = actions.agent_state
        found.ended[key] = False
        found.seen.setdefault(key, []).append(actions.agent_state)
    elif event.content:
        found.ended[key] = False
        for above in _above(agent, places):
            # google-adk 2.x commits an agent's end when it transfers, before the other agent's first event.
            if found.ended.get(above):
                found.ended[above] = False
    if actions.escalate:
        ancestors = _above(agent, places)
        found.escalated.update(ancestors)
        found.escalated_by_child.update(ancestors[:1])
    return key


def _above(agent: AgentTree | None, places: AgentPlaces | None) -> list[str]:
    return [places.key(above) for above in agent.ancestors()] if agent is not None and places is not None else []


def _author(found: Checkpoints, event: Event, places: AgentPlaces) -> tuple[str, AgentTree | None]:
    """Return the key and the agent of an event's author.

    An event that google-adk stored does not record which of several agents of one name it is from. It is from one that the checkpoints
    of the workflows above it, and its branch, allow; preferably from one below a workflow that is running.
    """
    key, agents = places.recorded(event)
    if len(agents) < 2:
        return key, agents[0] if agents else None
    agent = max(agents, key=lambda each: _likelihood(found, each, event, places))  # the first of equal ones
    return places.key(agent), agent


def _likelihood(found: Checkpoints, agent: AgentTree, event: Event, places: AgentPlaces) -> tuple[bool, int]:
    current = (event.actions.agent_state or {}).get("current_sub_agent")
    may_run = not found.ended.get(places.key(agent)) and (not current or any(below.name == current for below in agent.sub_agents))
    running, branches = 0, list[str]()
    for below, above in pairwise((agent, *agent.ancestors())):
        key = places.key(above)
        position = found.positions.get(key)
        may_run = may_run and not found.ended.get(key) and (position is None or above.sub_agents[position] is below)
        running += key in found.states
        branches.insert(0, above.branch_of(below) or "")
    return may_run and ".".join(filter(None, branches)) == (event.branch or ""), running


def _note_position(found: Checkpoints, key: str, agent: AgentTree, state: Mapping[str, Any]) -> None:
    """Record which sub-agent a workflow's checkpoint names: of several with that name, the next one in the workflow's order."""
    indices = [index for index, below in enumerate(agent.sub_agents) if below.name == state.get("current_sub_agent")]
    before = found.positions.pop(key, -1)
    if found.states.get(key, {}).get("times_looped") != state.get("times_looped"):
        before = -1  # a loop's next round
    if indices:
        found.positions[key] = next((index for index in indices if index > before), indices[-1])
