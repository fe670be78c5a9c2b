"""Run work in a window that is built like the application's, with temporary settings."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from inspector_app.commands.window import load_app


def in_window(work: Callable[[Any], Coroutine[Any, Any, int]]) -> None:
    """Run `work` on an `Inspector` in the loop of its own application; the window is not shown yet.

    Args:
        work: gets the inspector; when it returns, the application ends.
    """
    app = load_app(off_screen=True)
    with tempfile.TemporaryDirectory() as folder:
        app._with_application(work, app.Settings(Path(folder)), True, "dark", None)
