"""The two roots of our error tree."""

from __future__ import annotations


class KnownError(Exception):
    """Something outside our code is not as it must be; the text tells a person what and what to do."""


class BugError(Exception):
    """Our own code broke one of its promises. Never the user's fault."""
