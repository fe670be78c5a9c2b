"""What each test took when it last ran, in pytest's cache."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

_KEY = "agent-inspector/durations"


class Recorder:
    """Keeps in pytest's cache what each test took."""

    def __init__(self, config: pytest.Config) -> None:
        self._cache: pytest.Cache | None = getattr(config, "cache", None)  # there is none with `-p no:cacheprovider`
        self._seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a part of a test: its setup, call or teardown."""
        self._seconds[report.nodeid] = round(self._seconds.get(report.nodeid, 0.0) + report.duration, 2)

    def pytest_sessionfinish(self) -> None:
        """Write them beside those of the tests that did not run now."""
        if self._cache is not None:
            self._cache.set(_KEY, self._cache.get(_KEY, {}) | self._seconds)


def recorded(root: Path) -> dict[str, float]:
    """Return the seconds of each test by its id; empty if none has run in this checkout."""
    try:
        return dict(json.loads((root / ".pytest_cache" / "v" / _KEY).read_text("utf-8")))
    except OSError:
        return {}
