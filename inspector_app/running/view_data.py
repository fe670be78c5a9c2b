"""Data that this feature's widgets display."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from inspector_app.presentation.decisions import Fact


@dataclass(frozen=True, slots=True)
class HoldText:
    """The description of a hold.

    Attributes:
        title, subject: of the card, such as "Held before" and "pay".
        place: for the tool bar, such as "before tool call pay".
        why: the command or breakpoint that caused it.
        beside: the parallel branches; empty if there are none.
        failure: the exception; empty if there is none.
    """

    title: str
    subject: str
    place: str
    why: str
    beside: str
    failure: str


# Where a resumed run writes: to the session, to a copy of the database, or to a read-only database with or without a backup.
Place = Literal["here", "copy", "backup", "in place"]


@dataclass(slots=True)
class Preflight:
    """The effects of resuming an invocation.

    Attributes:
        invocation_id: the invocation.
        title: the question.
        lines: the next steps, then other facts, the most important first.
        warns: whether something is executed again, lost or changed.
        blocked: why it cannot be resumed; empty if it can.
        places: where it can be resumed, the best choice first.
    """

    invocation_id: str
    title: str
    lines: list[Fact] = field(default_factory=list)
    warns: bool = False
    blocked: str = ""
    places: tuple[Place, ...] = ("here",)
