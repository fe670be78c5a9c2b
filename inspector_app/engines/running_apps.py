"""The running apps that a window can attach to: those with the inspector plugin, on this machine and of this user.

`resources/plugins/inspector_plugin.py` is the app's side. It names each app in a file of the user's runtime folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.errors import KnownError
from runtime.support.bounded import parse, read_file
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    import psutil
else:
    psutil = lazy_module("psutil")

PROTOCOL = 3  # as in inspector_plugin.py

FOLDER = "agent-inspector"  # as in inspector_plugin.py

PROBE_SECONDS = 1.0  # for an app to say what it is; its listener has a thread of its own

MAX_ANSWER = 1_000_000  # bytes of an app's first line

MOST_APPS, LONGEST_NAME = 20, 1_000  # of what an app says of itself; characters

PLUGIN = Path(str(files("inspector_app.resources"))) / "plugins" / "inspector_plugin.py"
"""The file that a user copies to their app."""

HOW_TO_LIST = (
    "An app is listed while it runs with the inspector plugin. Copy inspector_plugin.py next to the agent, and add"
    " plugins=[InspectorPlugin()] to its Runner or App."
)


class AttachError(KnownError):
    """A window cannot attach to an app; the message says why."""


@dataclass(frozen=True, slots=True)
class RunningApp:
    """A running app with the inspector plugin.

    Attributes:
        pid: its process.
        port: its port on the loopback interface.
        token: proves to the app that the window may read the user's files. Never displayed.
        apps: the names of the apps that have run in it.
        place: the file in which the plugin was made, or the working folder.
        engine: google-adk with its version, or the embedded runtime.
        attached_by: the process of the window that is attached already; None if there is none.
        answers: whether the app answered when it was listed.
    """

    pid: int
    port: int
    token: str = field(repr=False)
    apps: tuple[str, ...]
    place: str
    engine: str
    attached_by: int | None = None
    answers: bool = True

    @property
    def name(self) -> str:
        """The app's name; before its first run, that of the agent's folder or file."""
        if self.apps:
            return ", ".join(self.apps)
        place = Path(self.place)
        is_agents = place.name in ("agent.py", "__init__.py", "main.py", "app.py") or not place.suffix
        return (place.parent.name if place.suffix else place.name) if is_agents else place.stem

    @property
    def why_not(self) -> str | None:
        """A sentence that says why a window cannot attach to it now; None if it can."""
        if self.attached_by is not None:
            return f"The window of process {self.attached_by} is attached to it."
        return None if self.answers else "It does not answer: it may be stopped, or block in C."


def runtime_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the files that name running apps; `runtime_folder` of inspector_plugin.py."""
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / FOLDER / "running"
    given = environ.get("XDG_RUNTIME_DIR")
    if given and Path(given).is_dir():
        return Path(given) / FOLDER
    if sys.platform == "darwin":
        return Path(tempfile.gettempdir()) / FOLDER
    return Path(tempfile.gettempdir()) / f"{FOLDER}-{os.getuid()}"


def running_apps() -> list[RunningApp]:
    """Return the running apps by name and process, without those of this process. Files of ended apps are removed."""
    folder = runtime_folder()
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    named = [app for entry in entries if (app := _read(entry)) is not None and app.pid != os.getpid()]
    if not named:
        return []
    with ThreadPoolExecutor(min(len(named), 16), "probe") as pool:
        found = [app for app in pool.map(_probe, named) if app is not None]
    return sorted(found, key=lambda app: (app.name.casefold(), app.pid))


def choose(wanted: str, apps: Sequence[RunningApp]) -> RunningApp:
    """Return the app of this name or process.

    Raises:
        AttachError: there is none, or several have the name.
    """
    found = [app for app in apps if wanted == str(app.pid)] or [app for app in apps if wanted == app.name or wanted in app.apps]
    if len(found) == 1:
        return found[0]
    if found:
        raise AttachError(
            f"{len(found)} running apps are named {wanted}. Name one by its process: {', '.join(str(app.pid) for app in found)}."
        )
    others = ", ".join(f"{app.name} ({app.pid})" for app in apps)
    raise AttachError(f"No running app is named {wanted}. Running: {others}." if apps else f"No app is running. {HOW_TO_LIST}")


def _read(file: Path) -> RunningApp | None:
    """Return the app that a file names; None if it is none of the user's own."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, OverflowError):
        found = file.lstat()
        if not stat.S_ISREG(found.st_mode) or (sys.platform != "win32" and (found.st_uid != os.getuid() or found.st_mode & 0o077)):
            return None
        if file.name.startswith("."):  # an app ended while it wrote its file
            if not psutil.pid_exists(int(file.name[1:].partition("-")[0])):
                file.unlink()
            return None
        if file.suffix != ".json":
            return None
        data = parse(read_file(file, MAX_ANSWER))
        app = RunningApp(int(data["pid"]), int(data["port"]), str(data["token"]), *_facts(data))
        if psutil.pid_exists(app.pid):
            return app
        file.unlink()
    return None


def _facts(data: Mapping[str, Any]) -> tuple[tuple[str, ...], str, str]:
    """Return what an app says of itself.

    Raises:
        TypeError: it is something else.
    """
    apps = data.get("apps") or []
    if not isinstance(apps, list):
        raise TypeError("its apps are no list")
    place, engine = (str(data.get(name) or "")[:LONGEST_NAME] for name in ("place", "engine"))
    return tuple(str(name)[:LONGEST_NAME] for name in apps[:MOST_APPS]), place, engine


def _probe(app: RunningApp) -> RunningApp | None:
    """Return an app with what it says of itself now; None if nothing listens, and remove its file."""
    try:
        answer = _ask(app)
        facts = _facts(answer)
    except ConnectionRefusedError:
        with contextlib.suppress(OSError):
            (runtime_folder() / f"{app.pid}-{app.port}.json").unlink()
        return None
    except (OSError, ValueError, TypeError):  # an app that answers nonsense does not hide the others
        answer = {}
    if answer.get("type") != "running":
        return RunningApp(app.pid, app.port, app.token, app.apps, app.place, app.engine, answers=False)
    by = answer.get("attached_by")
    return RunningApp(app.pid, app.port, app.token, *facts, attached_by=by if isinstance(by, int) else None)


def _ask(app: RunningApp) -> dict[str, Any]:
    end = time.monotonic() + PROBE_SECONDS
    with socket.create_connection(("127.0.0.1", app.port), PROBE_SECONDS) as connection:
        connection.sendall(json.dumps({"type": "probe", "protocol": PROTOCOL, "token": app.token}).encode() + b"\n")
        received = bytearray()
        while b"\n" not in received and len(received) < MAX_ANSWER and (left := end - time.monotonic()) > 0:
            connection.settimeout(left)
            data = connection.recv(65_536)
            if not data:
                break
            received += data
    answer = parse(bytes(received))
    return answer if isinstance(answer, dict) else {}
