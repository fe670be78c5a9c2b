"""Tracebacks of an agent's exceptions, as its author wants to read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from inspector_app.engines.adk_worker.errors import formatted, own_traceback, place_of
from inspector_app.engines.adk_worker.frames import hide_frames_of_ours
from runtime.support.lazy import lazy_module
from runtime.support.texts import error_text

if TYPE_CHECKING:
    from inspector_app.engines import child_calls
else:
    child_calls = lazy_module("inspector_app.engines.child_calls")

hide_frames_of_ours()


def traceback_of(error: BaseException, folder: Path | None) -> str:
    """Return an exception's traceback from the agent's first frame on; the whole one if the agent's code has no part in it.

    Args:
        error: the exception, raised here or in a child process.
        folder: the agent's folder.
    """
    if isinstance(error, child_calls.AgentCodeError):
        return error.traceback or f"{error_text(error)}\n"
    if place_of(error, folder) == (None, None):
        return formatted(error, error.__traceback__)
    return own_traceback(error, folder)
