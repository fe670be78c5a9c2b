"""Lets an Agent Inspector window on this machine watch, hold and step your running app.

Copy this file next to your agent and add the plugin to your Runner or App:

    from inspector_plugin import InspectorPlugin

    runner = Runner(..., plugins=[InspectorPlugin()])
    app = App(name="my_app", root_agent=root_agent, plugins=[InspectorPlugin()])

Then choose *Attach…* in the window, or call `agent-inspector attach`. It works with google-adk 1.25 and later, and with Agent
Inspector's embedded runtime. Apart from these it needs only Python 3.10 and its standard library.

The inspector loads this file, too, into the processes in which it runs agents itself: there it holds and reports in the same way, but
listens nowhere. `Link` is the way to what holds the runs, `Window` that of a running app.

The plugin listens on the loopback interface only, and accepts only programs that can read a file of yours with mode 0600, which names the
port and a random token. Without a window, a hook returns at once. No failure of the connection reaches the app: if a window ends or does
not answer for 10 seconds, the connection is closed and the app continues. docs/engine-protocol.md describes the messages.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import datetime
import gc
import hmac
import importlib
import inspect
import itertools
import json
import logging
import os
import secrets
import socket
import sys
import tempfile
import threading
import time
import traceback
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

PROTOCOL = 3  # raised when a message changes its meaning

FOLDER = "agent-inspector"  # below the user's runtime folder; one file for each running app

SILENCE_SECONDS = 10.0  # the window sends something every 2 s; after this long without, the connection is closed
HANDSHAKE_SECONDS = 5.0  # for a program that has connected to send its first line
LEAVING_SECONDS = 0.5  # for a window that is about to leave, when another one attaches; and to read the last messages
MAX_HANDSHAKE = 4_096  # bytes of the first line
MAX_COMMAND = 256 * 1024 * 1024  # bytes of one line of the window
MAX_HANDSHAKES = 8  # at once; further connections are closed
MAX_QUEUED = 2_000  # messages, above which the app waits for the window to read
MAX_QUEUED_BYTES = 16 * 1024 * 1024  # bytes, above which it waits, too
MAX_SNAPSHOT = 2_000  # newest events of a session that are sent when it is first seen
MAX_CALLS = 1_000  # active calls of agents, and runs, that are known; a run that failed leaves some behind
MAX_JSON_DEPTH = 100
MAX_ITEMS = 5_000_000  # of all containers of a value together: one that contains another several times is written as often
MAX_BITS = 10_000  # of an integer; Python refuses to write one of more than 4,300 digits
MAX_REPR = 1_000  # characters of an object that JSON cannot express
MAX_TEXT = 100_000  # characters of a text of the app's own object

PLACES = ("start", "event", "agent start", "agent end", "before model", "before tool", "error")

EDITED = "inspector_edited"  # key in an event's custom_metadata, which records the user's changes

NOT_JSON = "(not editable: a Python object)"

ENGINE_VARIABLE = "AGENT_INSPECTOR_ENGINE"  # set in processes that the inspector itself runs agents in

logger = logging.getLogger("inspector_plugin")


_package = ""  # `google.adk`, or the embedded `runtime`


def use(package: str) -> Any:
    """Use the classes of `google.adk` or of the embedded `runtime`; return its BasePlugin."""
    global _package
    base = importlib.import_module(f"{package}.plugins.base_plugin").BasePlugin
    _package = package
    return base


def _base_plugin() -> Any:
    """Return BasePlugin of the package that the app uses."""
    names = ["google.adk", "runtime"]
    if "google.adk" not in sys.modules and "runtime.plugins.base_plugin" in sys.modules:
        names.reverse()
    for name in names:
        with contextlib.suppress(ImportError):
            return use(name)
    raise ImportError("The inspector plugin needs google-adk, or Agent Inspector's embedded runtime.")


def made(name: str, fields: dict[str, Any]) -> Any:
    """Return an object of a class of the used package, without the fields that its version does not know.

    Args:
        name: the class with its module, below the package.
        fields: values by field name, as JSON has them.
    """
    module, _, kind_name = name.rpartition(".")
    kind = getattr(importlib.import_module(f"{_package}.{module}"), kind_name)
    return kind.model_validate_json(json.dumps({name: value for name, value in fields.items() if name in kind.model_fields}))


def runtime_folder() -> Path:
    """Return the folder of the files that name running apps. It is the user's own; it may not exist yet."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / FOLDER / "running"
    given = os.environ.get("XDG_RUNTIME_DIR")
    if given and Path(given).is_dir():
        return Path(given) / FOLDER
    if sys.platform == "darwin":
        return Path(tempfile.gettempdir()) / FOLDER  # below /var/folders, the user's own
    return Path(tempfile.gettempdir()) / f"{FOLDER}-{os.getuid()}"


def _make_folder() -> Path:
    folder = runtime_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform != "win32":
        found = folder.lstat()
        if folder.is_symlink() or found.st_uid != os.getuid() or found.st_mode & 0o022:
            raise OSError(f"{folder} belongs to another user, or others may write to it")
    return folder


# JSON


_ENCODER = json.JSONEncoder(allow_nan=False)
_SCALARS = frozenset((str, int, float, bool, type(None)))
_MOMENTS = frozenset((datetime.datetime, datetime.date, datetime.time))  # written as in any JSON; a subclass may have code of its own


def to_json(value: Any) -> str:
    """Return JSON text. What JSON cannot express is replaced: NaN by null, times by their ISO form, other objects by their `repr`.

    What is too much becomes `…`.

    Only `__repr__` and `model_dump` of the agent's objects are called: a subclass of `dict` may have endless items.
    """
    if _is_plain(value, 0, [MAX_ITEMS]):
        with contextlib.suppress(ValueError):  # NaN, or an integer of thousands of digits
            return _ENCODER.encode(value)
    return json.dumps(_storable(value, (), [MAX_ITEMS]), allow_nan=False)


def _is_plain(value: Any, depth: int, left: list[int]) -> bool:
    """Return whether encoding a value runs no code but JSON's own, and ends."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is not dict and kind is not list and kind is not tuple:
        return False
    left[0] -= len(value)
    if depth > MAX_JSON_DEPTH or left[0] < 0:
        return False
    if kind is dict:
        return all(type(key) is str and (type(item) in _SCALARS or _is_plain(item, depth + 1, left)) for key, item in value.items())
    return all(type(item) in _SCALARS or _is_plain(item, depth + 1, left) for item in value)


def _storable(value: Any, above: tuple[Any, ...], left: list[int]) -> Any:
    """Return a value with only what JSON can express.

    Args:
        value: any value.
        above: the containers that it is in.
        left: how many more items may be written.
    """
    left[0] -= 1
    if len(above) > MAX_JSON_DEPTH or left[0] < 0 or any(value is one for one in above):
        return "…"
    try:
        return _replaced(value, above, left)
    except BaseException as error:  # the object's own code
        return f"<{type_name(value)}: it cannot be read: {type_name(error)}>"


def _replaced(value: Any, above: tuple[Any, ...], left: list[int]) -> Any:
    kind = type(value)
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        number = int.__index__(value)
        return number if number.bit_length() < MAX_BITS else f"<a number of {number.bit_length():,} bits>"
    if issubclass(kind, float):
        real = float.__float__(value)
        return real if real == real and abs(real) != float("inf") else None
    if issubclass(kind, dict):
        return {text_of(key): _storable(item, (*above, value), left) for key, item in dict.items(value) if left[0] > 0}
    for container in (list, tuple, set, frozenset):
        if issubclass(kind, container):
            return [_storable(item, (*above, value), left) for item in container.__iter__(value) if left[0] > 0]
    if kind in _MOMENTS:
        return value.isoformat()
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not issubclass(kind, type):
        return _storable(dump(mode="json", exclude_none=True), (*above, value), left)
    return text_of(value, repr, MAX_REPR)


def text_of(value: Any, make: Any = str, most: int = MAX_TEXT) -> str:
    """Return `str(value)`; a note in its place if the object's code fails.

    Args:
        value: any object.
        make: `str` or `repr`.
        most: maximum number of characters.
    """
    try:
        text = make(value)
        # Methods of `str` itself, as the text may be of a subclass that has its own.
        return str.__getitem__(text, slice(0, most)) + ("…" if str.__len__(text) > most else "")
    except BaseException as error:  # the object's own code
        return f"<{type_name(value)}: its {make.__name__} failed: {type_name(error)}>"


def type_name(value: Any) -> str:
    """Return the name of an object's type, without code of its metaclass."""
    return str.__getitem__(type.__dict__["__name__"].__get__(type(value)), slice(0, 1000))


