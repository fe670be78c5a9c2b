"""What the detail's widgets display. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A part of a request.

    Attributes:
        name: what it is.
        role: its colour role.
        characters: its length; files count as a fixed number.
        tokens: its share of the tokens that the model reports, by length; None if it reports none.
        share: its share of the request, from 0 to 1.
    """

    name: str
    role: str
    characters: int
    tokens: int | None
    share: float

    @property
    def text(self) -> str:
        """The part in words."""
        size = f"about {self.tokens:,} tokens" if self.tokens is not None else f"{self.characters:,} characters"
        return f"{self.name}: {size}, {self.share:.0%}"


@dataclass(frozen=True, slots=True)
class Section:
    """A card of the document.

    Attributes:
        title, aside: its title, and the words at its right.
        html: what it holds.
    """

    title: str
    aside: str
    html: str


@dataclass(frozen=True, slots=True)
class RequestDocument:
    """A request as a person reads it.

    Attributes:
        whole: its sections by name, in order: `instruction`, `tools`, `settings`, `conversation`, `answer`.
        since: those that say what is new since the agent's previous request; None if there is none.
        is_same: whether nothing is new.
    """

    whole: Mapping[str, Section]
    since: Mapping[str, Section] | None = None
    is_same: bool = False
