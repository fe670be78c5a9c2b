"""Lets an Agent Inspector window on this machine watch, hold and step your running app.

Copy this file next to your agent and add the plugin to your Runner or App:

    from inspector_plugin import InspectorPlugin

    runner = Runner(..., plugins=[InspectorPlugin()])
    app = App(name="my_app", root_agent=root_agent, plugins=[InspectorPlugin()])

Then choose *Attach…* in the window, or call `agent-inspector attach`. It works with google-adk 1.25 and later, and with Agent
Inspector's embedded runtime. Apart from these it needs only Python 3.10 and its standard library.

The plugin listens on the loopback interface only, and accepts only programs that can read a file of yours with mode 0600, which names the
port and a random token. Without a window, a hook returns at once. No failure of the connection reaches the app: if a window ends or does
not answer for 10 seconds, the connection is closed and the app continues. docs/engine-protocol.md describes the messages.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import hmac
import importlib
import importlib.metadata
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
from pathlib import Path
from typing import Any

PROTOCOL = 1  # of attaching; raised when a message changes its meaning

FOLDER = "agent-inspector"  # below the user's runtime folder; one file for each running app

SILENCE_SECONDS = 10.0  # the window sends something every 2 s; after this long without, the connection is closed
HANDSHAKE_SECONDS = 5.0  # for a program that has connected to send its first line
LEAVING_SECONDS = 0.5  # for a window that is about to leave, when another one attaches
MAX_HANDSHAKE = 4_096  # bytes of the first line
MAX_COMMAND = 256 * 1024 * 1024  # bytes of one line of the window
MAX_HANDSHAKES = 8  # at once; further connections are closed
MAX_QUEUED = 2_000  # messages, above which the app waits for the window to read
MAX_QUEUED_BYTES = 16 * 1024 * 1024  # bytes, above which it waits, too
MAX_SNAPSHOT = 2_000  # newest events of a session that are sent when it is first seen
MAX_CALLS = 1_000  # active calls of agents that are known; a run that failed leaves some behind
MAX_JSON_DEPTH = 100
MAX_ITEMS = 5_000_000  # of all containers of a value together: one that contains another several times is written as often
MAX_BITS = 10_000  # of an integer; Python refuses to write one of more than 4,300 digits
MAX_REPR = 1_000  # characters of an object that JSON cannot express
MAX_TEXT = 100_000  # characters of a text of the app's own object

PLACES = ("event", "agent start", "agent end", "before model", "before tool", "error")

EDITED = "inspector_edited"  # key in an event's custom_metadata, which records the user's changes

NOT_JSON = "(not editable: a Python object)"

ENGINE_VARIABLE = "AGENT_INSPECTOR_ENGINE"  # set in processes that the inspector itself runs agents in

logger = logging.getLogger("inspector_plugin")


def _packages() -> tuple[str, Any]:
    """Return the package that the app uses, `google.adk` or the embedded `runtime`, and its BasePlugin."""
    names = ["google.adk", "runtime"]
    if "google.adk" not in sys.modules and "runtime.plugins.base_plugin" in sys.modules:
        names.reverse()
    for name in names:
        with contextlib.suppress(ImportError):
            return name, importlib.import_module(f"{name}.plugins.base_plugin").BasePlugin
    raise ImportError("The inspector plugin needs google-adk, or Agent Inspector's embedded runtime.")


_ROOT, BasePlugin = _packages()


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


def to_json(value: Any) -> str:
    """Return JSON text. What JSON cannot express is replaced: NaN by null, other objects by their `repr`, what is too much by `…`.

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


def error_fields(error: BaseException) -> dict[str, Any]:
    """Return an exception as JSON: type, message, traceback, and the place of its last frame outside of installed packages."""
    file, line = None, None
    for frame in traceback.extract_tb(error.__traceback__):
        if "site-packages" not in frame.filename and frame.filename != __file__ and not frame.filename.startswith((sys.base_prefix, "<")):
            file, line = frame.filename, frame.lineno
    message = text_of(error)
    try:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except BaseException:  # the exception's own code
        text = "".join((*traceback.format_tb(error.__traceback__), f"{type_name(error)}: {message}\n"))
    return {"type": type_name(error), "message": message, "traceback": text[-MAX_TEXT:], "file": file, "line": line}