def event_json(event: Any) -> str:
    """Return an event as it is stored, without `temp:` keys."""
    delta = event.actions.state_delta if event.actions is not None else {}
    if not any(isinstance(key, str) and key.startswith("temp:") for key in delta):
        with contextlib.suppress(Exception):  # a value that pydantic cannot write
            return str(event.model_dump_json(exclude_none=True))
    try:
        data = event.model_dump(mode="json", exclude_none=True)
    except Exception:
        data = event.model_dump(exclude_none=True)
    kept = data.get("actions", {}).get("state_delta", {})
    for key in [key for key in kept if text_of(key).startswith("temp:")]:
        del kept[key]
    return to_json(data)


def request_json(request: Any) -> dict[str, Any]:
    """Return a request to a model as JSON; objects that are not JSON are named instead."""
    config = {}
    if request.config is not None:
        for name in sorted(request.config.model_fields_set):
            if getattr(request.config, name) is not None:
                config[name] = _config_field(request.config, name)
    contents = [content.model_dump(mode="json", exclude_none=True) for content in request.contents]
    return {"model": request.model, "contents": contents, "config": config}


def _config_field(config: Any, name: str) -> Any:
    try:
        return json.loads(to_json(config.model_dump(mode="json", include={name}, exclude_none=True).get(name)))
    except Exception:  # pydantic, or the object's own code, may raise anything
        value = getattr(config, name)
        return f"{NOT_JSON[:-1]}, {value.__name__})" if isinstance(value, type) else NOT_JSON


def change_request(request: Any, after: dict[str, Any]) -> None:
    """Apply an edited JSON form to a request. Unchanged parts keep their objects."""
    types = importlib.import_module("google.genai.types")
    before = request_json(request)
    if after.get("model") != before["model"]:
        request.model = after.get("model")
    if after.get("contents") != before["contents"]:
        present = {json.dumps(value, sort_keys=True): content for value, content in zip(before["contents"], request.contents)}  # noqa: B905
        texts = [json.dumps(value, sort_keys=True) for value in after.get("contents") or []]
        request.contents = [present.get(text) or types.Content.model_validate_json(text) for text in texts]
    config = after.get("config") or {}
    changed = {name: value for name, value in config.items() if name not in before["config"] or value != before["config"][name]}
    update: dict[str, Any] = {name: None for name in before["config"] if name not in config}
    if changed or update:
        checked = types.GenerateContentConfig.model_validate_json(json.dumps(changed))
        update.update({name: getattr(checked, name) for name in checked.model_fields_set})
        request.config = request.config.model_copy(update=update)


def _is_apps(file: str) -> bool:
    """Return whether a file is code of the app: neither of a package, nor of Python, nor this file."""
    return "site-packages" not in file and file != __file__ and not file.startswith((sys.base_prefix, "<"))


def _is_shown(file: str) -> bool:
    return file != __file__


def error_fields(
    error: BaseException, is_own: Callable[[str], bool] = _is_apps, is_shown: Callable[[str], bool] = _is_shown
) -> dict[str, Any]:
    """Return an exception as JSON: type, message, traceback from the app's first frame on, and the place in the app's code.

    Args:
        error: the exception.
        is_own: returns whether a file is the app's code.
        is_shown: returns whether frames of a file are part of the traceback.
    """
    file, line = place_of(error, is_own)
    message = text_of(error)
    if issubclass(type(error), SystemExit):  # `isinstance` would ask the object's own `__class__`
        code = getattr(error, "code", None)
        message = f"The agent's code called sys.exit({'' if code is None else text_of(code, repr)})."
    text = formatted(error, first_of(error, is_own), is_shown)
    return {"type": type_name(error), "message": message, "traceback": text, "file": file, "line": line}


def place_of(error: BaseException, is_own: Callable[[str], bool]) -> tuple[str | None, int | None]:
    """Return the file and line of the app's code where an exception was raised, or where it called what raised it."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own(frame.filename)]
    return (frames[-1].filename, frames[-1].lineno) if frames else (None, None)


def first_of(error: BaseException, is_own: Callable[[str], bool]) -> TracebackType | None:
    """Return an exception's traceback from the app's first frame on; None if it has none."""
    start = error.__traceback__
    while start is not None and not is_own(start.tb_frame.f_code.co_filename):
        start = start.tb_next
    return start


def formatted(error: BaseException, start: TracebackType | None, is_shown: Callable[[str], bool] = lambda file: True) -> str:
    """Format an exception's traceback with those of its causes; its frames alone, and its message, if the code of one of them fails.

    Args:
        error: the exception.
        start: its first frame that is shown.
        is_shown: returns whether the frames of a file are shown.
    """
    try:
        return _formatted(error, start, is_shown)
    except BaseException:  # the code of one of the exceptions, or of a note: a property may raise anything
        frames = [frame for frame in traceback.extract_tb(start) if is_shown(frame.filename)]
        return "".join((*traceback.format_list(frames), f"{type_name(error)}: {text_of(error)}\n"))[-MAX_TEXT:]


def _formatted(error: BaseException, start: TracebackType | None, is_shown: Callable[[str], bool]) -> str:
    described = traceback.TracebackException(type(error), error, start)
    remaining = [described]
    seen: set[int] = set()
    while remaining:
        one = remaining.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        one.stack[:] = [frame for frame in one.stack if is_shown(frame.filename)]
        said = getattr(one, "_str", None)
        if isinstance(said, str) and len(said) > MAX_TEXT:
            one._str = text_of(said)  # type: ignore[attr-defined]  # formatting would copy a gigabyte several times
        remaining += [other for other in (one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ())) if other is not None]
    return "".join(described.format())[-MAX_TEXT:]


_TEXTS = ("instruction", "global_instruction", "static_instruction", "include_contents")


def _told(value: Any) -> Any:
    """Return what an agent's author wrote, as the recorder plugin has it: a text, a content as JSON, or the name of a function."""
    if callable(value):
        return {"function": text_of(getattr(value, "__name__", ""))}
    if not hasattr(value, "model_dump"):
        return text_of(value or "")
    return json.loads(value.model_dump_json(exclude_none=True)) if getattr(value, "parts", None) else ""


