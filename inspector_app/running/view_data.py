"""What the widgets of this feature show, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from inspector_app.presentation.decisions import Fact


@dataclass(frozen=True, slots=True)
class HoldText:
    """What the window says about a hold.

    Attributes:
        title: of the card, such as "Held before"; subject: what stands out after it, such as "pay".
        place: for the tool bar, such as "before tool call pay".
        why: which command or breakpoint did it.
        beside: what parallel branches do meanwhile; empty without any.
        failure: what was raised; empty if nothing was.
    """

    title: str
    subject: str
    place: str
    why: str
    beside: str
    failure: str


Place = Literal["here", "copy", "backup", "in place"]
"""Where a resumed run writes: where the session is, into a copy of its database, or in place (after a backup) though it was read only."""


@dataclass(slots=True)
class Preflight:
    """What to read before *Resume* is pressed.

    Attributes:
        invocation_id: which invocation.
        title: what is asked.
        lines: what happens first, and what else there is to know, what matters most first.
        warns: something is done again, lost or different.
        blocked: why it cannot be resumed; empty if it can.
        places: where it can be resumed, the better choice first.
    """

    invocation_id: str
    title: str
    lines: list[Fact] = field(default_factory=list)
    warns: bool = False
    blocked: str = ""
    places: tuple[Place, ...] = ("here",)
