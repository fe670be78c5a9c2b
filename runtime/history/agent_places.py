"""The places of agents in their tree, which tell agents of one name apart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from runtime.events.marks import recorded_place
from runtime.history.agent_tree import AgentTree

if TYPE_CHECKING:
    from runtime.events.event import Event


class AgentPlaces:
    """The agents of a tree, each with a key: its name, or its place if other agents of the tree have the same name.

    A place is the names from the root down. Siblings of one name are numbered: `flow.loop.writer`, `flow.writer[1]`, `flow.writer[2]`.

    Args:
        agent: any agent of the tree.
    """

    def __init__(self, agent: AgentTree) -> None:
        self._root = agent.root_agent
        self._named: dict[str, list[AgentTree]] = {}
        for each in (self._root, *self._root.descendants()):
            self._named.setdefault(each.name, []).append(each)
        self._places = {each: place_of(each) for agents in self._named.values() if len(agents) > 1 for each in agents}

    @property
    def has_equal_names(self) -> bool:
        """Whether two agents of the tree have the same name."""
        return bool(self._places)

    @cached_property
    def _agents(self) -> dict[str, AgentTree]:
        """Place → agent."""
        return {place_of(agent): agent for agents in self._named.values() for agent in agents}

    def key(self, agent: AgentTree) -> str:
        """Return an agent's key. The key of an agent outside the tree is its name."""
        return self._places.get(agent, agent.name)

    def place_to_record(self, agent: AgentTree) -> str | None:
        """Return the place that the agent's events must record; None if its name is unique, so that its events need none."""
        return self._places.get(agent)

    def with_key(self, key: str) -> AgentTree | None:
        """Return the agent with that key; None if there is none."""
        agents = self._named.get(key, ())
        return agents[0] if len(agents) == 1 else self._agents.get(key)

    def recorded(self, event: Event) -> tuple[str, Sequence[AgentTree]]:
        """Return the key of an event's author, and the agents that may have it.

        One agent: it is the author. None: the author is not in this tree. Several: they share the name, and the event does not record
        which of them it is, as google-adk stored it.
        """
        place = recorded_place(event)
        if place is None:
            return event.author, self._named.get(event.author, ())
        agent = self._agents.get(place)
        return (place, ()) if agent is None else (self.key(agent), (agent,))

    def find(self, event: Event) -> AgentTree | None:
        """Return the author of an event; the first in the tree's order if several may be. None if it is not in this tree."""
        return next(iter(self.recorded(event)[1]), None)


def place_of(agent: AgentTree) -> str:
    """Return an agent's place in its tree."""
    path = [agent, *agent.ancestors()]
    names = [numbered_name(above.sub_agents, below) for below, above in pairwise(path)]
    return ".".join(reversed([*names, path[-1].name]))


def numbered_name(siblings: Sequence[AgentTree], agent: AgentTree) -> str:
    """Return an agent's name, with its number among the siblings of that name if there are others."""
    equal = [sibling for sibling in siblings if sibling.name == agent.name]
    return f"{agent.name}[{next(n for n, each in enumerate(equal, 1) if each is agent)}]" if len(equal) > 1 else agent.name