def describe_agent(agent: Any, depth: int = 0) -> dict[str, Any]:
    """Return an agent or node and those below it as JSON."""
    model = getattr(agent, "model", None)
    described: dict[str, Any] = {
        "name": text_of(getattr(agent, "name", "") or type(agent).__name__),
        "type": type(agent).__name__,
        "description": text_of(getattr(agent, "description", "") or ""),
        "model": model if isinstance(model, str) else text_of(getattr(model, "model", "") or type_name(model)) if model else None,
        "texts": {name: told for name in _TEXTS if (told := _told(getattr(agent, name, None)))},
        "tools": [tool_name(tool) for tool in getattr(agent, "tools", None) or ()],
        "sub_agents": [],
        "edges": [],
        "tool_agents": [],
    }
    if depth < 20:
        below = list(getattr(agent, "sub_agents", None) or ()) or graph_nodes(agent)
        described["sub_agents"] = [describe_agent(one, depth + 1) for one in below]
        described["edges"] = _graph_edges(agent, below)
        described["tool_agents"] = [
            describe_agent(tool.agent, depth + 1) for tool in getattr(agent, "tools", None) or () if _is_agent_tool(tool)
        ]
    return described


def _is_agent_tool(tool: Any) -> bool:
    return any(kind.__name__ == "AgentTool" for kind in type(tool).__mro__) and getattr(tool, "agent", None) is not None


def _graph_edges(agent: Any, nodes: list[Any]) -> list[dict[str, Any]]:
    """Return the edges of a workflow between its nodes: their numbers, and the route that an edge is for."""
    numbers = {id(node): number for number, node in enumerate(nodes)}
    found = []
    for edge in getattr(getattr(agent, "graph", None), "edges", None) or ():
        begin, end = (numbers.get(id(getattr(edge, name, None))) for name in ("from_node", "to_node"))
        if begin is not None and end is not None:
            route = getattr(edge, "route", None)
            routes = route if isinstance(route, (list, tuple)) else [] if route is None else [route]
            found.append({"from": begin, "to": end, "route": ", ".join(map(text_of, routes))})
    return found


def graph_nodes(agent: Any) -> list[Any]:
    """Return the nodes of a workflow, without its start; of other agents, none."""
    graph = getattr(agent, "graph", None)
    nodes = getattr(graph, "nodes", None) or ()
    nodes = nodes.values() if isinstance(nodes, dict) else nodes
    return [node for node in nodes if getattr(node, "name", None) not in (None, "", "__START__")]


def tool_name(tool: Any) -> str:
    """Return the name by which the model knows a tool, or the nearest to it."""
    return text_of(getattr(tool, "name", None) or getattr(tool, "__name__", None) or type_name(tool))


def engine_name() -> str:
    """Return google-adk with its version, or the embedded runtime."""
    return f"google-adk {_adk_version()}" if _package == "google.adk" else "embedded runtime"


def _adk_version() -> str | None:
    try:
        return importlib.import_module("importlib.metadata").version("google-adk") if _package == "google.adk" else None
    except ImportError:  # it is installed without its metadata
        return None


# The listener


class Listener:
    """Listens for windows, and names this app in the user's runtime folder.

    Attributes:
        pid: the process that it serves; after a fork, the child makes its own.
    """

    def __init__(self, place: str) -> None:
        self.pid = os.getpid()
        self._place = place
        self._token = secrets.token_hex(32)
        self._file: Path | None = None
        self._handshakes = threading.Semaphore(MAX_HANDSHAKES)
        self._is_closed = False
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=MAX_HANDSHAKES)
        try:
            self._file = self._write_file()
        except OSError:
            self._socket.close()
            raise
        threading.Thread(target=self._accept, name="inspector-listener", daemon=True).start()

    def close(self) -> None:
        """Stop listening, and delete the file."""
        self._is_closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self._socket.close()
        if self._file is not None and self.pid == os.getpid():
            with contextlib.suppress(OSError):
                self._file.unlink()

    def facts(self) -> dict[str, Any]:
        """Return what a list of running apps shows."""
        plugins = list(_plugins)
        for plugin in plugins:
            plugin.app_names = plugin.app_names or app_names(plugin)
        return {**self._facts(), "apps": sorted({name for plugin in plugins for name in plugin.app_names})}

    def _facts(self) -> dict[str, Any]:
        return {
            "protocol": PROTOCOL,
            "pid": self.pid,
            "apps": [],  # the plugin is made before the app
            "place": self._place,
            "engine": engine_name(),
            "python": sys.version.split()[0],
        }

    def _write_file(self) -> Path:
        folder = _make_folder()
        port = self._socket.getsockname()[1]
        file, new = folder / f"{self.pid}-{port}.json", folder / f".{self.pid}-{port}.new"
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
                json.dump({**self._facts(), "port": port, "token": self._token}, opened)
            new.replace(file)
        except BaseException:
            with contextlib.suppress(OSError):
                new.unlink()
            raise
        return file

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                if self._is_closed:
                    return
                time.sleep(0.1)  # such as too many open files, for now
                continue
            if not self._handshakes.acquire(blocking=False):
                connection.close()
                continue
            try:
                threading.Thread(target=self._welcome, args=(connection,), name="inspector-window", daemon=True).start()
            except RuntimeError:  # no more threads, or Python is ending
                self._handshakes.release()
                connection.close()

    def _welcome(self, connection: socket.socket) -> None:
        """Read the first line, and answer it; nothing is answered to a program that does not speak this protocol, such as a browser."""
        window = None
        try:
            connection.settimeout(HANDSHAKE_SECONDS)
            window = self._greet(connection)
        except Exception:  # a lost connection, or a line that is none of this protocol
            window = None
        finally:
            self._handshakes.release()
            if window is None:
                with contextlib.suppress(OSError):
                    connection.close()
        if window is not None:
            window.read()

    def _greet(self, connection: socket.socket) -> Window | None:
        first = bytearray()
        end = time.monotonic() + HANDSHAKE_SECONDS
        while b"\n" not in first:
            data = connection.recv(MAX_HANDSHAKE)
            first += data
            if not data or len(first) > MAX_HANDSHAKE or not first.startswith(b"{") or time.monotonic() > end:
                return None
        line, _, rest = bytes(first).partition(b"\n")
        command = json.loads(line)
        if not isinstance(command, dict) or command.get("type") not in ("attach", "probe") or not isinstance(command.get("token"), str):
            return None
        if not hmac.compare_digest(command["token"].encode(), self._token.encode()):
            return self._refuse(connection, "The token is not this app's. List the running apps again.")
        if command.get("protocol") != PROTOCOL:
            versions = f"version {PROTOCOL} of the protocol, the window version {command.get('protocol')!r}"
            return self._refuse(connection, f"The app's inspector_plugin.py speaks {versions}. Copy the file of this version again.")
        if command["type"] == "probe":
            attached = _window.by if _window is not None else None
            connection.sendall(line_of("running", None, {**self.facts(), "attached_by": attached}))
            return None
        return _attach(connection, command.get("by"), rest, self)

    def _refuse(self, connection: socket.socket, reason: str) -> Window | None:
        connection.sendall(line_of("refused", None, {"reason": reason}))
        return None


_lock = threading.RLock()  # guards the two below
_listener: Listener | None = None
_window: Window | None = None  # that is attached
_plugins: weakref.WeakSet[Any] = weakref.WeakSet()
_problem_told = False


def _listen(place: str) -> None:
    """Listen, if this process does not yet. An app that cannot be listed runs as without the plugin."""
    global _listener, _problem_told
    with _lock:
        if _listener is not None or os.environ.get(ENGINE_VARIABLE):
            return
        try:
            _listener = Listener(place)
        except (OSError, RuntimeError) as error:
            if not _problem_told:
                _problem_told = True
                logger.warning("Agent Inspector cannot attach to this app: %s", error)


def _stop_listening(why: str) -> None:
    global _listener
    with _lock:
        listener, _listener = _listener, None
    if listener is not None:
        listener.close()
    if _window is not None:
        _window.say_goodbye(why)


