"""Settings for every test: no windows on the developer's screen, and no access to the user's own settings."""

from __future__ import annotations

import os
import tempfile

from hypothesis import settings

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
_HOME = tempfile.TemporaryDirectory(prefix="agent-inspector-tests-")
for _variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
    os.environ[_variable] = _HOME.name

# No deadline, because the duration of an example depends on the machine's load.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


def pytest_unconfigure() -> None:
    """Stop the database server if the tests started it."""
    from tests.postgres import stop_server

    stop_server()
