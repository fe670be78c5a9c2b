"""A colour role for each author of a session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

USER_ROLE = "text"
_ROLES = tuple(f"author{number}" for number in range(8))


class AuthorColours:
    """Assigns a colour to each agent by its place in its app, so that it has the same one in every view and session of the app.

    Agents that the app's description does not name, and all of an app that is not loaded, follow in order of first appearance.
    """

    def __init__(self) -> None:
        self._authors: list[str] = []
        self._orders: dict[str, list[str]] = {}
        self._order: list[str] = []

    def clear(self) -> None:
        """Forget the authors, for another session."""
        self._authors.clear()

    def set_app(self, name: str, root: Mapping[str, Any]) -> None:
        """Give the agents of this app their colours.

        Args:
            name: the app.
            root: its root agent as data; empty if that is not known.
        """
        order = self._orders.setdefault(name, [])
        order[:] = dict.fromkeys((*_agents(root), *order))
        self._order = order

    @property
    def authors(self) -> list[str]:
        """The agents so far, in order of first appearance."""
        return list(self._authors)

    def knows(self, author: str) -> bool:
        """Return whether the author already has a colour."""
        return author == "user" or author in self._authors

    def role(self, author: str) -> str:
        """Return the author's colour role."""
        if author == "user":
            return USER_ROLE
        if author not in self._authors:
            self._authors.append(author)
        if author not in self._order:
            self._order.append(author)
        return _ROLES[self._order.index(author) % len(_ROLES)]

    def sign(self, author: str) -> int:
        """Return how many agents before this one in the app have its colour."""
        return self._order.index(author) // len(_ROLES) if author in self._order else 0


def _agents(root: Mapping[str, Any]) -> list[str]:
    """Return the names of an app's agents in order; those that only run others come last, as they seldom speak."""
    found = [(bool(agent.get("sub_agents")) and not agent.get("model"), str(agent.get("name"))) for agent in _below(root)]
    return [name for _, name in sorted(found, key=lambda one: one[0])]


def _below(agent: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if agent:
        yield agent
    for one in (*(agent.get("sub_agents") or ()), *(agent.get("tool_agents") or ())):
        yield from _below(one)
