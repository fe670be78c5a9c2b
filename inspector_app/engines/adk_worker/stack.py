"""Where the agent is just now."""

from __future__ import annotations

import sys
import threading
import traceback
from types import FrameType
from typing import Any

from . import google_adk
from .frames import is_workers


def where_is_agent() -> list[dict[str, Any]]:
    """Return the stack of the thread that runs the agent, the innermost frame last."""
    frames = sys._current_frames()
    frame: FrameType | None = frames.get(threading.main_thread().ident or 0)
    for thread in threading.enumerate():  # on the embedded runtime, sync code has a thread of its own
        own = frames.get(thread.ident or 0)
        if google_adk.is_embedded() and own is not None and thread.name.startswith("agent ") and not _is_idle(own):
            frame = own
    stack = traceback.extract_stack(frame) if frame is not None else []
    return [{"file": one.filename, "line": one.lineno, "function": one.name} for one in stack if not is_workers(one.filename)]


def _is_idle(frame: FrameType) -> bool:
    return frame.f_code.co_filename.endswith("serial_thread.py")
