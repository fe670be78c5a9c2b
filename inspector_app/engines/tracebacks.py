"""Tracebacks of an agent's exceptions, as its author wants to read them."""

from __future__ import annotations

import traceback
from pathlib import Path

from inspector_app.engines.adk_worker import hide_frames_of_ours, own_traceback, place_of
from inspector_app.engines.child_calls import AgentCodeError

hide_frames_of_ours()


def traceback_of(error: BaseException, folder: Path | None) -> str:
    """Return an exception's traceback from the agent's first frame on; the whole one if the agent's code has no part in it.

    Args:
        error: the exception, raised here or in a child process.
        folder: the agent's folder.
    """
    if isinstance(error, AgentCodeError):
        return error.traceback or f"{type(error).__name__}: {error}\n"
    if place_of(error, folder) == (None, None):
        return "".join(traceback.format_exception(error))
    return own_traceback(error, folder)
