"""What the widgets of this feature show, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aspect:
    """One thing that two events are compared in.

    Attributes:
        name: what it is.
        left, right: as text.
        differs: whether they are not the same.
    """

    name: str
    left: str
    right: str
    differs: bool = True
