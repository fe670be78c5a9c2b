"""A colour role for each author of a session."""

from __future__ import annotations

USER_ROLE = "author0"


_AGENT_ROLES = ("author1", "author2", "author3")


class AuthorColours:
    """Gives each agent a colour in the order they first speak; the user always has the first."""

    def __init__(self) -> None:
        self._roles: dict[str, str] = {}

    @property
    def authors(self) -> list[str]:
        """The agents so far, in the order they first spoke."""
        return list(self._roles)

    def knows(self, author: str) -> bool:
        """Return whether the author has a colour already."""
        return author == "user" or author in self._roles

    def role(self, author: str) -> str:
        """Return the author's colour role."""
        if author == "user":
            return USER_ROLE
        if author not in self._roles:
            self._roles[author] = _AGENT_ROLES[len(self._roles) % len(_AGENT_ROLES)]
        return self._roles[author]

    def sign(self, author: str) -> int:
        """Return how often the colours had been given out before this author got one."""
        return list(self._roles).index(author) // len(_AGENT_ROLES) if author in self._roles and len(self._roles) > len(_AGENT_ROLES) else 0