def _forget_parent() -> None:
    """Forget the connections of the process that this one was forked from; the next run listens again."""
    global _listener, _window, _lock
    _lock = threading.RLock()
    if _window is not None:
        _window.abandon()
    _listener = _window = None


atexit.register(_stop_listening, "exit")
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)


def _attach(connection: socket.socket, by: Any, rest: bytes, listener: Listener) -> Window | None:
    """Make this connection the attached window's; refuse it if there is one."""
    global _window
    before = _window
    if before is not None:
        before.closed.wait(LEAVING_SECONDS)
    facts = listener.facts()
    with _lock:
        if _window is not None:
            text = f"The window of process {_window.by} is attached to this app. Stop watching there, or close that window."
            connection.sendall(line_of("refused", None, {"reason": text}))
            return None
        _window = Window(connection, by, rest)
        _window.send("hello", **facts, adk=_adk_version(), silence=SILENCE_SECONDS)
        return _window


# The way to what holds the runs


class Policy:
    """At which places runs wait for an answer. Replaced as a whole, by the thread that reads commands.

    Attributes:
        hold: names of PLACES.
        state: whether waiting places report the whole state.
        requests: whether model calls report their request even if they do not wait.
    """

    def __init__(self, hold: Any = PLACES, state: bool = False, requests: bool = True) -> None:
        self.hold = frozenset(hold)
        self.state = state
        self.requests = requests

    @classmethod
    def of(cls, command: dict[str, Any]) -> Policy:
        """Return the policy that a command sets."""
        return cls(command.get("hold", PLACES), bool(command.get("state")), bool(command.get("requests", True)))


class Link:
    """The way to what holds the runs: an attached window, or the inspector that has started this process.

    Hooks, on any thread and event loop, queue messages here and wait for futures of their own loops.

    Attributes:
        policy: where runs wait.
        is_closed: whether it has gone.
    """

    def __init__(self) -> None:
        self.policy = Policy()
        self.is_closed = False
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[dict[str, Any]]]] = {}

    def send(self, kind: str, raw: str | None = None, /, **fields: Any) -> None:
        """Send a message.

        Args:
            kind: its `type`.
            raw: an event, as JSON text.
            **fields: its other fields.
        """
        raise NotImplementedError

    async def room(self) -> None:
        """Wait while too many messages are queued."""

    def look(self) -> None:
        """Take the commands that have arrived."""

    def waits_at(self, place: str) -> bool:
        """Return whether runs wait at a place."""
        return place in self.policy.hold

    async def run_of(self, context: Any) -> Run:
        """Return the run that a context belongs to; that of the outermost invocation, for an agent that runs as a tool."""
        raise NotImplementedError

    def run_of_event(self, session: Any, event: Any) -> Run | None:
        """Return the run that commits an event; None if none does."""
        raise NotImplementedError

    async def committed(self, run: Run | None, session: Any, event: Any, fields: dict[str, Any]) -> None:
        """Report that the session service has stored an event."""
        raise NotImplementedError

    async def piece(self, run: Run, context: Any, event: Any) -> None:
        """Report a piece of a streamed answer."""

    def error_fields(self, error: BaseException) -> dict[str, Any]:
        """Return an exception as JSON."""
        return error_fields(error)

    def failed(self, error: Exception) -> None:
        """Handle a failure of this file."""
        raise error

    def next_number(self) -> int:
        """Return the number of the next place."""
        return next(self._numbers)

    def expect(self, number: int) -> asyncio.Future[dict[str, Any]]:
        """Return the answer to a place, which is about to be reported. It is empty if the other side has gone."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[dict[str, Any]] = loop.create_future()
        with self._lock:
            if self.is_closed:
                future.set_result({})
            else:
                self._waiting[number] = (loop, future)
        return future

    async def wait(self, number: int, future: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
        """Wait for an expected answer; report if that is cancelled."""
        try:
            return await future
        except asyncio.CancelledError:
            self.send("left", at=number)
            raise
        finally:
            self._waiting.pop(number, None)

    def answer(self, command: dict[str, Any]) -> None:
        """Let a run continue from a place where it waits."""
        waiting = self._waiting.pop(command["at"], None)
        if waiting is not None:
            _resolve(*waiting, command)

    def forget_waiting(self) -> None:
        """Forget the places where a run waited that has ended."""
        self._waiting.clear()


def _resolve(loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], value: Any) -> None:
    def resolve() -> None:
        if not future.done():
            future.set_result(value)

    if asyncio._get_running_loop() is loop:
        resolve()
        return
    with contextlib.suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(resolve)


def observe(link: Link, service: Any) -> Any:
    """Report each event that a session service commits; return its new `append_event`, or None if the service has slots."""
    append = service.append_event

    async def append_event(session: Any, event: Any, *args: Any, **options: Any) -> Any:
        if event.partial or link.is_closed:
            return await append(session, event, *args, **options)
        run, fields = None, {}
        try:
            run = link.run_of_event(session, event)
            fields = _before_commit(link, run, session, event)
        except Exception as error:
            link.failed(error)
        stored = await append(session, event, *args, **options)
        try:
            await link.committed(run, session, stored if stored is not None else event, fields)
        except Exception as error:
            link.failed(error)
        return stored

    try:
        service.append_event = append_event
    except AttributeError:
        return None
    return append_event


def _before_commit(link: Link, run: Run | None, session: Any, event: Any) -> dict[str, Any]:
    """Record the user's changes in an event; return what is reported with it."""
    delta = event.actions.state_delta if event.actions is not None else {}
    temp = {key: value for key, value in delta.items() if isinstance(key, str) and key.startswith("temp:")}
    fields: dict[str, Any] = {"run": None, **_session_key(session), "temp": temp, "request": None}
    if run is not None:
        run.edits.record(event)
        fields["run"] = run.id
        fields["request"] = run.take_request(event)
        if link.policy.state and run.state is not None:
            fields["state_before"] = run.state
    return fields


def _session_key(session: Any) -> dict[str, str]:
    return {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}


# Runs

_callers: contextvars.ContextVar[tuple[Any, tuple[int, ...]]] = contextvars.ContextVar("inspector_callers", default=(None, ()))
_tool_call: contextvars.ContextVar[tuple[Any, int | None, str | None] | None] = contextvars.ContextVar("inspector_tool_call", default=None)
_writing: contextvars.ContextVar[tuple[Any, dict[str, Any]] | None] = contextvars.ContextVar("inspector_writing", default=None)


class Edits:
    """The user's changes of one run, until they are recorded in the events that they led to.

    A model call and its event have the invocation, the agent and the branch in common; a tool call and its event the call's id.
    """

    def __init__(self) -> None:
        self._of_models: dict[tuple[str, str, str | None], dict[str, Any]] = {}
        self._of_tools: dict[str, dict[str, Any]] = {}
        self._marks: dict[Any, dict[str, Any]] = {}

    def add_to_model(self, call: tuple[str, str, str | None], edits: dict[str, Any]) -> None:
        """Keep what the user changed of a model call."""
        self._of_models[call] = edits

    def add_to_tool(self, call_id: str, edits: dict[str, Any]) -> None:
        """Keep what the user changed of a tool call, beside earlier changes."""
        self._of_tools[call_id] = {**self._of_tools.get(call_id, {}), **edits}

    def add_marks(self, call: Any, marks: dict[str, Any]) -> None:
        """Keep the marks of a recorded answer: fields of the event's `custom_metadata`."""
        self._marks[call] = marks

    def record(self, event: Any) -> None:
        """Write what belongs to an event into it, before it is committed."""
        edits: dict[str, Any] = {}
        responses = [response.id for response in event.get_function_responses()]
        call = (event.invocation_id, event.author, event.branch)
        tools = {number: self._of_tools.pop(number) for number in responses if number in self._of_tools}
        if tools:
            edits["calls"] = tools
        if not responses:
            edited = self._of_models.pop(call, None)
            if edited is not None:
                edits["model"] = edited
        marks: dict[str, Any] = {EDITED: edits} if edits else {}
        for key in responses or [call]:
            marks.update(self._marks.pop(key, {}))
        if marks:
            event.custom_metadata = {**(event.custom_metadata or {}), **marks}

    def rest(self) -> dict[str, Any]:
        """Return the changes that no event has recorded."""
        rest: dict[str, Any] = {"calls": dict(self._of_tools)} if self._of_tools else {}
        if self._of_models:
            rest["model"] = next(reversed(self._of_models.values()))
        return rest