def describe_agent(agent: Any, depth: int = 0) -> dict[str, Any]:
    """Return an agent or node and those below it as JSON."""
    model = getattr(agent, "model", None)
    graph_nodes = getattr(getattr(agent, "graph", None), "nodes", None) or ()
    graph_nodes = graph_nodes.values() if isinstance(graph_nodes, dict) else graph_nodes
    below = list(getattr(agent, "sub_agents", None) or ())
    below = below or [node for node in graph_nodes if getattr(node, "name", None) not in (None, "", "__START__")]
    return {
        "name": text_of(getattr(agent, "name", "") or type_name(agent)),
        "type": type(agent).__name__,
        "description": text_of(getattr(agent, "description", "") or ""),
        "model": model if isinstance(model, str) else text_of(getattr(model, "model", "") or type_name(model)) if model else None,
        "tools": [_tool_name(tool) for tool in getattr(agent, "tools", None) or ()],
        "sub_agents": [describe_agent(one, depth + 1) for one in below] if depth < 20 else [],
    }


def _tool_name(tool: Any) -> str:
    return text_of(getattr(tool, "name", None) or getattr(tool, "__name__", None) or type_name(tool))


def engine_name() -> str:
    """Return google-adk with its version, or the embedded runtime."""
    return f"google-adk {_adk_version()}" if _ROOT == "google.adk" else "embedded runtime"


def _adk_version() -> str | None:
    try:
        return importlib.metadata.version("google-adk") if _ROOT == "google.adk" else None
    except importlib.metadata.PackageNotFoundError:
        return None


# The listener


