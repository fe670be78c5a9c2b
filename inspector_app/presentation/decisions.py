"""The facts and choices of a decision card."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact.

    Attributes:
        icon, role: icon and colour role of the theme.
        text: a sentence.
    """

    icon: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A possible action.

    Attributes:
        name: the value that `DecisionCard.chosen` carries.
        text: the button's text.
        does: the action's effect, or why it is unavailable, for the tooltip.
        enabled: whether it is available.
    """

    name: str
    text: str
    does: str = ""
    enabled: bool = True
