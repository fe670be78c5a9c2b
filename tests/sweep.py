"""The size of sweeps: a part in `make test`, all cases in `make soak` (which runs the tests marked `sweep`)."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")


def count(quick: T, full: T) -> T:
    """Return the number of cases to try, or the cases."""
    return full if os.environ.get("INSPECTOR_SOAK") else quick