class Calls:
    """The active calls of agents in a run, numbered."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._agents: dict[int, tuple[str, str | None]] = {}  # each call's agent and branch
        self._known: OrderedDict[int, tuple[Any, int]] = OrderedDict()  # by id() of the context, which each entry keeps alive

    def entered(self, context: Any) -> tuple[int, tuple[int, ...]]:
        """Number an agent's call; return the number and those of its callers, the outermost first."""
        calls, callers = _callers.get()
        callers = callers if calls is self else ()
        number = next(self._numbers)
        self._known[id(context)] = (context, number)
        self._agents[number] = (str(getattr(context.agent, "name", "")), context.branch)
        if len(self._known) > MAX_CALLS:
            self._agents.pop(self._known.popitem(last=False)[1][1], None)
        _callers.set((self, (*callers, number)))
        return number, callers

    def left(self, context: Any) -> None:
        """Record that a call ends."""
        number, (calls, callers) = self.number(context), _callers.get()
        if calls is self and number in callers:
            _callers.set((self, callers[: callers.index(number)]))
        self._known.pop(id(context), None)

    def number(self, context: Any) -> int | None:
        """Return the number of the call that has this context, or the same invocation, session, agent and branch."""
        found = self._known.get(id(context))
        if found is not None:
            return found[1]
        return next((call[1] for call in reversed(list(self._known.values())) if _is_same_call(call[0], context)), None)

    def running(self) -> dict[str, Any] | None:
        """Return the agent that runs in the present context; None if none is known."""
        calls, callers = _callers.get()
        if calls is not self or not callers or callers[-1] not in self._agents:
            return None
        agent, branch = self._agents[callers[-1]]
        return {"agent": agent, "branch": branch}

    def clear(self) -> None:
        """Drop all calls: the run is over."""
        self._known.clear()
        self._agents.clear()


def _is_same_call(one: Any, other: Any) -> bool:
    return bool(
        one.invocation_id == other.invocation_id
        and one.session.id == other.session.id
        and getattr(one.agent, "name", None) == getattr(other.agent, "name", None)
        and one.branch == other.branch
    )


_failures: dict[tuple[str, str], str] = {}  # the text of an exception, by the invocation and the id of the tool call that shall raise it


