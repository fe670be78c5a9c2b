"""A real `adk api_server` process."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.interop.google_adk import adk_python


@contextmanager
def adk_api_server(folder: Path, python: str | None = None, port: int = 0) -> Iterator[str]:
    """Serve the folder's agents with google-adk's own server, and yield its address; the server is killed in the end."""
    python = python or adk_python()
    arguments = [python, "-W", "ignore", "-m", "google.adk.cli", "api_server", "--host", "127.0.0.1", "--port", str(port), str(folder)]
    environment = {"HOME": str(folder.parent), "PATH": str(Path(python).parent)}
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            found = next(match for line in process.stdout if (match := re.search(r"Uvicorn running on (http://127\.0\.0\.1:\d+)", line)))
            yield found[1]
        finally:
            process.kill()
            process.communicate()
