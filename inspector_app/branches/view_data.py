"""Data that this feature's widgets display."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aspect:
    """One aspect in which two events are compared.

    Attributes:
        name: name of the aspect.
        left, right: the two values as text.
        differs: whether the values differ.
    """

    name: str
    left: str
    right: str
    differs: bool = True
