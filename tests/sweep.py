"""The size of sweeps: a part in `make test`, all cases in `make soak` (which runs the tests marked `sweep`)."""

from __future__ import annotations

import os


def count(quick: int, full: int) -> int:
    """Return the number of cases to try."""
    return full if os.environ.get("INSPECTOR_SOAK") else quick
