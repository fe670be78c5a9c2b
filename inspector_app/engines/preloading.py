"""The import of what agents need, on a thread: the window is displayed and reads sessions without it."""

from __future__ import annotations

import importlib
from functools import cache

from runtime.support.gc_freeze import frozen_from_gc

_MODULES = (
    "runtime.runners",
    "inspector_app.engines.agent_loader",
    "inspector_app.engines.child_agent",
    "inspector_app.engines.embedded",
    "inspector_app.remote.server_agent",
)


@cache
def load_engines() -> None:
    """Import what loading and running an agent needs, google-genai's types among it: half a second of a processor the first time.

    Call it on a worker thread, so that the window can be used meanwhile.
    """
    with frozen_from_gc():
        for name in _MODULES:
            importlib.import_module(name)