class Run:
    """One invocation, with those of agents that it runs as tools.

    Attributes:
        link: reports it.
        id: names it in messages.
        session_id: its session.
        state: the committed state; None before it is known.
        edits: what the user changed.
        is_joined: whether it had begun before it was watched.
        is_over: whether it has ended.
    """

    def __init__(self, link: Link, number: Any, session_id: str, state: dict[str, Any] | None = None) -> None:
        self.link = link
        self.id = number
        self.session_id = session_id
        self.state = state
        self.edits = Edits()
        self.is_joined = False
        self.is_over = False
        self._calls = Calls()
        self._sent: dict[tuple[str, str, str | None], int] = {}  # the place of each request to a model that no event answers yet
        self._recorded_response: Any = None  # the last one
        self._recorded: dict[str, Any] = {}  # results of calls that were answered from a recording
        self._failing: list[tuple[str, str]] = []

    def is_inner(self, context: Any) -> bool:
        """Return whether a context is that of an agent that runs as a tool. It has a session of its own, which nothing stores."""
        return bool(context.session.id != self.session_id)

    def take_request(self, event: Any) -> int | None:
        """Return the place of the request that a model's event answers."""
        if event.get_function_responses():
            return None
        call: tuple[str, str, str | None] = (event.invocation_id, event.author, event.branch)
        place: int | None = self._sent.pop(call, None)
        return place

    def source(self) -> dict[str, Any] | None:
        """Return what is running in the present context: an agent, or a tool that it called."""
        writing = _writing.get()
        return writing[1] if writing is not None and writing[0] is self else self._calls.running()

    def end(self) -> dict[str, Any]:
        """Forget what the run has held; return the user's changes that no event has recorded."""
        self.is_over = True
        rest, self.edits = self.edits.rest(), Edits()
        for key in self._failing:
            _failures.pop(key, None)
        self._sent.clear()
        self._recorded.clear()
        self._calls.clear()
        return rest

    async def at(self, place: str, context: Any, raw: str | None = None, /, may_wait: bool = True, **fields: Any) -> dict[str, Any]:
        """Report a place of the run; wait there if the policy says so.

        Args:
            place: one of PLACES; `inner event`, which waits as `event` does; or `after tool`, which never waits.
            context: the invocation context.
            raw: the event that is there, as JSON text.
            may_wait: whether the run may wait here at all.
            **fields: what there is to say.

        Returns:
            The answer, with the place's number.
        """
        link = self.link
        link.look()
        number, policy = link.next_number(), link.policy
        waits = may_wait and not fields.get("is_partial") and link.waits_at("event" if place == "inner event" else place)
        message: dict[str, Any] = {
            "run": self.id,
            "at": number,
            "place": place,
            "waits": waits,
            "agent": getattr(context.agent, "name", None),
            "branch": context.branch,
            "invocation_id": context.invocation_id,
            "session_id": context.session.id,
            "call": fields.pop("call", None) or self._calls.number(context),
            **fields,
        }
        if not waits:
            link.send("at", raw, **message)
            await link.room()
            return {"at": number}
        state, committed = dict(context.session.state), self.state
        message["uncommitted"] = {
            key: value
            for key, value in state.items()
            if committed is not None and (key not in committed or not _is_same(committed[key], value))
        }
        if policy.state:
            message["state"] = state
        answer = link.expect(number)
        link.send("at", raw, **message)
        began = time.perf_counter()
        given = await link.wait(number, answer)
        _tell_held(context, time.perf_counter() - began)
        return {**given, "at": number}

    async def at_agent_start(self, context: Any, may_wait: bool = True) -> None:
        """Report that an agent starts."""
        if self.state is None:
            self.state = dict(context.session.state)
        number, callers = self._calls.entered(context)
        outer = self._outer() if self.is_inner(context) else None
        await self.at("agent start", context, call=number, callers=callers, outer=outer, may_wait=may_wait)

    async def at_agent_end(self, context: Any) -> None:
        """Report that an agent ends."""
        await self.at("agent end", context)
        self._calls.left(context)

    async def at_model(self, callback: Any, request: Any, error: Exception | None = None) -> Any:
        """Report a model call or its failure; return an answer that replaces the model's."""
        context = callback._invocation_context
        await self._know(context)
        place = "before model" if error is None else "error"
        fields: dict[str, Any] = {"kind": "model"}
        if self.link.policy.requests or place in self.link.policy.hold:
            fields["request"] = request_json(request)
        if error is not None:
            fields["error"], fields["source"] = self.link.error_fields(error), self.source()
        key = (context.invocation_id, getattr(context.agent, "name", ""), context.branch)
        answer = await self.at(place, context, **fields)
        if error is None:
            self._sent[key] = answer["at"]
        if answer.get("edits"):
            self.edits.add_to_model(key, answer["edits"])
        if answer.get("response") is not None:
            response = made("models.llm_response.LlmResponse", answer["response"])
            if self._take_effects(answer, callback, key):
                self._recorded_response = response
            return response
        if answer.get("request") is not None and error is None:
            change_request(request, answer["request"])
        return None

    def at_model_answer(self, response: Any) -> Any:
        """Return a recorded answer, which the agent's own callbacks have changed already."""
        return response if response is self._recorded_response else None

    async def at_tool(self, callback: Any, tool: Any, args: dict[str, Any], error: Exception | None = None) -> Any:
        """Report a tool call or its failure; return a result that replaces the tool's."""
        context, call_id = callback._invocation_context, callback.function_call_id
        await self._know(context)
        place = "before tool" if error is None else "error"
        fields: dict[str, Any] = {"kind": "tool", "tool": tool.name, "call_id": call_id, "args": args, **_source(tool)}
        if error is not None:
            fields["error"], fields["source"] = self.link.error_fields(error), self.source()
            self._tool_ends(call_id)
        elif place in self.link.policy.hold:
            fields["declaration"] = _declaration(tool)
        answer = await self.at(place, context, **fields)
        if error is None:
            self._tool_starts(context, tool.name, call_id)
        if answer.get("edits") and call_id:
            self.edits.add_to_tool(call_id, answer["edits"])
        if answer.get("args") is not None and error is None:
            args.clear()
            args.update(answer["args"])
        if answer.get("raise") is not None:
            if error is not None:
                return None  # the tool's own exception is raised
            self._failing.append(_fail(tool, context.invocation_id, call_id, answer["raise"]))
        if self._take_effects(answer, callback, call_id):
            self._recorded[call_id] = answer["result"]
        return answer.get("result")

    async def at_tool_result(self, callback: Any, tool: Any) -> Any:
        """Report that a tool has returned; return a recorded result, which the agent's own callbacks have changed already."""
        call_id = callback.function_call_id
        self._tool_ends(call_id)
        await self.at("after tool", callback._invocation_context, kind="tool", tool=tool.name, call_id=call_id)
        return self._recorded.pop(call_id, None)

    async def at_event(self, context: Any, event: Any) -> None:
        """Report a piece of a streamed answer, or an event of an agent that runs as a tool, which nothing stores."""
        if self.is_inner(context):
            await self.at("inner event", context, event_json(event), outer=self._outer(), is_partial=bool(event.partial))
        elif event.partial:
            await self.link.piece(self, context, event)

    async def _know(self, context: Any) -> None:
        """Report the start of an agent that started before the run was watched."""
        if self.is_joined and self._calls.number(context) is None and getattr(context.agent, "name", None):
            await self.at_agent_start(context, may_wait=False)

    def _outer(self) -> list[Any] | None:
        """Return the agent's call and the id of the function call that the present context is inside of."""
        outer = _tool_call.get()
        return list(outer[1:]) if outer is not None and outer[0] is self else None

    def _tool_starts(self, context: Any, tool: str, call_id: str | None) -> None:
        """Record that a tool runs in the present context; it writes for the tool around it, if any."""
        _tool_call.set((self, self._calls.number(context), call_id))
        writing = _writing.get()
        if writing is None or writing[0] is not self:
            agent = str(getattr(context.agent, "name", ""))
            _writing.set((self, {"agent": agent, "branch": context.branch, "call_id": call_id, "tool": tool}))

    def _tool_ends(self, call_id: str | None) -> None:
        _tool_call.set(None)
        writing = _writing.get()
        if writing is not None and writing[1]["call_id"] == call_id:
            _writing.set(None)

    def _take_effects(self, answer: dict[str, Any], callback: Any, key: Any) -> bool:
        """Apply the side effects of a recorded answer to the callback's context; return whether the answer is a recorded one."""
        if answer.get("marks") is None:
            return False
        self.edits.add_marks(key, answer["marks"])
        effects = made("events.event_actions.EventActions", answer.get("actions") or {})
        actions = getattr(callback, "actions", None) or callback._event_actions
        for name in effects.model_fields_set:
            value = getattr(effects, name)
            if name == "state_delta":
                callback.state.update(value)
            elif isinstance(value, dict):
                getattr(actions, name).update(value)
            else:
                setattr(actions, name, value)
        return True


def _tell_held(context: Any, seconds: float) -> None:
    """Tell the other plugins how long an agent was held, which is no work of its model or tool."""
    for plugin in getattr(getattr(context, "plugin_manager", None), "plugins", None) or ():
        held = getattr(plugin, "held", None)
        if callable(held):
            with contextlib.suppress(Exception):  # a plugin of the app's own
                held(context, seconds)


class RaisedByHandError(RuntimeError):
    """The user made a tool call fail."""


def _fail(tool: Any, invocation_id: str, call_id: str, message: str) -> tuple[str, str]:
    """Make a tool's next call with this id raise, so that the agent's own error handling sees it; return its place in `_failures`."""
    _failures[invocation_id, call_id] = message
    if "run_async" not in vars(tool):
        original = tool.run_async

        async def run_async(*, args: dict[str, Any], tool_context: Any) -> Any:
            failure = _failures.pop((tool_context._invocation_context.invocation_id, tool_context.function_call_id), None)
            if not _failures:
                vars(tool).pop("run_async", None)
            if failure is not None:
                raise RaisedByHandError(failure)
            return await original(args=args, tool_context=tool_context)

        vars(tool)["run_async"] = run_async
    return invocation_id, call_id


def _declaration(tool: Any) -> Any:
    with contextlib.suppress(Exception):  # the tool's own code
        declaration = tool._get_declaration()
        if declaration is not None:
            return declaration.model_dump(mode="json", exclude_none=True)
    return None


def _source(tool: Any) -> dict[str, Any]:
    """Return the file and line of a tool's code."""
    code = getattr(inspect.unwrap(tool.func), "__code__", None) if callable(getattr(tool, "func", None)) else None
    return {"file": code.co_filename, "line": code.co_firstlineno} if code is not None else {}


def _is_same(one: Any, other: Any) -> bool:
    try:
        return bool(one is other or one == other)
    except BaseException:  # the object's own code
        return False