class Listener:
    """Listens for windows, and names this app in the user's runtime folder.

    Attributes:
        pid: the process that it serves; after a fork, the child makes its own.
        apps: the names of the apps that have run.
    """

    def __init__(self, place: str) -> None:
        self.pid = os.getpid()
        self.apps: list[str] = []
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
        return {
            "protocol": PROTOCOL,
            "pid": self.pid,
            "apps": list(self.apps),
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
                json.dump({**self.facts(), "port": port, "token": self._token}, opened)
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
        link = None
        try:
            connection.settimeout(HANDSHAKE_SECONDS)
            link = self._link(connection)
        except Exception:  # a lost connection, or a line that is none of this protocol
            link = None
        finally:
            self._handshakes.release()
            if link is None:
                with contextlib.suppress(OSError):
                    connection.close()
        if link is not None:
            link.read()

    def _link(self, connection: socket.socket) -> Link | None:
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
            attached = _link.by if _link is not None else None
            _send_line(connection, {"type": "running", **self.facts(), "attached_by": attached})
            return None
        return _attach(connection, command.get("by"), rest, self)

    def _refuse(self, connection: socket.socket, reason: str) -> None:
        _send_line(connection, {"type": "refused", "reason": reason})


def _send_line(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(to_json(message).encode() + b"\n")


_lock = threading.RLock()  # guards the two below
_listener: Listener | None = None
_link: Link | None = None  # the attached window
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


def _stop_listening() -> None:
    global _listener
    with _lock:
        listener, _listener = _listener, None
    if listener is not None:
        listener.close()
    if _link is not None:
        _link.close()


def _forget_parent() -> None:
    """Forget the connections of the process that this one was forked from; the next run listens again."""
    global _listener, _link, _lock
    _lock = threading.RLock()
    if _link is not None:
        _link.abandon()
    _listener = _link = None


atexit.register(_stop_listening)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)


def _attach(connection: socket.socket, by: Any, rest: bytes, listener: Listener) -> Link | None:
    """Make this connection the attached window's; refuse it if there is one."""
    global _link
    before = _link
    if before is not None:
        before.closed.wait(LEAVING_SECONDS)
    with _lock:
        if _link is not None:
            text = f"The window of process {_link.by} is attached to this app. Stop watching there, or close that window."
            _send_line(connection, {"type": "refused", "reason": text})
            return None
        _link = Link(connection, by, rest)
        _link.send("hello", **listener.facts(), adk=_adk_version(), silence=SILENCE_SECONDS)
        return _link


# The connection


class Policy:
    """At which places runs wait for an answer. Replaced as a whole, by the thread that reads commands."""

    def __init__(self, hold: Any = PLACES, state: bool = False, requests: bool = True) -> None:
        self.hold = frozenset(hold)
        self.state = state
        self.requests = requests


class Link:
    """The connection to the attached window.

    Its two threads read and write; hooks, on any thread and event loop, only queue messages and wait for futures of their own loops.

    Attributes:
        by: the window's process id.
        policy: where runs wait.
        closed: set when another window may attach.

    Args:
        connection: the socket; its first line was read.
        by: see above.
        rest: what was read after the first line.
    """

    def __init__(self, connection: socket.socket, by: Any, rest: bytes) -> None:
        self.by = by
        self.policy = Policy()
        self.is_closed = False
        self.closed = threading.Event()
        self._socket = connection
        self._socket.settimeout(1.0)
        self._rest = bytearray(rest)
        self._heard = time.monotonic()
        self._changed = threading.Condition()
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._full: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[Any]]] = []
        self._waiting: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[dict[str, Any]]]] = {}
        self._numbers = itertools.count(1)
        self._services: list[tuple[Any, Any]] = []  # each session service, and the wrapper that reports its commits
        self._sessions: set[tuple[str, str, str]] = set()
        self.runs: OrderedDict[tuple[str, str], Run] = OrderedDict()  # by invocation and session; several keys may have one run
        self.calls = Calls()
        threading.Thread(target=self._write, name="inspector-writer", daemon=True).start()

    # sending

    def send(self, kind: str, _raw: tuple[str, str] | None = None, /, **fields: Any) -> None:
        """Queue a message.

        Args:
            kind: its `type`.
            _raw: the name of one more field, and its value as JSON text.
            **fields: its other fields.
        """
        text = to_json({"type": kind, **fields})
        if _raw is not None:
            text = f"{text[:-1]}, {json.dumps(_raw[0])}: {_raw[1]}}}"
        data = text.encode("utf-8", "backslashreplace") + b"\n"
        with self._changed:
            if not self.is_closed:
                self._queue.append(data)
                self._queued_bytes += len(data)
                self._changed.notify()

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

    def expect(self, number: int) -> asyncio.Future[dict[str, Any]]:
        """Return the answer to a place, which is about to be reported. It is empty if the connection is lost."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[dict[str, Any]] = loop.create_future()
        with self._changed:
            if self.is_closed:
                future.set_result({})
            else:
                self._waiting[number] = (loop, future)
        return future

    async def wait(self, number: int, future: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
        """Wait for an expected answer; tell the window if that is cancelled."""
        try:
            return await future
        except asyncio.CancelledError:
            self.send("left", at=number)
            raise
        finally:
            self._waiting.pop(number, None)

    def number(self) -> int:
        """Return the number of the next place."""
        return next(self._numbers)

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
                self.policy = Policy(command.get("hold", PLACES), bool(command.get("state")), bool(command.get("requests", True)))
            elif kind == "go":
                waiting = self._waiting.pop(command["at"], None)
                if waiting is not None:
                    _resolve(*waiting, command)
            elif kind != "ping":
                raise ValueError(f"There is no command {kind!r}.")
        except Exception as error:
            self.send("error", error={"type": "ProtocolError", "message": text_of(error)})
        return True

    def close(self) -> None:
        """End the connection: all that wait continue, and the services are as before."""
        global _link
        with self._changed:
            if self.is_closed:
                return
            self.is_closed = True
            waiting = [*self._waiting.values(), *self._full]
            self._waiting, self._full = {}, []
            self._queue.clear()
            self._changed.notify_all()
        with _lock:
            if _link is self:
                _link = None
        self.closed.set()
        for service, wrapper in self._services:
            if vars(service).get("append_event") is wrapper:
                del service.append_event
        for loop, future in waiting:
            _resolve(loop, future, {})
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self._socket.close()

    def abandon(self) -> None:
        """Drop the connection in a forked child, without a word to the window of its parent."""
        self.is_closed = True
        for service, wrapper in self._services:
            if vars(service).get("append_event") is wrapper:
                del service.append_event
        with contextlib.suppress(OSError):
            self._socket.close()

    # what hooks report

    def run_of(self, context: Any) -> Run:
        """Return the run that a context belongs to; that of the outermost invocation, for an agent that runs as a tool."""
        key = (context.invocation_id, context.session.id)
        run = self.runs.get(key)
        if run is not None:
            return run
        outer = _tool_call.get()
        with self._changed:
            run = outer[0] if outer is not None and outer[0].link is self else Run(self, context)
            self.runs[key] = run
            while len(self.runs) > MAX_CALLS:
                self.runs.popitem(last=False)
        if not run.is_inner(context):
            self.see_session(context.session, context.session_service)
            self._observe(context.session_service)
            root = getattr(context.agent, "root_agent", None) or context.agent
            self.send("started", run=run.invocation_id, **_session_key(context.session), root=describe_agent(root))
            with contextlib.suppress(TypeError):  # a context without weak references
                weakref.finalize(context, self.ended, key, is_finished=False).atexit = False
        return run

    def ended(self, key: tuple[str, str], error: BaseException | None = None, *, is_finished: bool = True) -> None:
        """Report the end of a run, once.

        Args:
            key: its invocation and session.
            error: the exception that ended it, if known.
            is_finished: whether it has run to its end; not if its caller has dropped it, or it failed and the version does not say how.
        """
        run = self.runs.pop(key, None)
        if run is None or (run.invocation_id, run.session_id) != key or self.is_closed:
            return
        for other in [name for name, one in list(self.runs.items()) if one is run]:
            self.runs.pop(other, None)
        failure = error_fields(error) if error is not None else None
        self.send("ended", run=run.invocation_id, error=failure, finished=is_finished and error is None)

    def see_session(self, session: Any, service: Any = None) -> None:
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
        self.send("session", ("events", raw), **_session_key(session), state=state, older=max(len(events) - MAX_SNAPSHOT, 0), store=store)

    def _observe(self, service: Any) -> None:
        """Report each event that a session service commits, until the window detaches."""
        with self._changed:
            if any(one is service for one, _ in self._services):
                return
            append = service.append_event

            async def append_event(session: Any, event: Any, *args: Any, **options: Any) -> Any:
                if event.partial or self.is_closed:
                    return await append(session, event, *args, **options)
                return await _guarded_commit(self, append, session, event, args, options)

            try:
                service.append_event = append_event
            except AttributeError:
                return  # a service with slots: its commits are not seen
            self._services.append((service, append_event))


def _resolve(loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], value: Any) -> None:
    def resolve() -> None:
        if not future.done():
            future.set_result(value)

    with contextlib.suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(resolve)


def _session_key(session: Any) -> dict[str, str]:
    return {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}


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


async def _guarded_commit(link: Link, append: Any, session: Any, event: Any, args: Any, options: Any) -> Any:
    """Commit an event, report it, and wait there if the policy says so. A failure to report it does not reach the app."""
    run, before, temp = None, None, {}
    try:
        run = link.runs.get((event.invocation_id, session.id))
        if run is not None:
            run.mark(event)
            before = run.state if link.policy.state else None
        delta = event.actions.state_delta if event.actions is not None else {}
        temp = {key: value for key, value in delta.items() if isinstance(key, str) and key.startswith("temp:")}
        link.see_session(session)
    except Exception:
        _tell_problem()
    stored = await append(session, event, *args, **options)
    try:
        await _report_commit(link, run, session, stored if stored is not None else event, before, temp)
    except Exception:
        _tell_problem()
    return stored


async def _report_commit(link: Link, run: Run | None, session: Any, event: Any, before: Any, temp: dict[str, Any]) -> None:
    request = None
    if run is not None:
        run.state = dict(session.state)
        if not event.get_function_responses():
            request = run.sent.pop((event.author, event.branch), None)
    fields: dict[str, Any] = {
        "run": run.invocation_id if run is not None else None,
        **_session_key(session),
        "temp": temp,
        "request": request,
    }
    if before is not None:
        fields["state_before"] = before
    waits = run is not None and event.author != "user" and "event" in link.policy.hold
    number, text = link.number(), event_json(event)
    answer = link.expect(number) if waits else None
    link.send("committed", ("event", text), at=number, waits=waits, **fields)
    if answer is not None:
        await link.wait(number, answer)
    else:
        await link.room()


def _tell_problem() -> None:
    """Log a failure of this file, which must not reach the app."""
    logger.debug("The inspector plugin failed", exc_info=True)


# Runs


_callers: contextvars.ContextVar[tuple[str, tuple[int, ...]]] = contextvars.ContextVar("inspector_callers", default=("", ()))
_tool_call: contextvars.ContextVar[tuple[Any, int | None, str | None] | None] = contextvars.ContextVar("inspector_tool_call", default=None)


class Calls:
    """The active calls of agents, numbered."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._known: OrderedDict[int, tuple[Any, int]] = OrderedDict()  # by id() of the context, which each entry keeps alive

    def entered(self, context: Any) -> tuple[int, tuple[int, ...]]:
        """Number an agent's call; return the number and those of its callers, the outermost first."""
        invocation, callers = _callers.get()
        callers = callers if invocation == context.invocation_id else ()
        number = next(self._numbers)
        self._known[id(context)] = (context, number)
        if len(self._known) > MAX_CALLS:
            self._known.popitem(last=False)
        _callers.set((context.invocation_id, (*callers, number)))
        return number, callers

    def left(self, context: Any) -> None:
        """Record that a call ends."""
        number, (invocation, callers) = self.number(context), _callers.get()
        if number in callers:
            _callers.set((invocation, callers[: callers.index(number)]))
        self._known.pop(id(context), None)

    def number(self, context: Any) -> int | None:
        """Return the number of the call that has this context, or the same session, agent and branch."""
        found = self._known.get(id(context))
        if found is not None:
            return found[1]
        name = getattr(context.agent, "name", None)
        for other, number in reversed(list(self._known.values())):
            if (
                other.invocation_id == context.invocation_id
                and other.session.id == context.session.id
                and getattr(other.agent, "name", None) == name
                and other.branch == context.branch
            ):
                return number
        return None


