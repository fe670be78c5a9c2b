"""The real google-adk, run in a separate Python."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest


@cache
def adk_python() -> str:
    """Return a Python that has google-adk 2.13, or skip the test with a reason.

    It is the Python that runs the tests if google-adk is installed there (`pip install '.[interop]'`), else `$INSPECTOR_ADK_PYTHON`.
    """
    given = os.environ.get("INSPECTOR_ADK_PYTHON")
    if given and Path(given).exists():
        return given
    if importlib.util.find_spec("google.adk") is None:
        _miss("google-adk is not installed: pip install '.[interop]', or set INSPECTOR_ADK_PYTHON to a Python that has it")
    return sys.executable


def typescript_adk() -> list[str]:
    """Return the command of a program that writes with @google/adk 2.0 (`typescript_live_writer.cjs`), or skip the test with a reason."""
    node = shutil.which("node")
    folder = Path(os.environ.get("INSPECTOR_TYPESCRIPT_ADK", "/nonexistent"))
    if node is None or not (folder / "node_modules" / "@google" / "adk").is_dir():
        pytest.skip(
            "@google/adk is not installed: set INSPECTOR_TYPESCRIPT_ADK to the folder of `npm install @google/adk @mikro-orm/sqlite`"
        )
    return [node, str(Path(__file__).with_name("typescript_live_writer.cjs")), str(folder)]


@cache
def adk_1_python() -> str:
    """Return `$INSPECTOR_ADK_1_PYTHON`, a Python that has google-adk 1.39, or skip the test with a reason."""
    given = os.environ.get("INSPECTOR_ADK_1_PYTHON")
    if not given or not Path(given).exists():
        _miss("google-adk 1.39 is not installed: set INSPECTOR_ADK_1_PYTHON to a Python that has it")
    return str(given)


@cache
def adk_1_25_python() -> str:
    """Return `$INSPECTOR_ADK_1_25_PYTHON`, a Python that has google-adk 1.25, or skip the test with a reason."""
    given = os.environ.get("INSPECTOR_ADK_1_25_PYTHON")
    if not given or not Path(given).exists():
        _miss("google-adk 1.25 is not installed: set INSPECTOR_ADK_1_25_PYTHON to a Python that has it")
    return str(given)


def _miss(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def run_adk(code: str, *args: str, python: str | None = None, timeout: float = 110) -> Any:
    """Run the body of an async function with google-adk, and return its result, converted through JSON.

    Args:
        code: the body. It can use `args`, `Event`, `EventActions`, `types`, `DatabaseSessionService` and `SqliteSessionService`.
        *args: the strings in `args`.
        python: the Python to run; None means the one with google-adk 2.13.
        timeout: maximum duration in seconds.
    """
    program = (
        textwrap.dedent("""
        import asyncio, json, sys, warnings
        warnings.simplefilter("ignore")
        from google.adk.events.event import Event
        from google.adk.events.event_actions import EventActions
        from google.adk.sessions.database_session_service import DatabaseSessionService
        from google.adk.sessions.sqlite_session_service import SqliteSessionService
        from google.genai import types
        args = sys.argv[1:]
        async def main():
        """)
        + textwrap.indent(textwrap.dedent(code), "    ")
        + "\nprint('RESULT' + json.dumps(asyncio.run(main())))\n"
    )
    done = subprocess.run([python or adk_python(), "-c", program, *args], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr[-4000:]
    (result,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    return json.loads(result.removeprefix("RESULT"))
