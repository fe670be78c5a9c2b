"""Control of the garbage collector during the creation of many long-lived objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause garbage collection while many objects that all stay alive are created: scanning them repeatedly costs more than that."""
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
    """Exclude the objects created inside from all later collections, for modules, the window and others that live until exit."""
    with collection_paused():
        yield
        gc.freeze()