class Hooks:
    """The hooks that report the places of a run, if it is watched."""

    @property
    def link(self) -> Link | None:
        """The way to what watches the runs; None if they are not watched."""
        raise NotImplementedError

    async def _report(self, context: Any, method: Any, *args: Any) -> Any:
        link = self.link
        if link is None:
            return None
        try:
            return await method(await link.run_of(context), *args)
        except Exception as error:
            link.failed(error)
            return None

    async def before_agent_callback(self, *, callback_context: Any, **_: Any) -> None:
        """See the base class; also in the methods below."""
        if self.link is not None:
            await self._report(callback_context._invocation_context, Run.at_agent_start, callback_context._invocation_context)

    async def after_agent_callback(self, *, callback_context: Any, **_: Any) -> None:  # noqa: D102
        if self.link is not None:
            await self._report(callback_context._invocation_context, Run.at_agent_end, callback_context._invocation_context)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any, **_: Any) -> Any:  # noqa: D102
        if self.link is not None:
            return await self._report(callback_context._invocation_context, Run.at_model, callback_context, llm_request)
        return None

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any, **_: Any) -> Any:  # noqa: D102
        link = self.link
        return (await link.run_of(callback_context._invocation_context)).at_model_answer(llm_response) if link is not None else None

    async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception, **_: Any) -> Any:  # noqa: D102
        if self.link is not None:
            return await self._report(callback_context._invocation_context, Run.at_model, callback_context, llm_request, error)
        return None

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, **_: Any) -> Any:  # noqa: D102
        if self.link is not None:
            return await self._report(tool_context._invocation_context, Run.at_tool, tool_context, tool, tool_args)
        return None

    async def after_tool_callback(self, *, tool: Any, tool_context: Any, **_: Any) -> Any:  # noqa: D102
        if self.link is not None:
            return await self._report(tool_context._invocation_context, Run.at_tool_result, tool_context, tool)
        return None

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any, **_: Any) -> Any:  # noqa: D102
        if self.link is not None and isinstance(error, Exception):  # not a cancellation
            return await self._report(tool_context._invocation_context, Run.at_tool, tool_context, tool, tool_args, error)
        return None

    async def on_event_callback(self, *, invocation_context: Any, event: Any, **_: Any) -> None:  # noqa: D102
        if self.link is not None:
            await self._report(invocation_context, Run.at_event, invocation_context, event)


def hooks_of(link: Link, package: str) -> Any:
    """Return a plugin that reports the runs of this process.

    Args:
        link: the way to what watches them.
        package: `google.adk`, or the embedded `runtime`.
    """
    base = use(package)
    kind = type("InspectorDebugger", (Hooks, base), {"link": link})
    return kind(name="inspector_debugger")


# An attached window


class Window(Link):
    """The connection to the attached window. Its two threads read and write.

    Attributes:
        by: the window's process id.
        closed: set when another window may attach.

    Args:
        connection: the socket; its first line was read.
        by: see above.
        rest: what was read after the first line.
    """

    def __init__(self, connection: socket.socket, by: Any, rest: bytes) -> None:
        super().__init__()
        self.by = by
        self.closed = threading.Event()
        self._socket = connection
        self._socket.settimeout(1.0)
        self._rest = bytearray(rest)
        self._heard = time.monotonic()
        self._changed = threading.Condition(self._lock)
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._full: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[Any]]] = []
        self._services: list[tuple[Any, Any]] = []  # each session service, and the wrapper that reports its commits
        self._sessions: set[tuple[str, str, str]] = set()
        self._runs: OrderedDict[tuple[str, str], Run] = OrderedDict()  # by invocation and session; several keys may have one run
        threading.Thread(target=self._write, name="inspector-writer", daemon=True).start()

    # sending

    def send(self, kind: str, raw: str | None = None, /, **fields: Any) -> None:
        """Queue a message; see the base class."""
        data = line_of(kind, raw, fields)
        with self._changed:
            if not self.is_closed:
                self._queue.append(data)
                self._queued_bytes += len(data)
                self._changed.notify_all()

    async def room(self) -> None:
        """Wait while too much is queued, until the window has read on or the connection is lost."""
        if len(self._queue) <= MAX_QUEUED and self._queued_bytes <= MAX_QUEUED_BYTES:
            return
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        with self._changed:
            if self.is_closed:
                return
            self._full.append((loop, future))
        await future

    def say_goodbye(self, why: str) -> None:
        """Tell the window why the connection ends: at the process's `exit`, or as the Runner is `closed`; and close it."""
        self.send("bye", why=why)
        with self._changed:
            self._changed.wait_for(lambda: self.is_closed or not self._queue, LEAVING_SECONDS)
        self.close()

    def _write(self) -> None:
        while not self.is_closed:
            with self._changed:
                if not self._queue:
                    self._changed.wait(1.0)
                taken = list(itertools.islice(self._queue, 256))
            if time.monotonic() - self._heard > SILENCE_SECONDS:
                self.close()
                return
            if not taken:
                continue
            if not self._send_all(memoryview(b"".join(taken))):
                self.close()
                return
            with self._changed:
                if self.is_closed:
                    return
                for data in taken:
                    self._queue.popleft()
                    self._queued_bytes -= len(data)
                has_room = len(self._queue) < MAX_QUEUED // 2 and self._queued_bytes < MAX_QUEUED_BYTES // 2
                waiting, self._full = (self._full, []) if has_room else ([], self._full)
                self._changed.notify_all()
            for loop, future in waiting:
                _resolve(loop, future, {})

    def _send_all(self, data: memoryview) -> bool:
        """Send data; return whether the window took all of it in time."""
        while data and not self.is_closed:
            try:
                data = data[self._socket.send(data) :]
            except TimeoutError:
                if time.monotonic() - self._heard > SILENCE_SECONDS:
                    return False
            except OSError:
                return False
        return not data

    # receiving

    def read(self) -> None:
        """Read commands until the window detaches or its connection ends."""
        try:
            while not self.is_closed:
                line = self._line()
                if line is None or not self._take(line):
                    return
        finally:
            self.close()

    def _line(self) -> bytes | None:
        searched = 0
        while (end := self._rest.find(b"\n", searched)) < 0:
            searched = len(self._rest)
            try:
                data = self._socket.recv(65_536)
            except TimeoutError:
                if self.is_closed:
                    return None
                continue
            except OSError:
                return None
            self._heard = time.monotonic()
            if not data or len(self._rest) > MAX_COMMAND:
                return None
            self._rest += data
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line

    def _take(self, line: bytes) -> bool:
        """Do what a command says; return whether the window stays attached."""
        try:
            command = json.loads(line)
            kind = command.get("type")
            if kind == "detach":
                return False
            if kind == "policy":
                self.policy = Policy.of(command)
            elif kind == "go":
                self.answer(command)
            elif kind != "ping":
                raise ValueError(f"There is no command {kind!r}.")
        except Exception as error:
            self.send("error", error={"type": "ProtocolError", "message": text_of(error)})
        return True

    def close(self) -> None:
        """End the connection: all that wait continue, and the services are as before."""
        global _window
        with self._changed:
            if self.is_closed:
                return
            self.is_closed = True
            waiting = [*self._waiting.values(), *self._full]
            self._waiting, self._full = {}, []
            self._queue.clear()
            self._changed.notify_all()
        with _lock:
            if _window is self:
                _window = None
        self.closed.set()
        self._restore_services()
        for loop, future in waiting:
            _resolve(loop, future, {})
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self._socket.close()

    def abandon(self) -> None:
        """Drop the connection in a forked child, without a word to the window of its parent."""
        self.is_closed = True
        self._restore_services()
        with contextlib.suppress(OSError):
            self._socket.close()

    def _restore_services(self) -> None:
        for service, wrapper in self._services:
            if vars(service).get("append_event") is wrapper:
                del service.append_event

    # what hooks report

    def failed(self, error: Exception) -> None:
        """Log a failure of this file, which must not reach the app, and tell the window."""
        logger.debug("The inspector plugin failed", exc_info=True)
        with contextlib.suppress(Exception):
            self.send("error", error=error_fields(error))

    async def run_of(self, context: Any, begins: bool = False) -> Run:
        """Return the run that a context belongs to; see the base class.

        A run that is new waits until the window says so: it has set its policy then, and a breakpoint that it had before counts.

        Args:
            context: the invocation context.
            begins: whether nothing of the run can have been missed.
        """
        key = (context.invocation_id, context.session.id)
        run = self._runs.get(key)
        if run is not None:
            return run
        outer = _tool_call.get()
        with self._changed:
            is_known = outer is not None and outer[0].link is self and not outer[0].is_over
            run = outer[0] if outer is not None and is_known else Run(self, key[0], key[1], dict(context.session.state))
            self._runs[key] = run
            while len(self._runs) > MAX_CALLS:
                self._runs.popitem(last=False)
        if run.is_inner(context):
            return run
        run.is_joined = not begins
        self._see_session(context.session, context.session_service)
        with self._changed:
            if all(one is not context.session_service for one, _ in self._services):
                wrapper = observe(self, context.session_service)
                if wrapper is not None:
                    self._services.append((context.session_service, wrapper))
        with contextlib.suppress(TypeError):  # a context without weak references
            weakref.finalize(context, self.ended, key, is_finished=False).atexit = False
        root = getattr(context.agent, "root_agent", None) or context.agent
        number, waits = self.next_number(), self.waits_at("start")
        answer = self.expect(number) if waits else None
        self.send("started", run=run.id, at=number, waits=waits, **_session_key(context.session), root=describe_agent(root))
        if answer is not None:
            await self.wait(number, answer)
        return run

    def run_of_event(self, session: Any, event: Any) -> Run | None:
        """Return the run that commits an event, and send its session if it is a new one."""
        self._see_session(session)
        return self._runs.get((event.invocation_id, session.id))

    def ended(self, key: tuple[str, str], error: BaseException | None = None, *, is_finished: bool = True) -> None:
        """Report the end of a run, once.

        Args:
            key: its invocation and session.
            error: the exception that ended it, if known.
            is_finished: whether it has run to its end; not if its caller has dropped it, or it failed and the version does not say how.
        """
        run = self._runs.pop(key, None)
        if run is None or (run.id, run.session_id) != key or self.is_closed:
            return
        for other in [name for name, one in list(self._runs.items()) if one is run]:
            self._runs.pop(other, None)
        run.end()
        failure = error_fields(error) if error is not None else None
        self.send("ended", run=run.id, error=failure, finished=is_finished and error is None)

    async def committed(self, run: Run | None, session: Any, event: Any, fields: dict[str, Any]) -> None:
        """Report that the app has stored an event; wait there if the policy says so."""
        if run is not None:
            run.state = dict(session.state)
        number, text = self.next_number(), event_json(event)
        waits = run is not None and event.author != "user" and self.waits_at("event")
        answer = self.expect(number) if waits else None
        self.send("committed", text, at=number, waits=waits, **fields)
        if answer is not None:
            await self.wait(number, answer)
        else:
            await self.room()

    async def piece(self, run: Run, context: Any, event: Any) -> None:
        """Report a piece of a streamed answer."""
        self.send("partial", event_json(event), run=run.id, **_session_key(context.session))
        await self.room()

    def _see_session(self, session: Any, service: Any = None) -> None:
        """Send what a session holds, the first time."""
        key = (session.app_name, session.user_id, session.id)
        with self._changed:
            if key in self._sessions:
                return
            self._sessions.add(key)
        events = list(session.events)
        store = {"service": type(service).__name__, "file": _file_of(service)} if service is not None else None
        raw = "[" + ", ".join(event_json(event) for event in events[-MAX_SNAPSHOT:]) + "]"
        state = {key: value for key, value in dict(session.state).items() if not text_of(key).startswith("temp:")}
        self.send("session", raw, **_session_key(session), state=state, older=max(len(events) - MAX_SNAPSHOT, 0), store=store)


