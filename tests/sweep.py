"""How much of a sweep to run: a part of it in `make test`, all of it in `make soak` (which runs what is marked `sweep`)."""

from __future__ import annotations

import os


def count(quick: int, full: int) -> int:
    """Return how many cases a sweep shall try."""
    return full if os.environ.get("INSPECTOR_SOAK") else quick
