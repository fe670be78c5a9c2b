"""The two base classes of the runtime's errors."""

from __future__ import annotations


class KnownError(Exception):
    """An error with a cause outside the runtime; the message tells the user what happened and what to do."""


class BugError(Exception):
    """A defect of the runtime: one of its own guarantees was broken."""
