"""A colour role for each author of a session."""

from __future__ import annotations

USER_ROLE = "author0"


_AGENT_ROLES = ("author1", "author2", "author3")


class AuthorColours:
    """Assigns a colour to each agent in order of first appearance; the user always has the first colour."""

    def __init__(self) -> None:
        self._roles: dict[str, str] = {}

    def clear(self) -> None:
        """Forget all authors, for another session."""
        self._roles.clear()

    @property
    def authors(self) -> list[str]:
        """The agents so far, in order of first appearance."""
        return list(self._roles)

    def knows(self, author: str) -> bool:
        """Return whether the author already has a colour."""
        return author == "user" or author in self._roles

    def role(self, author: str) -> str:
        """Return the author's colour role."""
        if author == "user":
            return USER_ROLE
        if author not in self._roles:
            self._roles[author] = _AGENT_ROLES[len(self._roles) % len(_AGENT_ROLES)]
        return self._roles[author]

    def sign(self, author: str) -> int:
        """Return how many times all colours had been assigned before this author received one."""
        return list(self._roles).index(author) // len(_AGENT_ROLES) if author in self._roles and len(self._roles) > len(_AGENT_ROLES) else 0
