"""The facts and choices of a decision card."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact.

    Attributes:
        icon, role: of the theme.
        text: a sentence.
    """

    icon: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that can be done.

    Attributes:
        name: what `DecisionCard.chosen` carries.
        text: on the button.
        does: what it does, or why it cannot be done now, for the tooltip.
        enabled: whether it can be done.
    """

    name: str
    text: str
    does: str = ""
    enabled: bool = True