def line_of(kind: str, raw: str | None, fields: dict[str, Any]) -> bytes:
    """Return a message as a line: a JSON object, and after a tab the JSON of what it is about, if it has one."""
    text = to_json({"type": kind, **fields})
    return (f"{text}\n" if raw is None else f"{text}\t{raw}\n").encode("utf-8", "backslashreplace")


def _file_of(service: Any) -> str | None:
    """Return the SQLite file of a session service; None if it has none."""
    with contextlib.suppress(Exception):  # other services, other attributes
        path = getattr(service, "_db_path", None)
        if path is None:
            engine = getattr(service, "db_engine", None) or service._database._engine
            path = engine.url.database if engine.dialect.name == "sqlite" else None
        if path and Path(path).is_file():
            return str(Path(path).absolute())
    return None


# The plugin


class AppHooks(Hooks):
    """What `InspectorPlugin` adds to the hooks: it listens for windows, and tells them of runs.

    Args:
        name: unique among the app's plugins.
    """

    def __init__(self, name: str = "agent_inspector") -> None:
        super().__init__(name=name)  # type: ignore[call-arg]  # of BasePlugin
        caller = sys._getframe(1).f_code.co_filename
        self._place = str(Path(caller).absolute()) if Path(caller).is_file() else str(Path.cwd())
        self.app_names: list[str] = []
        _plugins.add(self)
        _listen(self._place)

    @property
    def link(self) -> Window | None:
        """The attached window."""
        return _window

    async def close(self) -> None:
        """Stop listening when the Runner of the last plugin is closed."""
        _plugins.discard(self)
        if not _plugins:
            _stop_listening("closed")

    async def _begin(self, context: Any) -> None:
        try:
            _plugins.add(self)
            if _listener is None:
                _listen(self._place)
            if not self.app_names and _tool_call.get() is None:
                self.app_names = app_names(self) or [context.session.app_name]
            if _window is not None:
                await _window.run_of(context, begins=True)
        except Exception as error:
            if _window is not None:
                _window.failed(error)

    async def on_user_message_callback(self, *, invocation_context: Any, **_: Any) -> None:  # noqa: D102
        await self._begin(invocation_context)

    async def before_run_callback(self, *, invocation_context: Any, **_: Any) -> None:  # noqa: D102
        await self._begin(invocation_context)

    async def after_run_callback(self, *, invocation_context: Any, **_: Any) -> None:  # noqa: D102
        if _window is not None:
            _window.ended((invocation_context.invocation_id, invocation_context.session.id))

    async def on_run_error_callback(self, *, invocation_context: Any, error: BaseException, **_: Any) -> None:  # noqa: D102
        if _window is not None:
            _window.ended((invocation_context.invocation_id, invocation_context.session.id), error)


def app_names(plugin: Any) -> list[str]:
    """Return the names of the Apps and Runners that have a plugin; it is not told of them before their first run."""
    places = (("apps.app", "App", "name"), ("runners", "Runner", "app_name"))
    kinds = [(getattr(sys.modules.get(f"{_package}.{module}"), kind, None), attribute) for module, kind, attribute in places]
    found: dict[str, list[str]] = {"name": [], "app_name": []}
    known: dict[int, str | None] = {}  # by the id() of a type, as there are a hundred times more objects
    for one in gc.get_objects():
        kind = type(one)
        if id(kind) not in known:
            known[id(kind)] = next(
                (name for base in type.__dict__["__mro__"].__get__(kind) for wanted, name in kinds if base is wanted), None
            )
        attribute = known[id(kind)]
        if attribute is not None:
            with contextlib.suppress(Exception):  # one that is being made
                plugins = one.plugins if attribute == "name" else one.plugin_manager.plugins
                name = text_of(getattr(one, attribute), most=MAX_REPR)
                if any(other is plugin for other in plugins) and name not in found[attribute]:
                    found[attribute].append(name)
    return found["name"] or found["app_name"]


def __getattr__(name: str) -> Any:
    """Make the class when it is first asked for: the inspector loads this file where google-adk is not imported yet."""
    if name != "InspectorPlugin":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    namespace = {"__doc__": "Lets a window of Agent Inspector attach to the app.", "__module__": __name__}
    made_class = type(name, (AppHooks, _base_plugin()), namespace)
    globals()[name] = made_class
    return made_class
