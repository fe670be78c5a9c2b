"""What holds for every test: no window on the developer's screen, and nothing of the user's own settings read or written."""

from __future__ import annotations

import os
import tempfile

from hypothesis import settings

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
_HOME = tempfile.TemporaryDirectory(prefix="agent-inspector-tests-")
for _variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
    os.environ[_variable] = _HOME.name

# How long an example takes says nothing on a machine that does other things too.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


def pytest_unconfigure() -> None:
    """Stop the database server that the tests may have started."""
    from tests.postgres import stop_server

    stop_server()
