"""An invocation's progress, computed from its events alone.

An agent's checkpoint means that everything below it starts again from there. So the checkpoints, ends and escalations of an agent's
descendants count only if they came after the agent's own last checkpoint. This rule keeps finished work finished, and lets a loop's next
round run the same sub-agents again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runtime.events.marks import CALLBACK, is_replayed_checkpoint
from runtime.history.agent_tree import AgentTree

if TYPE_CHECKING:
    from runtime.events.event import Event


@dataclass(slots=True)
class Checkpoints:
    """The progress of each agent of an invocation.

    Attributes:
        states: agent name → its last checkpoint.
        ended: agent name → whether its end is committed; False if it has only started.
        escalated: names of the loops that an escalation ended.
        seen: agent name → every checkpoint it committed since it was called, for recognizing replayed ones.
        called_back: agent name → its agent callbacks whose event is committed since it was called, and whether that event has content.
    """

    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    ended: dict[str, bool] = field(default_factory=dict)
    escalated: set[str] = field(default_factory=set)
    seen: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    called_back: dict[str, dict[str, bool]] = field(default_factory=dict)

    def forget(self, agent_name: str) -> None:
        """Drop an agent's progress: it starts again."""
        self.states.pop(agent_name, None)
        self.ended.pop(agent_name, None)
        self.escalated.discard(agent_name)
        self.seen.pop(agent_name, None)
        self.called_back.pop(agent_name, None)


def read_checkpoints(events: Iterable[Event], root: AgentTree | None) -> Checkpoints:
    """Read each agent's progress from the committed events of one invocation.

    Args:
        events: the invocation's events, in commit order.
        root: the agent tree; without it, an agent's checkpoint does not reset its descendants.
    """
    found = Checkpoints()
    for event in events:
        _read_event(found, event, root)
    return found


def _read_event(found: Checkpoints, event: Event, root: AgentTree | None) -> None:
    name, actions = event.author, event.actions
    if name == "user" or is_replayed_checkpoint(event):
        return
    if hook := (event.custom_metadata or {}).get(CALLBACK):
        found.called_back.setdefault(name, {})[hook] = event.content is not None
    if actions.end_of_agent:
        found.states.pop(name, None)
        found.escalated.discard(name)
        found.ended[name] = True
    elif actions.agent_state is not None:
        agent = root.find_agent(name) if root else None
        for below in agent.descendants() if agent else ():
            found.forget(below.name)
        found.escalated.discard(name)
        found.states[name] = actions.agent_state
        found.ended[name] = False
        found.seen.setdefault(name, []).append(actions.agent_state)
    elif event.content:
        found.ended[name] = False
        speaking = root.find_agent(name) if root else None
        for above in speaking.ancestors() if speaking else ():
            # google-adk 2.x commits an agent's end when it transfers, before the other agent's first event.
            if found.ended.get(above.name):
                found.ended[above.name] = False
    if actions.escalate and root:
        escalating = root.find_agent(name)
        found.escalated.update(above.name for above in (escalating.ancestors() if escalating else ()))
