"""An agent's place in its tree, as history and contexts see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol


class AgentTree(Protocol):
    """A node of an agent tree; every `BaseAgent` is one."""

    @property
    def name(self) -> str:
        """The agent's name, unique in its tree."""

    @property
    def description(self) -> str:
        """What the agent is for, in words for other agents."""

    @property
    def parent_agent(self) -> AgentTree | None:
        """The agent above; None at the root."""

    @property
    def sub_agents(self) -> Sequence[AgentTree]:
        """The agents directly below."""

    @property
    def root_agent(self) -> AgentTree:
        """The root of the tree."""

    def find_agent(self, name: str) -> AgentTree | None:
        """Return the agent of that name, this one or one below it; None if there is none."""

    def descendants(self) -> Iterator[AgentTree]:
        """Yield every agent below this one."""

    def branch_of(self, sub_agent: AgentTree) -> str | None:
        """Return the name of the branch that this agent gives a sub-agent; None if the sub-agent runs on this agent's own branch."""

    def ancestors(self) -> Iterator[AgentTree]:
        """Yield every agent above this one, the parent first."""
