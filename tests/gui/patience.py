"""Waits of GUI tests that a loaded machine cannot fail."""

from __future__ import annotations

from typing import Any

from pytestqt.qtbot import QtBot

PATIENCE = 100_000  # ms; a wait ends as soon as what it waits for is there, which may take minutes beside seven other suites


class PatientQtBot(QtBot):
    """A qtbot that waits at least `PATIENCE` before it fails a test: how long a thing takes depends on the machine's load.

    A wait that may end without its signal (`raising=False`) ends when the test says.
    """

    def waitUntil(self, callback: Any, *, timeout: int = PATIENCE) -> None:
        """Run the event loop until `callback()` is true or passes its assertions."""
        super().waitUntil(callback, timeout=max(timeout, PATIENCE))

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE, raising: bool | None = None, **more: Any) -> Any:
        """Run the event loop until `signal` is emitted."""
        return super().waitSignal(signal, timeout=timeout if raising is False else max(timeout, PATIENCE), raising=raising, **more)

    def waitSignals(self, signals: Any, *, timeout: int = PATIENCE, raising: bool | None = None, **more: Any) -> Any:
        """Run the event loop until all `signals` are emitted."""
        return super().waitSignals(signals, timeout=timeout if raising is False else max(timeout, PATIENCE), raising=raising, **more)