class Run:
    """One invocation of the app, with those of agents that it runs as tools.

    Attributes:
        link: the window.
        invocation_id: the outermost invocation.
        state: the committed state; None before the first commit that was seen.
        sent: the number of the place at which a request was sent that no event answers yet, by author and branch.
    """

    def __init__(self, link: Link, context: Any) -> None:
        self.link = link
        self.invocation_id: str = context.invocation_id
        self.session_id: str = context.session.id
        self.state: dict[str, Any] | None = dict(context.session.state)
        self.sent: dict[tuple[str, str | None], int] = {}
        self._model_edits: dict[tuple[str, str | None], dict[str, Any]] = {}
        self._call_edits: dict[str, dict[str, Any]] = {}

    def is_inner(self, context: Any) -> bool:
        """Return whether a context is that of an agent that runs as a tool. It has a session of its own, which nothing stores."""
        return bool(context.session.id != self.session_id)

    def mark(self, event: Any) -> None:
        """Record the user's changes in the event that they led to."""
        edits: dict[str, Any] = {}
        responses = [response.id for response in event.get_function_responses()]
        calls = {number: self._call_edits.pop(number) for number in responses if number in self._call_edits}
        if calls:
            edits["calls"] = calls
        if not responses:
            edited = self._model_edits.pop((event.author, event.branch), None)
            if edited is not None:
                edits["model"] = edited
        if edits:
            event.custom_metadata = {**(event.custom_metadata or {}), EDITED: edits}

    async def at(self, place: str, context: Any, _raw: tuple[str, str] | None = None, /, **fields: Any) -> dict[str, Any]:
        """Report a place of the run; wait there if the policy says so.

        Args:
            place: one of PLACES; `inner event`, which waits as `event` does; or `after tool`, which never waits.
            context: the invocation context.
            _raw: the name of one more field, and its value as JSON text.
            **fields: what there is to say.

        Returns:
            The answer; just the place's number if it did not wait.
        """
        link, number = self.link, self.link.number()
        policy = link.policy
        waits = (place if place != "inner event" else "event") in policy.hold and not fields.get("is_partial")
        waits = waits and fields.pop("may_wait", True)
        message: dict[str, Any] = {
            "run": self.invocation_id,
            "at": number,
            "place": place,
            "waits": waits,
            "agent": getattr(context.agent, "name", None),
            "branch": context.branch,
            "invocation_id": context.invocation_id,
            "session_id": context.session.id,
            "call": fields.pop("call", None) or link.calls.number(context),
            **fields,
        }
        if waits:
            state, committed = dict(context.session.state), self.state or {}
            message["uncommitted"] = {
                key: value for key, value in state.items() if key not in committed or not _is_same(committed[key], value)
            }
            if policy.state:
                message["state"] = state
        future = link.expect(number) if waits else None
        link.send("at", _raw, **message)
        if future is None:
            await link.room()
            return {"at": number}
        return {**await link.wait(number, future), "at": number}

    async def at_agent(self, place: str, context: Any, may_wait: bool = True) -> None:
        """Report that an agent starts or ends."""
        if place == "agent end":
            await self.at(place, context)
            self.link.calls.left(context)
            return
        number, callers = self.link.calls.entered(context)
        outer = _tool_call.get() if self.is_inner(context) else None
        await self.at(place, context, call=number, callers=callers, outer=list(outer[1:]) if outer else None, may_wait=may_wait)

    async def know(self, context: Any) -> None:
        """Report the start of an agent that started before the window was attached."""
        if self.link.calls.number(context) is None and getattr(context.agent, "name", None):
            await self.at_agent("agent start", context, may_wait=False)

    async def at_model(self, context: Any, request: Any, error: Exception | None = None) -> Any:
        """Report a model call or its failure; return an answer that replaces the model's."""
        await self.know(context)
        place = "before model" if error is None else "error"
        fields: dict[str, Any] = {"kind": "model"}
        if self.link.policy.requests or place in self.link.policy.hold:
            fields["request"] = request_json(request)
        if error is not None:
            fields["error"] = error_fields(error)
        key = (getattr(context.agent, "name", ""), context.branch)
        answer = await self.at(place, context, **fields)
        if error is None:
            self.sent[key] = answer["at"]
        if answer.get("edits"):
            self._model_edits[key] = answer["edits"]
        if answer.get("response") is not None:
            response_class = importlib.import_module(f"{_ROOT}.models.llm_response").LlmResponse
            return response_class.model_validate_json(json.dumps(answer["response"]))
        if answer.get("request") is not None and error is None:
            change_request(request, answer["request"])
        return None

    async def at_tool(self, context: Any, tool: Any, args: dict[str, Any], error: Exception | None = None) -> Any:
        """Report a tool call or its failure; return a result that replaces the tool's."""
        ctx, call_id = context._invocation_context, context.function_call_id
        await self.know(ctx)
        place = "before tool" if error is None else "error"
        fields: dict[str, Any] = {"kind": "tool", "tool": tool.name, "call_id": call_id, "args": args, **_source(tool)}
        if error is not None:
            _tool_call.set(None)
            fields["error"] = error_fields(error)
        elif place in self.link.policy.hold:
            fields["declaration"] = _declaration(tool)
        answer = await self.at(place, ctx, **fields)
        if error is None:
            _tool_call.set((self, self.link.calls.number(ctx), call_id))
        if answer.get("edits") and call_id:
            self._call_edits[call_id] = {**self._call_edits.get(call_id, {}), **answer["edits"]}
        if answer.get("args") is not None and error is None:
            args.clear()
            args.update(answer["args"])
        if answer.get("raise") is not None:
            if error is not None:
                return None  # the tool's own exception is raised
            _fail(tool, call_id, answer["raise"])
        return answer.get("result")

    async def at_tool_result(self, context: Any, tool: Any) -> None:
        """Report that a tool has returned."""
        _tool_call.set(None)
        await self.at("after tool", context._invocation_context, kind="tool", tool=tool.name, call_id=context.function_call_id)

    async def at_event(self, context: Any, event: Any) -> None:
        """Report a piece of a streamed answer, or an event of an agent that runs as a tool, which the app does not store."""
        if not self.is_inner(context):
            if event.partial:
                self.link.send("partial", ("event", event_json(event)), run=self.invocation_id, **_session_key(context.session))
                await self.link.room()
            return
        outer = _tool_call.get()
        outer_fields = list(outer[1:]) if outer is not None else None
        await self.at("inner event", context, ("event", event_json(event)), outer=outer_fields, is_partial=bool(event.partial))


