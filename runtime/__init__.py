"""The agent runtime: agents yield events, and the Runner commits each event before its agent continues.

The public names are google-adk's, with `google.adk` replaced by `runtime`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from runtime.border import watch_imports
from runtime.support.lazy import lazy_exports

if TYPE_CHECKING:
    from runtime.agents.llm_agent import Agent
    from runtime.contexts.context import Context
    from runtime.events.event import Event
    from runtime.runners import InMemoryRunner, Runner
    from runtime.version import __version__

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "runtime.agents.llm_agent": "Agent",
        "runtime.contexts.context": "Context",
        "runtime.events.event": "Event",
        "runtime.runners": "InMemoryRunner Runner",
        "runtime.version": "__version__",
    },
)

watch_imports(sys.modules[__name__])
