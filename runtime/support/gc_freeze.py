"""Keeping the garbage collector out of the way."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Make many objects that all stay alive: looking through them for garbage again and again costs more than making them."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def frozen_from_gc() -> Iterator[None]:
    """Make what stays until the process ends, such as modules and the window: no collection looks at it now or later."""
    with collection_paused():
        yield
        gc.freeze()
