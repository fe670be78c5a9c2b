"""Opens the window, or saves a picture of it."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

from inspector_app.commands.options.window import Window
from inspector_app.engines.engine_choice import EngineChoice
from inspector_app.support import system_check
from runtime.errors import KnownError
from runtime.support.gc_freeze import frozen_from_gc


def open_window(options: Window) -> int:
    """Open the window, or save a picture of it.

    Raises:
        KnownError: Qt cannot work here; the message says what to install or do.
    """
    app = load_app(off_screen=options.screenshot is not None)
    is_given = options.engine or options.python or options.debugpy is not None
    engine = EngineChoice(options.engine, options.python, options.debugpy) if is_given else None
    look: dict[str, Any] = {"trust": options.trust, "theme": options.theme, "size": options.size, "engine": engine}
    if options.screenshot is not None:
        if options.otlp is not None:
            traces = Path(options.otlp)
            look["prepare"] = lambda inspector: inspector.work.traces.read_file(traces)
        status: int = app.save_screenshot(options.paths, options.screenshot, **look)
    else:
        status = app.run_window(options.paths, **look, **_traces(options.otlp))
    return status


def _traces(otlp: str | None) -> dict[str, Any]:
    """Return where `run_window` gets traces from: a file, or an endpoint, whose server is loaded only then."""
    if otlp is None:
        return {}
    if Path(otlp).is_file():
        return {"traces": Path(otlp)}
    server = importlib.import_module("inspector_app.server.otlp_endpoint")
    return {"endpoint": server.OtlpEndpoint(*server.parsed_address(otlp))}


def load_app(*, off_screen: bool) -> ModuleType:
    """Import `inspector_app.app`, and Qt with it.

    Args:
        off_screen: whether no display is needed.

    Raises:
        KnownError: Qt cannot work here; the message says what to install or do.
    """
    _check_machine(off_screen)
    with frozen_from_gc():
        return importlib.import_module("inspector_app.app")


def _check_machine(off_screen: bool) -> None:
    """Check that Qt can work here before it is loaded; otherwise it would abort the process without a helpful message."""
    packages = system_check.missing_packages(x11=not off_screen and system_check.needs_x11())
    if packages:
        raise KnownError(system_check.what_to_do(packages))
    if not off_screen and not system_check.has_display():
        raise KnownError("There is no display to open a window on. To draw it into a picture instead, add --screenshot OUT.png.")