class RaisedByHandError(RuntimeError):
    """The user made a tool call fail."""


_failures: dict[str, str] = {}  # function call id → the text of the exception


def _fail(tool: Any, call_id: str, message: str) -> None:
    """Make a tool's next call with this id raise, so that the agent's own error handling sees it."""
    _failures[call_id] = message
    if "run_async" in vars(tool):
        return
    original = tool.run_async

    async def run_async(*, args: dict[str, Any], tool_context: Any) -> Any:
        failure = _failures.pop(tool_context.function_call_id, None)
        if not _failures:
            vars(tool).pop("run_async", None)
        if failure is not None:
            raise RaisedByHandError(failure)
        return await original(args=args, tool_context=tool_context)

    vars(tool)["run_async"] = run_async


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


# The plugin


class InspectorPlugin(BasePlugin):  # type: ignore[misc, valid-type]
    """Lets a window of Agent Inspector attach to the app.

    Args:
        name: unique among the app's plugins.
    """

    def __init__(self, name: str = "agent_inspector") -> None:
        super().__init__(name=name)
        caller = sys._getframe(1).f_code.co_filename
        self._place = str(Path(caller).absolute()) if Path(caller).is_file() else str(Path.cwd())
        _plugins.add(self)
        _listen(self._place)

    async def close(self) -> None:
        """Stop listening when the Runner of the last plugin is closed."""
        _plugins.discard(self)
        if not _plugins:
            _stop_listening()

    def _name_app(self, context: Any) -> None:
        _plugins.add(self)
        if _listener is None:
            _listen(self._place)
        listener = _listener
        if listener is not None and context.session.app_name not in listener.apps and _tool_call.get() is None:
            listener.apps.append(context.session.app_name)

    async def on_user_message_callback(self, *, invocation_context: Any, **_: Any) -> None:
        """See the base class; also in the methods below."""
        try:
            self._name_app(invocation_context)
            if _link is not None:
                _link.run_of(invocation_context)
        except Exception:
            _tell_problem()

    async def before_run_callback(self, *, invocation_context: Any, **_: Any) -> None:  # noqa: D102
        try:
            self._name_app(invocation_context)
            if _link is not None:
                _link.run_of(invocation_context)
        except Exception:
            _tell_problem()

    async def after_run_callback(self, *, invocation_context: Any, **_: Any) -> None:  # noqa: D102
        if _link is not None:
            _link.ended((invocation_context.invocation_id, invocation_context.session.id))

    async def on_run_error_callback(self, *, invocation_context: Any, error: BaseException, **_: Any) -> None:  # noqa: D102
        if _link is not None:
            _link.ended((invocation_context.invocation_id, invocation_context.session.id), error)

    async def before_agent_callback(self, *, agent: Any, callback_context: Any, **_: Any) -> None:  # noqa: D102
        if _link is not None:
            await _reported(_link, callback_context._invocation_context, Run.at_agent, "agent start", callback_context._invocation_context)

    async def after_agent_callback(self, *, agent: Any, callback_context: Any, **_: Any) -> None:  # noqa: D102
        if _link is not None:
            await _reported(_link, callback_context._invocation_context, Run.at_agent, "agent end", callback_context._invocation_context)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any, **_: Any) -> Any:  # noqa: D102
        if _link is not None:
            context = callback_context._invocation_context
            return await _reported(_link, context, Run.at_model, context, llm_request)
        return None

    async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception, **_: Any) -> Any:  # noqa: D102
        if _link is not None:
            context = callback_context._invocation_context
            return await _reported(_link, context, Run.at_model, context, llm_request, error)
        return None

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, **_: Any) -> Any:  # noqa: D102
        if _link is not None:
            return await _reported(_link, tool_context._invocation_context, Run.at_tool, tool_context, tool, tool_args)
        return None

    async def after_tool_callback(self, *, tool: Any, tool_context: Any, **_: Any) -> None:  # noqa: D102
        if _link is not None:
            await _reported(_link, tool_context._invocation_context, Run.at_tool_result, tool_context, tool)

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any, **_: Any) -> Any:  # noqa: D102
        if _link is not None and isinstance(error, Exception):  # not a cancellation
            return await _reported(_link, tool_context._invocation_context, Run.at_tool, tool_context, tool, tool_args, error)
        return None

    async def on_event_callback(self, *, invocation_context: Any, event: Any, **_: Any) -> None:  # noqa: D102
        if _link is not None:
            await _reported(_link, invocation_context, Run.at_event, invocation_context, event)


async def _reported(link: Link, context: Any, method: Any, *args: Any) -> Any:
    """Report to the window; a failure to do so does not reach the app."""
    try:
        return await method(link.run_of(context), *args)
    except Exception as error:
        _tell_problem()
        with contextlib.suppress(Exception):
            link.send("error", error=error_fields(error))
        return None
