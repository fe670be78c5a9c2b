"""Lets a debugger of an editor attach to the agent's process."""

from __future__ import annotations

import importlib
import os
import sys

from .errors import WorkerError, install_command


def start_debugpy(port: int, wait: bool) -> None:
    """Let a debugger attach to this process.

    Args:
        port: where debugpy listens, on this machine only.
        wait: return only when a debugger has attached.

    Raises:
        WorkerError: debugpy is not installed, or cannot listen there.
    """
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # a warning about the interpreter's own frozen modules
    try:
        debugpy = importlib.import_module("debugpy")
    except ImportError:
        raise WorkerError(f"debugpy is not installed in {sys.prefix}. Install it: {install_command('debugpy')}") from None
    debugpy.configure(subProcess=False)
    try:
        debugpy.listen(("127.0.0.1", port))
    except (RuntimeError, OSError) as error:
        raise WorkerError(f"debugpy cannot listen on port {port}: {error}") from None
    if wait:
        debugpy.wait_for_client()
