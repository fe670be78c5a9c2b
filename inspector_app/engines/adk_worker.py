"""The child's side of the google-adk engine: loads one agent and runs it on the google-adk of its own environment.

The inspector starts this file with the agent's Python (3.10 or newer) and passes three descriptors: commands, messages, lifeline. Nothing
else of the inspector is installed or imported there, so this file uses the standard library only. docs/engine-protocol.md describes the
messages.

Two processes run it. The first one, the guard, waits for the second one, the worker, and for the end of the lifeline, which the inspector
holds open. When either ends, the guard kills all processes that the agent has left behind.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import contextvars
import ctypes
import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import itertools
import json
import logging
import os
import re
import select
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from pathlib import Path
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType, TracebackType
from typing import Any

PROTOCOL = 2  # raised when a message changes its meaning

ADK = "google.adk"
_root = ADK  # the package that has google-adk's names
_our_folders: tuple[str, ...] = ()  # code of the embedded runtime, where that runs the agent

PLACES = ("event", "agent start", "agent end", "before model", "before tool", "error")

AGENT_FILES = ("agent.py", "root_agent.yaml")
FACTORIES = (
    "app",
    "root_agent",
    *(f"{verb}_{what}" for what in ("app", "root_agent", "agent") for verb in ("create", "make", "build", "get")),
)
"""Functions that make an app or agent, where a module defines neither `app` nor `root_agent`."""

MAX_FILES = 200  # of an agent's code that are searched for the places of its agents
MAX_TEXT = 200_000  # bytes of a file that are searched for an agent

GATHER_SECONDS = 0.002  # writing wakes the inspector, which costs more than all else about an event

BLOCKED_SECONDS = 0.02  # without a turn of the event loop, until a thread reads the commands
LONGEST_TURN = 0.005  # seconds between turns of the event loop, for an agent that awaits nothing

RETURN_SECONDS = 0.05  # between two looks whether a function of a stopped run has returned

MAX_JSON_DEPTH = 100  # of values that are no events, such as arguments

EDITED = "inspector_edited"  # key in an event's custom_metadata; see runtime/events/marks.py

MARK, MARK_END = "\x1f", "\x1e"  # around what is running, in the agent's output

NOT_JSON = "(not editable: a Python object)"

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class WorkerError(Exception):
    """A command cannot be done; the message is a sentence for the user.

    Attributes:
        details: further fields of the error message.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details


class RaisedByHandError(RuntimeError):
    """The user made a tool call fail."""


# Processes


def start_guarded(lifeline: int, *descriptors: int) -> None:
    """Fork. Return in the worker; the guard waits and never returns.

    Args:
        lifeline: a descriptor that is at its end as soon as the inspector no longer exists.
        *descriptors: the worker's own; the guard closes them.
    """
    guard = os.getpid()
    if sys.platform == "linux":
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)  # orphans of the worker become children of the guard
    worker = os.fork()
    if worker == 0:
        if sys.platform == "linux":
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != guard:
                os._exit(1)
        os.close(lifeline)
        return
    try:
        for descriptor in descriptors:
            os.close(descriptor)
        _guard(worker, lifeline)
    finally:
        os._exit(1)


def _guard(worker: int, lifeline: int) -> None:
    wake, signalled = os.pipe()
    os.set_blocking(signalled, False)
    signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    status = None
    while status is None:
        ended, status_now = os.waitpid(worker, os.WNOHANG)
        if ended:
            status = status_now
            break
        readable = select.select([wake, lifeline], [], [])[0]
        if lifeline in readable and not os.read(lifeline, 1):
            _kill(worker)
            status = os.waitpid(worker, 0)[1]
        if wake in readable:
            os.read(wake, 4096)
            _reap(except_for=worker)
    _kill_descendants()
    if os.WIFSIGNALED(status):
        _end_by_signal(os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def _reap(except_for: int) -> None:
    """Collect ended processes that the agent has left behind; a live agent may leave many."""
    for pid in _children(os.getpid()):
        if pid != except_for:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _kill_descendants() -> None:
    """Kill every process below the guard, until none is left. The rest of the process group is killed by the inspector."""
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        remaining = _children(os.getpid())
        if not remaining:
            return
        for pid in remaining:
            _kill(pid)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(remaining[0], 0)


def _children(parent: int) -> list[int]:
    """Return a process's direct children; none where /proc does not exist."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            if int(entry.read_text(errors="replace").rpartition(")")[2].split()[1]) == parent:
                found.append(int(entry.parent.name))
    return found


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _end_by_signal(number: int) -> None:
    """End this process as the worker ended, without a second core file."""
    with contextlib.suppress(Exception):
        resource = importlib.import_module("resource")
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(Exception):  # a Python without ctypes, or a C library without prctl
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


# Messages


class Channel:
    """The descriptor that carries messages: on each line a JSON object, and after a tab the JSON of an event, if the message has one.

    Args:
        messages: descriptor to write to.
    """

    def __init__(self, messages: int) -> None:
        self._messages = messages
        self._lock = threading.Lock()
        self._unsent = b""
        self._written_at = 0.0

    def send(self, kind: str, event: str | None = None, /, **fields: Any) -> None:
        """Write a message, after all earlier ones.

        Args:
            kind: its `type`.
            event: an event, as JSON text.
            **fields: its other fields.
        """
        self._write(self._line(kind, event, fields))

    def send_soon(self, kind: str, event: str | None = None, /, *, with_next: bool = False, **fields: Any) -> None:
        """Write a message at once if none was written for `GATHER_SECONDS`, else together with later ones; see `flush`.

        Args:
            kind, event, fields: see `send`.
            with_next: write it together with the next one in any case.
        """
        line = self._line(kind, event, fields)
        if not with_next and time.monotonic() - self._written_at > GATHER_SECONDS:
            self._write(line)
            return
        with self._lock:
            self._unsent += line

    def flush(self) -> None:
        """Write what is not written yet. To be called `GATHER_SECONDS` after `send_soon`."""
        if self._unsent:
            self._write(b"")

    def _line(self, kind: str, event: str | None, fields: dict[str, Any]) -> bytes:
        text = to_json({"type": kind, **fields})
        return (f"{text}\n" if event is None else f"{text}\t{event}\n").encode("utf-8", "backslashreplace")

    def _write(self, line: bytes) -> None:
        with self._lock, contextlib.suppress(BrokenPipeError):  # the inspector no longer exists: the guard ends this process
            data = memoryview(self._unsent + line)
            self._unsent = b""
            while data:
                data = data[os.write(self._messages, data) :]
            self._written_at = time.monotonic()


class Commands:
    """The commands, one JSON object a line. The event loop reads them; while the agent blocks the loop, a thread does.

    Args:
        descriptor: to read from.
        take: called in the loop with each line.
        take_at_once: called with each line, on the thread that reads it. Returns whether that was all.
        in_between: called by the thread now and then, after commands have arrived, as long as it returns True.
        on_end: called in the loop when no more will come.
    """

    def __init__(self, descriptor: int, take: Any, take_at_once: Any, in_between: Any, on_end: Any) -> None:
        self._descriptor = descriptor
        self._take = take
        self._take_at_once = take_at_once
        self._in_between = in_between
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._rest = b""
        self._lines: deque[bytes] = deque()
        self._is_over = False
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self.look)
        thread = threading.Thread(target=self._watch, name="commands", daemon=True)
        for mark in ("pydev_do_not_trace", "is_pydev_daemon_thread"):  # debugpy lets it run while it holds the others
            setattr(thread, mark, True)
        thread.start()

    def look(self) -> None:
        """Take what has arrived. Called in the loop."""
        self._read()
        while self._lines:
            self._take(self._lines.popleft())
        if self._is_over:
            self._loop.remove_reader(self._descriptor)
            self._on_end()

    def _read(self) -> None:
        with self._lock:
            try:
                data = os.read(self._descriptor, 1024 * 1024)
            except BlockingIOError:
                return
            self._is_over = not data
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                if not self._take_at_once(line):
                    self._lines.append(line)

    def _watch(self) -> None:
        """Read what the loop has not read for a while: a policy or a question for the place counts even if the agent blocks the loop."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        is_busy = False
        while not self._is_over:
            if poll.poll(BLOCKED_SECONDS * 1000 if is_busy else None):
                time.sleep(BLOCKED_SECONDS)
                if poll.poll(0):
                    self._read()
                    with contextlib.suppress(RuntimeError):  # the loop is closed
                        self._loop.call_soon_threadsafe(self.look)
            is_busy = self._in_between()


_ENCODER = json.JSONEncoder(default=lambda value: _plain(value), allow_nan=False)


def to_json(value: Any) -> str:
    """Return JSON text. What JSON cannot express is replaced: NaN by null, other objects by their `repr`."""
    try:
        return _ENCODER.encode(value)
    except (ValueError, TypeError, RecursionError):
        return json.dumps(_storable(value, 0), allow_nan=False)


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json", exclude_none=True)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return _repr(value)


def _storable(value: Any, depth: int) -> Any:
    if depth > MAX_JSON_DEPTH:
        return "…"
    if isinstance(value, dict):
        return {str(key): _storable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_storable(item, depth + 1) for item in value]
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    plain = _plain(value)
    return plain if isinstance(plain, str) else _storable(plain, depth + 1)


def _repr(value: Any) -> str:
    try:
        return repr(value)[:1000]
    except Exception as error:  # the object's own code
        return f"<{type(value).__name__}: its repr failed: {type(error).__name__}>"


def event_json(event: Any) -> str:
    """Return an event as google-adk stores it, without `temp:` keys."""
    delta = event.actions.state_delta if event.actions is not None else {}
    if not any(isinstance(key, str) and key.startswith("temp:") for key in delta):
        with contextlib.suppress(Exception):  # a value that pydantic cannot write
            return str(event.model_dump_json(exclude_none=True))
    try:
        data = event.model_dump(mode="json", exclude_none=True)
    except Exception:
        data = event.model_dump(exclude_none=True)
    kept = data.get("actions", {}).get("state_delta", {})
    for key in [key for key in kept if str(key).startswith("temp:")]:
        del kept[key]
    return to_json(data)


# Loading


class Agent:
    """A loaded agent.

    Attributes:
        root: the App, agent or node that its code defines.
        name: the folder's or module's name.
        folder: the agent's folder; that of the file, for a single file.
        agents_dir: the folder that is on `sys.path`.
    """

    def __init__(self, root: Any, name: str, folder: Path, agents_dir: Path) -> None:
        self.root = root
        self.name = name
        self.folder = folder
        self.agents_dir = agents_dir


_DEFINED = re.compile(rb"^(?:root_agent\b[^=\n]*=|app\b[^=\n]*=\s*(?:\w+\.)?App\()", re.MULTILINE)
_RELATIVE = re.compile(rb"^\s*from\s+\.", re.MULTILINE)
_MENTIONED = re.compile(rb"\b(?:root_agent|app)\b|import \*")


def agents_in(folder: Path) -> list[str]:
    """Return the names of the folders and Python files in a folder that are agents. No code runs."""
    try:
        children = sorted(child for child in folder.iterdir() if not child.name.startswith((".", "__")) and child.name not in AGENT_FILES)
    except OSError:
        return []
    return [child.name for child in children if is_agent_folder(child) or (child.suffix == ".py" and _has_text(child, _DEFINED))]


def is_agent_folder(folder: Path) -> bool:
    """Return whether a folder has an agent's files; a package only if its `__init__.py` mentions the agent."""
    if any((folder / file).is_file() for file in (*AGENT_FILES, "agent/__init__.py")):
        return True
    return _has_text(folder / "__init__.py", _MENTIONED)


def _has_text(file: Path, pattern: re.Pattern[bytes]) -> bool:
    try:
        if not file.is_file():
            return False
        with file.open("rb") as opened:
            return pattern.search(opened.read(MAX_TEXT)) is not None
    except OSError:
        return False


def several_agents(path: str, names: list[str]) -> str:
    """Return the sentence about a path that holds agents and is none."""
    several = "several agents" if len(names) > 1 else "an agent"
    return f"{path} holds {several}: {', '.join(names)}. Name {'one of them' if len(names) > 1 else 'it'}."


def folder_of(path: str) -> Path:
    """Return the folder whose code is the agent's."""
    place = Path(path).absolute()
    return place if place.is_dir() else place.parent


def load_agent(path: str) -> Agent:
    """Load the agent at `path`, in the order in which google-adk's AgentLoader searches.

    Raises:
        WorkerError: there is no agent; with `choices` if the path is a folder of agents.
        Exception: the agent's own code failed.
    """
    place = Path(path).absolute()
    if place.is_file() and place.name in (*AGENT_FILES, "__init__.py"):
        place = place.parent
    module = None
    if place.is_dir():
        agents_dir, name, folder = place.parent, place.name, place
    elif place.is_file() and place.suffix == ".py":
        agents_dir, name, folder = place.parent, place.stem, place.parent
        if (folder / "__init__.py").is_file() or _has_text(place, _RELATIVE):
            agents_dir, module = folder.parent, f"{folder.name}.{name}"
    else:
        raise WorkerError(f"There is no agent at {path}: name a folder with an agent.py, or a Python file.")
    choices = agents_in(place) if place.is_dir() else []
    is_agent = not place.is_dir() or any((place / file).is_file() for file in (*AGENT_FILES, "__init__.py"))
    if is_agent:
        if str(agents_dir) not in sys.path:
            sys.path.insert(0, str(agents_dir))
        load_env_file(folder)
        if _root != ADK:
            importlib.import_module("inspector_app.engines.google_adk_imports").resolve_google_adk(folder)
        importlib.invalidate_caches()
        modules = [module or name, *([f"{name}.agent"] if place.is_dir() else [])]
        root = _first(_from_module, modules) or _from_yaml(folder / "root_agent.yaml", place.is_dir()) or _first(_from_function, modules)
        if root is not None:
            return Agent(root, name, folder, agents_dir)
    if choices:
        raise WorkerError(several_agents(path, choices), path=path, choices=choices)
    raise WorkerError(f"{path} defines neither `root_agent` nor `app`, and has no root_agent.yaml.")


def load_on_own_thread(path: str) -> Agent:
    """Load an agent on the thread that makes its synchronous calls on the embedded runtime, so that its connections belong to it.

    Raises:
        Exception: see `load_agent`.
    """
    threads = importlib.import_module("runtime.support.agent_thread")
    thread = threads.AgentThread(Path(path).stem)
    agent: Agent = thread.call_and_wait(load_agent, path)
    threads.adopt_thread(getattr(agent.root, "root_agent", agent.root), thread)
    return agent


def load_env_file(folder: Path) -> None:
    """Set what the nearest `.env` sets, unless it is set already."""
    if os.environ.get("ADK_DISABLE_LOAD_DOTENV", "").lower() in ("1", "true"):
        return
    file = next((place / ".env" for place in (folder, *folder.parents) if (place / ".env").is_file()), None)
    if file is not None:
        importlib.import_module("dotenv").load_dotenv(file, override=False, verbose=True)


def _first(find: Any, modules: list[str]) -> Any:
    return next((found for name in modules if (found := find(name)) is not None), None)


def _from_module(name: str) -> Any:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (error.name == name or name.startswith(error.name + ".")):
            return None
        raise
    app, root = getattr(module, "app", None), getattr(module, "root_agent", None)
    if app is not None and isinstance(app, _class("google.adk.apps.app", "App")):
        return app
    if root is None or isinstance(root, (ModuleType, FunctionType)):
        return None
    if isinstance(root, _root_kinds()):
        return root
    kind = f"{type(root).__module__}.{type(root).__qualname__}"
    raise WorkerError(f"{getattr(module, '__file__', None) or name} defines a `root_agent` that is no agent, but a {kind}.")


def _from_function(name: str) -> Any:
    """Return what a function of a loaded module makes; see `FACTORIES`."""
    module = sys.modules.get(name)
    for function in factories(module) if module is not None else ():
        made = function()
        if isinstance(made, _root_kinds()):
            return made
    return None


def factories(module: ModuleType) -> list[Any]:
    """Return the functions of a module that make its agent or app: those with a name of FACTORIES that need no arguments.

    Raises:
        WorkerError: one of them is asynchronous.
    """
    found = []
    for name in FACTORIES:
        function = getattr(module, name, None)
        if not isinstance(function, FunctionType):
            continue
        needed = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty and one.kind not in (2, 4)]
        if inspect.iscoroutinefunction(function) and not needed:
            place = f"{function.__code__.co_filename}, line {function.__code__.co_firstlineno}"
            raise WorkerError(f"{place}: {name} is asynchronous, so it cannot make the agent while it is loaded. Make it a plain function.")
        if not needed:
            found.append(function)
    return found


def _root_kinds() -> tuple[type, ...]:
    names = (("google.adk.apps.app", "App"), ("google.adk.agents.base_agent", "BaseAgent"), ("google.adk.workflow", "BaseNode"))
    return tuple(kind for kind in (_class(*name) for name in names) if kind is not None)


def _from_yaml(file: Path, is_folder: bool) -> Any:
    if not is_folder or not file.is_file():
        return None
    try:
        utils = _module("google.adk.agents.config_agent_utils")
    except ModuleNotFoundError:
        raise WorkerError(f"{_capital(engine_name())} loads no YAML agents, so {file} cannot be loaded.") from None
    return utils.from_config(str(file))


def _class(module: str, name: str) -> Any:
    """Return a class of google-adk; None if this version has none of that name."""
    try:
        return getattr(_module(module), name, None)
    except ModuleNotFoundError as error:
        if _is_engines(error.name):
            return None
        raise


def _module(name: str) -> ModuleType:
    """Import a module of google-adk's, or the embedded runtime's in its place."""
    return importlib.import_module(_root + name[len(ADK) :])


def _is_engines(name: str | None) -> bool:
    return (name or "").startswith(_root)


def engine_name() -> str:
    """Return google-adk with its version, for sentences; or the embedded runtime."""
    return f"google-adk {adk_version()}" if _root == ADK else "the embedded runtime"


def use_embedded_runtime() -> None:
    """Run agents on the embedded runtime, which is installed with the inspector."""
    global _root
    _root = "runtime"
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    hide_frames_of_ours()


def hide_frames_of_ours() -> None:
    """Leave the frames of the embedded runtime and the inspector out of tracebacks."""
    global _our_folders
    top = Path(__file__).resolve().parents[2]
    _our_folders = (f"{top / 'runtime'}{os.sep}", f"{top / 'inspector_app'}{os.sep}")


def _capital(text: str) -> str:
    return text if text.startswith("google") else text[0].upper() + text[1:]


def adk_version() -> str | None:
    """Return the version of the installed google-adk; None if there is none."""
    try:
        return importlib.metadata.version("google-adk")
    except importlib.metadata.PackageNotFoundError:
        return None


def describe_agent(agent: Any, depth: int = 0) -> dict[str, Any]:
    """Return an agent or node and those below it as JSON."""
    model = getattr(agent, "model", None)
    described: dict[str, Any] = {
        "name": str(getattr(agent, "name", "") or type(agent).__name__),
        "type": type(agent).__name__,
        "description": str(getattr(agent, "description", "") or ""),
        "model": model if isinstance(model, str) else str(getattr(model, "model", "") or type(model).__name__) if model else None,
        "tools": [_tool_name(tool) for tool in getattr(agent, "tools", None) or ()],
        "sub_agents": [],
        "edges": [],
        "tool_agents": [],
    }
    if depth < 20:
        below = list(getattr(agent, "sub_agents", None) or ()) or _graph_nodes(agent)
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
            found.append({"from": begin, "to": end, "route": ", ".join(map(str, routes))})
    return found


def _graph_nodes(agent: Any) -> list[Any]:
    graph = getattr(agent, "graph", None)
    nodes = getattr(graph, "nodes", None) or ()
    nodes = nodes.values() if isinstance(nodes, dict) else nodes
    return [node for node in nodes if getattr(node, "name", None) not in (None, "", "__START__")]


def _tool_name(tool: Any) -> str:
    return str(getattr(tool, "name", None) or getattr(tool, "__name__", None) or type(tool).__name__)


# Code


CALLBACKS = (
    "before_agent_callback",
    "after_agent_callback",
    "before_model_callback",
    "after_model_callback",
    "on_model_error_callback",
    "before_tool_callback",
    "after_tool_callback",
    "on_tool_error_callback",
    "instruction",
    "global_instruction",
)


def code_places(root: Any, folder: Path) -> list[dict[str, Any]]:
    """Return where the code of agents, tools and callbacks is: `kind`, `agent`, `name`, `file`, `line`.

    An agent's place is the call that names it, found in the source; of an agent whose name is computed, its class in the agent's folder.

    Args:
        root: the root agent or node.
        folder: the agent's folder.
    """
    named = _named_calls(folder)
    places: list[dict[str, Any]] = []
    remaining, seen = [root], set()
    while remaining:
        agent = remaining.pop(0)
        if id(agent) in seen:
            continue
        seen.add(id(agent))
        name = str(getattr(agent, "name", "") or type(agent).__name__)
        place = _place_of_code(getattr(agent, "_func", None)) or named.get(name) or _place_of_class(type(agent), folder)
        places += _entry("agent", name, name, place)
        for tool in getattr(agent, "tools", None) or ():
            inner = getattr(tool, "agent", None)
            if inner is not None:
                remaining.append(inner)
                inner_name = str(getattr(inner, "name", ""))
                places += _entry("tool", name, _tool_name(tool), named.get(inner_name) or _place_of_class(type(inner), folder))
            else:
                code = _place_of_code(getattr(tool, "func", None)) or _place_of_code(tool)
                places += _entry("tool", name, _tool_name(tool), code or _place_of_class(type(tool), folder))
        for hook in CALLBACKS:
            found = getattr(agent, hook, None)
            for function in found if isinstance(found, (list, tuple)) else [found]:
                places += _entry("callback", name, hook, _place_of_code(function))
        remaining += list(getattr(agent, "sub_agents", None) or ()) + _graph_nodes(agent)
    return places


def _entry(kind: str, agent: str, name: str, place: tuple[str, int] | None) -> list[dict[str, Any]]:
    return [{"kind": kind, "agent": agent, "name": name, "file": place[0], "line": place[1]}] if place is not None else []


def _place_of_code(function: Any) -> tuple[str, int] | None:
    for _ in range(20):
        if not isinstance(function, functools.partial):
            break
        function = function.func
    if not isinstance(function, (FunctionType, MethodType)):
        return None
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if isinstance(code, CodeType) else None


def _place_of_class(kind: type, folder: Path) -> tuple[str, int] | None:
    """Return where a class of the agent's own code begins."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if not isinstance(file, str) or not is_agents(file, folder):
        return None
    with contextlib.suppress(OSError, TypeError, SyntaxError):
        return file, inspect.getsourcelines(kind)[1]
    return None


def loaded_files(folder: Path) -> list[str]:
    """Return the files of the agent's own code that are loaded, and its YAML files."""
    modules = {file for module in list(sys.modules.values()) if isinstance(file := getattr(module, "__file__", None), str)}
    return sorted({*(file for file in modules if is_agents(file, folder)), *map(str, folder.glob("*.yaml"))})


def _named_calls(folder: Path) -> dict[str, tuple[str, int]]:
    """Return the places of the calls in the agent's loaded files whose argument `name` is a constant, by name; and of YAML agents."""
    found: dict[str, tuple[str, int]] = {}
    for file in [one for one in loaded_files(folder) if one.endswith(".py")][:MAX_FILES]:
        with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError):
            for node in ast.walk(ast.parse(Path(file).read_bytes())):
                if not isinstance(node, ast.Call):
                    continue
                for keyword in node.keywords:
                    if keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
                        found.setdefault(keyword.value.value, (file, node.lineno))
    for yaml in sorted(folder.glob("*.yaml"))[:MAX_FILES]:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            for number, line in enumerate(yaml.read_text("utf-8").splitlines(), 1):
                if line.startswith("name:"):
                    found.setdefault(line[5:].strip().strip("'\""), (str(yaml), number))
    return found


def error_fields(error: BaseException, folder: Path | None) -> dict[str, Any]:
    """Return an exception as JSON: type, message, traceback from the agent's first frame on, and the place in the agent's code."""
    file, line = place_of(error, folder)
    message = str(error)
    if isinstance(error, SystemExit):
        message = f"The agent's code called sys.exit({'' if error.code is None else repr(error.code)})."
    fields = {"type": type(error).__name__, "message": message, "traceback": own_traceback(error, folder), "file": file, "line": line}
    if file is not None and folder is not None and Path(file).is_relative_to(folder):
        fields["within"] = str(Path(file).relative_to(folder))
    if isinstance(error, WorkerError):
        fields = {**fields, "type": "WorkerError", "traceback": None, **error.details}
    return fields


def place_of(error: BaseException, folder: Path | None) -> tuple[str | None, int | None]:
    """Return the file and line of the agent's code where an exception was raised, or where it called what raised it."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_agents(frame.filename, folder)]
    return (frames[-1].filename, frames[-1].lineno) if frames else (None, None)


def own_traceback(error: BaseException, folder: Path | None) -> str:
    """Format an exception's traceback from the agent's first frame on, without frames of the inspector; also those of its causes."""
    start: TracebackType | None = error.__traceback__
    while start is not None and not is_agents(start.tb_frame.f_code.co_filename, folder):
        start = start.tb_next
    described = traceback.TracebackException(type(error), error, start)
    remaining = [described]
    seen: set[int] = set()
    while remaining:
        one = remaining.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        one.stack[:] = [frame for frame in one.stack if is_agents(frame.filename, folder) or not _is_ours(frame.filename)]
        remaining += [other for other in (one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ())) if other is not None]
    return "".join(described.format())[-100_000:]


def is_agents(filename: str, folder: Path | None) -> bool:
    """Return whether a file is the agent's own code; an environment below its folder is not."""
    path = Path(filename)
    return folder is not None and path.is_relative_to(folder) and "site-packages" not in path.relative_to(folder).parts


def _is_ours(filename: str) -> bool:
    return filename == __file__ or filename.startswith(("<frozen ", *_our_folders))


def _of_command(kind: str, error: BaseException, folder: Path | None) -> dict[str, Any]:
    """Return the error of a command as JSON; a field that is missing is named."""
    place = traceback.extract_tb(error.__traceback__)[-1:]
    if isinstance(error, KeyError) and place and place[0].filename == __file__:
        return error_fields(WorkerError(f"The command {kind!r} needs {error}."), None)
    return error_fields(error, folder)


def start_debugpy(port: int, wait: bool) -> None:
    """Let a debugger attach to this process.

    Args:
        port: where debugpy listens, on this machine only.
        wait: return only when a debugger has attached.

    Raises:
        WorkerError: debugpy is not installed, or cannot listen there.
    """
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # a warning about the interpreter's own frozen modules
    try:
        debugpy = importlib.import_module("debugpy")
    except ImportError:
        raise WorkerError(f"debugpy is not installed in {sys.prefix}. Install it: {sys.executable} -m pip install debugpy") from None
    debugpy.configure(subProcess=False)
    try:
        debugpy.listen(("127.0.0.1", port))
    except (RuntimeError, OSError) as error:
        raise WorkerError(f"debugpy cannot listen on port {port}: {error}") from None
    if wait:
        debugpy.wait_for_client()


# Services


def make_session_service(wanted: dict[str, Any], agent: Agent) -> Any:
    """Return google-adk's own session service.

    Args:
        wanted: `kind`: `memory`, `database` with `url`, `sqlite` with `path`, or `adk`: as `adk web` chooses for this folder.
        agent: the agent.
    """
    kind = wanted.get("kind")
    if kind == "memory":
        return _required("google.adk.sessions.in_memory_session_service", "InMemorySessionService")()
    if kind == "sqlite":
        return _required("google.adk.sessions.sqlite_session_service", "SqliteSessionService")(wanted["path"])
    if kind == "database":
        return _required("google.adk.sessions.database_session_service", "DatabaseSessionService")(wanted["url"])
    if kind == "adk":
        return _from_factory("create_session_service_from_options", agent)
    raise WorkerError(f"There is no session service of kind {kind!r}.")


def _required(module: str, name: str) -> Any:
    try:
        found = getattr(_module(module), name, None)
    except ImportError as error:
        missing = error.name or str(error)
        if _is_engines(missing):
            raise WorkerError(f"{_capital(engine_name())} has no {name}.") from None
        raise WorkerError(f"{name} needs {missing}, which is not installed in {sys.prefix}: pip install {missing}.") from None
    if found is None:
        raise WorkerError(f"{_capital(engine_name())} has no {name}.")
    return found


def make_other_services(agent: Agent, app_name: str) -> dict[str, Any]:
    """Return the artifact, memory and credential services that `adk web` would choose for the agent's folder."""
    with contextlib.suppress(ImportError):
        _module("google.adk.cli.service_registry").load_services_module(str(agent.agents_dir))
    services = {
        "artifact_service": _from_factory("create_artifact_service_from_options", agent, app_name),
        "memory_service": _from_factory("create_memory_service_from_options", agent, app_name),
    }
    credentials = _class("google.adk.auth.credential_service.in_memory_credential_service", "InMemoryCredentialService")
    if credentials is not None:
        services["credential_service"] = credentials()
    return services


_IN_MEMORY = {
    "create_session_service_from_options": ("google.adk.sessions.in_memory_session_service", "InMemorySessionService"),
    "create_artifact_service_from_options": ("google.adk.artifacts.in_memory_artifact_service", "InMemoryArtifactService"),
    "create_memory_service_from_options": ("google.adk.memory.in_memory_memory_service", "InMemoryMemoryService"),
}


def _from_factory(function: str, agent: Agent, app_name: str = "") -> Any:
    try:
        make = getattr(_module("google.adk.cli.utils.service_factory"), function)
    except (ImportError, AttributeError):  # an older version, whose adk web keeps them in memory
        return _required(*_IN_MEMORY[function])()
    names = {app_name: agent.name} if app_name and app_name != agent.name else None
    options = {"base_dir": agent.agents_dir, "app_name_to_dir": names, "use_local_storage": True}
    known = inspect.signature(make).parameters
    return make(**{name: value for name, value in options.items() if name in known})


# Requests to models


def request_json(request: Any) -> dict[str, Any]:
    """Return a request as JSON; objects that are not JSON are named instead."""
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


# Output


class MarkedStream:
    """A text stream that writes a mark where the source of what follows changes: `MARK`, the source as JSON, `MARK_END`.

    Args:
        stream: the stream behind it.
        source: returns what is running; None if that is not known.
    """

    def __init__(self, stream: Any, source: Any) -> None:
        self._stream = stream
        self._source = source
        self._last: Any = None
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        """Write a text, after a mark if its source is another one."""
        source = self._source()
        with self._lock:
            if source != self._last:
                self._last = source
                self._stream.write(f"{MARK}{json.dumps(source) if source is not None else ''}{MARK_END}")
            return int(self._stream.write(text))

    def writelines(self, lines: Any) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


# The run


class Policy:
    """At which places the run waits for an answer. Replaced as a whole, by the thread that reads commands.

    Attributes:
        hold: names of PLACES.
        state: whether waiting places report the whole state.
        requests: whether model calls report their request even if they do not wait.
    """

    def __init__(self, hold: Any = PLACES, state: bool = False, requests: bool = True) -> None:
        self.hold = frozenset(hold)
        self.state = state
        self.requests = requests


class Calls:
    """The active calls of agents, numbered, for a run."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._agents: dict[int, tuple[str, str | None]] = {}  # each call's agent and branch
        self._known: dict[int, tuple[Any, int]] = {}  # by id() of the context, which each entry keeps alive
        self._callers: contextvars.ContextVar[tuple[int, ...]] = contextvars.ContextVar("callers", default=())
        self.tool_call: contextvars.ContextVar[tuple[int | None, str | None] | None] = contextvars.ContextVar("tool_call", default=None)
        self.writing_call: contextvars.ContextVar[dict[str, Any] | None] = contextvars.ContextVar("writing_call", default=None)

    def entered(self, context: Any) -> tuple[int, tuple[int, ...]]:
        """Number an agent's call; return the number and those of its callers, the outermost first."""
        callers = self._callers.get()
        number = next(self._numbers)
        self._known[id(context)] = (context, number)
        self._agents[number] = (str(getattr(context.agent, "name", "")), context.branch)
        self._callers.set((*callers, number))
        return number, callers

    def left(self, context: Any) -> int | None:
        """Return the number of a call that ends."""
        number = self.number(context)
        callers = self._callers.get()
        if number in callers:
            self._callers.set(callers[: callers.index(number)])
        self._known.pop(id(context), None)
        return number

    def number(self, context: Any) -> int | None:
        """Return the number of the call that has this context."""
        found = self._known.get(id(context))
        if found is not None:
            return found[1]
        same = [number for other, number in self._known.values() if _is_same_call(other, context)]
        return same[-1] if same else None

    def clear(self) -> None:
        """Drop all calls."""
        self._known.clear()
        self._agents.clear()

    def source(self) -> dict[str, Any] | None:
        """Return what is running in the present context: an agent, or a tool that it called."""
        callers, call = self._callers.get(), self.writing_call.get()
        if call is not None or not callers or callers[-1] not in self._agents:
            return call
        agent, branch = self._agents[callers[-1]]
        return {"agent": agent, "branch": branch}

    def tool_starts(self, context: Any, tool: str, call_id: str | None) -> None:
        """Record that a tool runs in the present context; it writes for the tool around it, if any."""
        number = self.number(context)
        self.tool_call.set((number, call_id))
        if self.writing_call.get() is None:
            agent = str(getattr(context.agent, "name", ""))
            self.writing_call.set({"agent": agent, "branch": context.branch, "call_id": call_id, "tool": tool})

    def tool_ends(self, call_id: str | None) -> None:
        """Record that a tool has returned or raised."""
        self.tool_call.set(None)
        call = self.writing_call.get()
        if call is not None and call["call_id"] == call_id:
            self.writing_call.set(None)


def _is_same_call(one: Any, other: Any) -> bool:
    return bool(
        one.session.id == other.session.id
        and getattr(one.agent, "name", None) == getattr(other.agent, "name", None)
        and one.branch == other.branch
    )


class Worker:
    """Does what the commands say.

    Args:
        channel: carries messages.
        commands: descriptor that carries commands.
    """

    def __init__(self, channel: Channel, commands: int) -> None:
        self._channel = channel
        self._descriptor = commands
        self._loop = asyncio.get_running_loop()
        self._policy = Policy()
        self._agent: Agent | None = None
        self._folder: Path | None = None
        self._service: Any = None
        self._runner: Any = None
        self._recorders: dict[str, Any] = {}  # by file
        self._tasks: set[asyncio.Task[Any]] = set()
        self._run: asyncio.Task[Any] | None = None
        self._run_id: Any = None
        self._session_id = ""
        self._is_stopping = False
        self._next = asyncio.Event()
        self._is_held = False
        self._flushing: asyncio.TimerHandle | None = None
        self._turn_at = 0.0  # when the loop's other tasks have their turn, in its seconds
        self._ids = itertools.count(1)
        self._appending: asyncio.Task[Any] | None = None  # the task of an `append_event` command
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._calls = Calls()
        self._state: dict[str, Any] | None = None  # the committed one; None before the first agent starts
        self._committed_ids: set[str] = set()  # of this run
        self._run_session: Any = None  # the Runner's own copy of the session
        self._sent: dict[tuple[str, str, str | None], int] = {}
        self._model_edits: dict[tuple[str, str, str | None], dict[str, Any]] = {}
        self._call_edits: dict[str, dict[str, Any]] = {}
        self._failures: dict[str, str] = {}
        self._marks: dict[Any, dict[str, Any]] = {}  # of the event that a recorded answer leads to, by call id or as `_sent`
        self._recorded_response: Any = None  # the last one
        self._recorded: dict[str, Any] = {}  # results of calls that were answered from a recording
        self._ended = asyncio.Event()

    async def serve(self) -> None:
        """Read commands until `quit` or the end of the input."""
        version = {"protocol": PROTOCOL, "pid": os.getpid(), "python": sys.version.split()[0], "adk": adk_version()}
        self._channel.send("hello", **version, prefix=sys.prefix, engine=engine_name())
        self._commands = Commands(self._descriptor, self._take, self._take_at_once, self._in_between, self._ended.set)
        await self._ended.wait()
        if self._run is not None:
            self._run.cancel()
        close = getattr(self._runner, "close", None)
        if close is not None:
            await close()

    def _take_at_once(self, line: bytes) -> bool:
        """Take a command that counts even while the agent blocks the loop; return whether it was one. Called on any thread."""
        if not any(name in line for name in (b'"policy"', b'"where"')):
            return False
        try:
            command = json.loads(line)
            take = _AT_ONCE.get(command["type"])
            if take is None:
                return False
            take(self, command)
        except Exception:  # `_take` finds it again, and reports it
            return False
        return True

    def _in_between(self) -> bool:
        """Write what the loop has not written, because the agent blocks it; return whether a run is active."""
        self._channel.flush()
        return self._run is not None

    def _take(self, line: bytes) -> None:
        command: Any = None
        try:
            command = json.loads(line)
            if not isinstance(command, dict):
                raise WorkerError("A command must be a JSON object.")
            kind = command.get("type")
            if kind in _COMMANDS:
                _COMMANDS[kind](self, command)
                return
            if kind not in _REQUESTS:
                raise WorkerError(f"There is no command {kind!r}.")
        except Exception as error:
            number = command.get("id") if isinstance(command, dict) else None
            is_known = isinstance(command, dict) and isinstance(command.get("type"), str) and command["type"] in _COMMANDS
            if is_known:
                fields = _of_command(command["type"], error, self._folder)
            else:
                reason = f"This is not JSON: {error}" if isinstance(error, ValueError) else str(error)
                fields = {"type": "ProtocolError", "message": reason}
            self._channel.send("error", id=number, error=fields)
            return
        task = self._loop.create_task(self._answer(kind, command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, kind: str, command: dict[str, Any]) -> None:
        number = command.get("id")
        try:
            value = await _REQUESTS[kind](self, command)
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            self._channel.send("error", id=number, error=_of_command(kind, error, self._folder))
        else:
            self._channel.send("answer", id=number, value=value)

    def mark_output(self) -> None:
        """Mark in the agent's output what was running when it was written."""
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is not None:
                setattr(sys, name, MarkedStream(stream, self._calls.source))
        if logging.lastResort is not None:
            logging.lastResort.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    # Commands without an answer

    def _on_run(self, command: dict[str, Any]) -> None:
        """Start a run. At once, so that a `stop` that follows finds it."""
        if self._runner is None:
            raise WorkerError("The services are not open.")
        if self._run is not None:
            raise WorkerError("A run is active. Stop it first.")
        types = importlib.import_module("google.genai.types")
        config = _module("google.adk.agents.run_config")
        options: dict[str, Any] = {"user_id": command["user_id"], "session_id": command["session_id"]}
        if command.get("message") is not None:
            options["new_message"] = types.Content.model_validate_json(json.dumps(command["message"]))
        if command.get("invocation_id") is not None:
            options["invocation_id"] = command["invocation_id"]
        if command.get("state_delta"):
            options["state_delta"] = command["state_delta"]
        mode = config.StreamingMode.SSE if command.get("streaming", True) else config.StreamingMode.NONE
        options["run_config"] = config.RunConfig(streaming_mode=mode)
        self._run_id, self._session_id = command["id"], command["session_id"]
        self._is_stopping = self._is_held = False
        self._next.clear()
        self._channel.send("answer", id=command["id"], value={})
        self._run = self._loop.create_task(self._drive(options))
        self._run.add_done_callback(self._on_run_over)

    def _on_policy(self, command: dict[str, Any]) -> None:
        self._policy = Policy(command.get("hold", PLACES), bool(command.get("state")), bool(command.get("requests", True)))

    def _on_where(self, command: dict[str, Any]) -> None:
        self._channel.send("answer", id=command.get("id"), value=where_is_agent())

    def _on_next(self, command: dict[str, Any]) -> None:
        self._next.set()

    def _on_go(self, command: dict[str, Any]) -> None:
        waiting = self._waiting.pop(command["at"], None)
        if waiting is not None and not waiting.done():
            waiting.set_result(command)

    def _on_stop(self, command: dict[str, Any]) -> None:
        self._is_stopping = True
        if self._run is not None:
            self._run.cancel()

    def _on_quit(self, command: dict[str, Any]) -> None:
        self._ended.set()

    # Requests

    async def _load(self, command: dict[str, Any]) -> dict[str, Any]:
        if command.get("protocol") != PROTOCOL:
            raise WorkerError(f"The worker speaks version {PROTOCOL} of the protocol, not {command.get('protocol')!r}.")
        if sys.version_info < (3, 10):  # noqa: UP036  # any Python may be given
            raise WorkerError(f"Python 3.10 or newer is needed; {sys.executable} is {sys.version.split()[0]}.")
        if _root == ADK and adk_version() is None:
            raise WorkerError(f"google-adk is not installed in {sys.prefix}.")
        if command.get("debugpy"):
            start_debugpy(command["debugpy"], bool(command.get("wait")))
        self._folder = folder_of(command["path"])
        self._agent = agent = load_agent(command["path"]) if _root == ADK else load_on_own_thread(command["path"])
        root = agent.root.root_agent if hasattr(agent.root, "root_agent") else agent.root
        app_name = agent.root.name if root is not agent.root else agent.name
        resumability = getattr(agent.root, "resumability_config", None)
        resumable = bool(resumability is not None and resumability.is_resumable)
        return {
            "app_name": app_name,
            "folder": str(agent.folder),
            "resumable": resumable,
            "root": describe_agent(root),
            "places": code_places(root, agent.folder),
            "files": loaded_files(agent.folder),
            "capabilities": self._capabilities(resumable),
        }

    def _capabilities(self, resumable: bool) -> dict[str, str | None]:
        """Return what this version cannot do: name → a sentence; None if it can."""
        runner = _required("google.adk.runners", "Runner")
        plugin = _class("google.adk.plugins.base_plugin", "BasePlugin")
        confirmation = _class("google.adk.tools.tool_confirmation", "ToolConfirmation")
        version = _capital(engine_name())

        def unless(possible: bool, sentence: str) -> str | None:
            return None if possible else sentence

        resumes = "invocation_id" in inspect.signature(runner.run_async).parameters
        not_resumable = "The app is not resumable: its App has no ResumabilityConfig(is_resumable=True)."
        return {
            "hold_calls": unless(plugin is not None, f"{version} has no plugins, so calls cannot be held; 1.7 and later have them."),
            "resume": unless(resumes, f"{version} cannot resume an invocation; 1.16 and later can.") or unless(resumable, not_resumable),
            "rewind": unless(hasattr(runner, "rewind_async"), f"{version} cannot rewind; 1.17 and later can."),
            "confirm": unless(confirmation is not None, f"{version} knows no confirmations of tool calls; 1.14 and later do."),
            "edit_errors": unless(
                hasattr(plugin, "on_tool_error_callback"), f"{version} does not let a plugin answer for a failed tool; 1.14 and later do."
            ),
            "rerun": unless(plugin is not None, f"{version} has no plugins, so a run cannot be repeated; 1.7 and later have them."),
        }

    async def _ask_model(self, command: dict[str, Any]) -> dict[str, Any]:
        """Send a request to an agent's model, outside of any run."""
        root = self._loaded().root
        root = getattr(root, "root_agent", root)
        find = getattr(root, "find_agent", None)
        model = getattr(find(command["agent"]) if find is not None else None, "canonical_model", None)
        if model is None:
            raise WorkerError(f"The agent has no {command['agent']!r} with a model.")
        types = importlib.import_module("google.genai.types")
        asked = command["request"]
        request = _required("google.adk.models.llm_request", "LlmRequest")(
            model=asked.get("model"),
            contents=[types.Content.model_validate_json(json.dumps(content)) for content in asked.get("contents") or []],
            config=types.GenerateContentConfig.model_validate_json(json.dumps(asked.get("config") or {})),
        )
        last = None
        async for response in model.generate_content_async(request, stream=False):
            last = response
        if last is None:
            raise WorkerError("The model gave no answer.")
        fields = {"content", "usage_metadata", "model_version", "finish_reason", "error_code", "error_message"}
        answer: dict[str, Any] = json.loads(last.model_dump_json(exclude_none=True, include=fields & set(type(last).model_fields)))
        return answer

    async def _open(self, command: dict[str, Any]) -> dict[str, Any]:
        """Make the services and the Runner."""
        if self._run is not None:
            raise WorkerError("A run is active. Stop it first.")
        agent = self._loaded()
        app_class = _class("google.adk.apps.app", "App")
        is_app = app_class is not None and isinstance(agent.root, app_class)
        app_name = agent.root.name if is_app else agent.name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of services that the agent's author did not choose
            service = make_session_service(command["sessions"], agent)
            services = {"session_service": service, **make_other_services(agent, app_name)}
        self._runner = self._make_runner(is_app, app_name, services)
        self._service = service
        self._observe(service)
        manager = getattr(self._runner, "plugin_manager", None)
        if manager is not None:
            plugin = make_plugin(self)
            try:
                manager.register_plugin(plugin, first=True)
            except TypeError:  # google-adk: at the end only
                manager.plugins.insert(0, plugin)
            recorder = self._recorder(**command["recorder"]) if command.get("recorder") else None
            if recorder is not None and all(getattr(other, "name", None) != recorder.name for other in manager.plugins):
                manager.plugins.insert(1, recorder)  # unless the app has a recorder of its own
        names = {name.removesuffix("_service"): type(one).__name__ for name, one in services.items()}
        return {"app_name": app_name, "services": names}

    def _recorder(self, plugin: str, file: str) -> Any:
        """Return the plugin that records model and tool calls in a file: one for each file, as it remembers what the file holds."""
        if file not in self._recorders:
            spec = importlib.util.spec_from_file_location("inspector_recorder_plugin", plugin)
            assert spec is not None and spec.loader is not None
            module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self._recorders[file] = module.RecorderPlugin(file)
        return self._recorders[file]

    def _make_runner(self, is_app: bool, app_name: str, services: dict[str, Any]) -> Any:
        agent, runner_class = self._loaded(), _required("google.adk.runners", "Runner")
        if is_app:
            return runner_class(app=agent.root, **services)
        base = _required("google.adk.agents.base_agent", "BaseAgent")
        what = "agent" if isinstance(agent.root, base) else "node"
        return runner_class(app_name=app_name, **{what: agent.root}, **services)

    async def _drive(self, options: dict[str, Any]) -> dict[str, Any] | None:
        """Run to the end; pull each event only when told. Return the failure as JSON; None if there is none."""
        try:
            async with contextlib.aclosing(self._runner.run_async(**options)) as events:
                async for event in events:
                    if self._is_stopping:  # the agent has swallowed its cancellation
                        break
                    await self._yielded(event)
        except (Exception, SystemExit) as error:
            return error_fields(error, self._folder)
        return None

    def _on_run_over(self, task: asyncio.Task[Any]) -> None:
        """Report the end of a run; also of one that was cancelled before it began.

        A sync function that a stopped run has left behind on the agent's own thread is waited for, as the next run could make no call
        before it returns. The inspector kills a process that takes too long to stop.
        """
        if self._is_stopping and self._is_blocked():
            self._loop.call_later(RETURN_SECONDS, self._on_run_over, task)
            return
        stopped = self._is_stopping or task.cancelled()
        failure = None if stopped else task.result()
        unmarked: dict[str, Any] = {"calls": dict(self._call_edits)} if self._call_edits else {}
        if self._model_edits:
            unmarked["model"] = next(reversed(self._model_edits.values()))
        for kept in (self._waiting, self._committed_ids, self._sent, self._model_edits, self._call_edits, self._failures):
            kept.clear()
        self._marks.clear()
        self._recorded.clear()
        self._calls.clear()
        self._run = self._state = self._run_session = None
        self._channel.send("end", run=self._run_id, error=failure, stopped=stopped, unmarked_edits=unmarked)

    def _is_blocked(self) -> bool:
        """Return whether the agent's own thread, which only the embedded runtime has, still runs a function of a stopped run."""
        if _root == ADK or self._agent is None:
            return False
        root = self._agent.root
        blocked: bool = importlib.import_module("runtime.support.agent_thread").is_blocked(getattr(root, "root_agent", root))
        return blocked

    async def _yielded(self, event: Any) -> None:
        self._commands.look()  # a policy or a stop counts at once, also if the agent awaits nothing
        if event.partial:
            self._send_soon("partial", event_json(event), run=self._run_id)
        else:
            await self._report_yielded(event)
        if self._loop.time() >= self._turn_at:  # an agent that awaits nothing must not keep others waiting
            await asyncio.sleep(0)
            self._turn_at = self._loop.time() + LONGEST_TURN

    async def _report_yielded(self, event: Any) -> None:
        """Report an event that is not partial; wait until the next one is asked for, if the policy says so."""
        self._next.clear()
        waits = "event" in self._policy.hold
        text = None if event.id in self._committed_ids else event_json(event)
        fields = {"run": self._run_id, "event_id": event.id, "waits": waits}
        if not waits:
            self._send_soon("yielded", text, **fields)
        else:
            self._channel.send("yielded", text, **fields)
            self._is_held = True
            try:
                await self._next.wait()
            finally:
                self._is_held = False

    def _send_soon(self, kind: str, event: str | None, **fields: Any) -> None:
        self._channel.send_soon(kind, event, **fields)
        if self._flushing is None:
            self._flushing = self._loop.call_later(GATHER_SECONDS, self._flush)

    def _flush(self) -> None:
        self._flushing = None
        self._channel.flush()

    # What the services and the plugin report

    def _observe(self, service: Any) -> None:
        """Report each event that the service commits."""
        append = service.append_event

        async def append_event(session: Any, event: Any, *args: Any, **options: Any) -> Any:
            if event.partial:
                return await append(session, event, *args, **options)
            self._mark(event)
            delta = event.actions.state_delta if event.actions is not None else {}
            temp = {key: value for key, value in delta.items() if isinstance(key, str) and key.startswith("temp:")}
            before = self._state if self._policy.state and self._state is not None else None
            stored = await append(session, event, *args, **options)
            if self._run is not None and session.id == self._session_id:
                self._state, self._run_session = dict(session.state), session
                self._committed_ids.add(stored.id)
            request = None
            if not event.get_function_responses():
                request = self._sent.pop((event.invocation_id, event.author, event.branch), None)
            fields = {"run": self._run_id, "user_id": session.user_id, "session_id": session.id, "temp": temp, "request": request}
            if before is not None:
                fields["state_before"] = before
            ahead = self._is_held and asyncio.current_task() is not self._appending
            self._send_soon("committed", event_json(stored), with_next=True, ahead=ahead, **fields)
            return stored

        service.append_event = append_event

    def _mark(self, event: Any) -> None:
        """Record the user's changes in the event that they led to."""
        edits: dict[str, Any] = {}
        responses = [response.id for response in event.get_function_responses()]
        calls = {number: self._call_edits.pop(number) for number in responses if number in self._call_edits}
        if calls:
            edits["calls"] = calls
        if not responses:
            edited = self._model_edits.pop((event.invocation_id, event.author, event.branch), None)
            if edited is not None:
                edits["model"] = edited
        marks: dict[str, Any] = {EDITED: edits} if edits else {}
        for key in responses or [(event.invocation_id, event.author, event.branch)]:
            marks.update(self._marks.pop(key, {}))
        if marks:
            event.custom_metadata = {**(event.custom_metadata or {}), **marks}

    async def at(self, place: str, context: Any, event: str | None = None, /, **fields: Any) -> dict[str, Any]:
        """Report a place of the run; wait there if the policy says so.

        Args:
            place: one of PLACES; `inner event`, which waits as `event` does; or `after tool`, which never waits.
            context: the invocation context.
            event: the event that is there, as JSON text.
            **fields: what there is to say.

        Returns:
            The answer; just the place's number if it did not wait.
        """
        self._commands.look()
        number = next(self._ids)
        policy = self._policy
        waits = (place if place != "inner event" else "event") in policy.hold and not self._is_stopping and not fields.get("is_partial")
        message: dict[str, Any] = {
            "run": self._run_id,
            "at": number,
            "place": place,
            "waits": waits,
            "agent": getattr(context.agent, "name", None),
            "branch": context.branch,
            "invocation_id": context.invocation_id,
            "session_id": context.session.id,
        }
        message.setdefault("call", fields.pop("call", None) or self._calls.number(context))
        message.update(fields)
        if waits:
            state, committed = context.session.state, self._state or {}
            changed = {key: value for key, value in state.items() if key not in committed or not _is_same(committed[key], value)}
            message["uncommitted"] = changed if self._state is not None else {}
            if policy.state:
                message["state"] = state
            self._waiting[number] = self._loop.create_future()
        self._channel.send("at", event, **message)
        if not waits:
            return {"at": number}
        try:
            return await self._waiting[number]
        except asyncio.CancelledError:
            self._channel.send("left", run=self._run_id, at=number)
            raise
        finally:
            self._waiting.pop(number, None)

    async def at_agent(self, place: str, context: Any) -> None:
        """Report that an agent starts or ends."""
        if place == "agent end":
            await self.at(place, context)
            self._calls.left(context)
            return
        if self._state is None:
            self._state = dict(context.session.state)
        number, callers = self._calls.entered(context)
        is_inner = context.session.id != self._session_id
        await self.at(place, context, call=number, callers=callers, outer=self._calls.tool_call.get() if is_inner else None)

    async def at_model(self, callback_context: Any, request: Any, error: Exception | None = None) -> Any:
        """Report a model call or its failure; return an answer that replaces the model's."""
        context = callback_context._invocation_context
        place = "before model" if error is None else "error"
        fields: dict[str, Any] = {"kind": "model"}
        if self._policy.requests or place in self._policy.hold:
            fields["request"] = request_json(request)
        if error is not None:
            fields["error"], fields["source"] = error_fields(error, self._folder), self._calls.source()
        key = (context.invocation_id, getattr(context.agent, "name", ""), context.branch)
        answer = await self.at(place, context, **fields)
        if error is None:
            self._sent[key] = answer["at"]
        if answer.get("edits"):
            self._model_edits[key] = answer["edits"]
        if answer.get("response") is not None:
            response = _model(("google.adk.models.llm_response", "LlmResponse"), answer["response"])
            if self._take_effects(answer, callback_context, key):
                self._recorded_response = response
            return response
        if answer.get("request") is not None and error is None:
            change_request(request, answer["request"])
        return None

    def at_model_answer(self, response: Any) -> Any:
        """Return a recorded answer, which the agent's own callbacks have changed already."""
        return response if response is self._recorded_response else None

    async def at_tool(self, context: Any, tool: Any, args: dict[str, Any], error: Exception | None = None) -> Any:
        """Report a tool call or its failure; return a result that replaces the tool's."""
        ctx = context._invocation_context
        call_id = context.function_call_id
        place = "before tool" if error is None else "error"
        fields: dict[str, Any] = {"kind": "tool", "tool": tool.name, "call_id": call_id, "args": args, **_source(tool)}
        if error is not None:
            fields["error"], fields["source"] = error_fields(error, self._folder), self._calls.source()
            self._calls.tool_ends(call_id)
        elif place in self._policy.hold:
            fields["declaration"] = _declaration(tool)
        answer = await self.at(place, ctx, **fields)
        if error is None:
            self._calls.tool_starts(ctx, tool.name, call_id)
        if answer.get("edits") and call_id:
            self._call_edits[call_id] = {**self._call_edits.get(call_id, {}), **answer["edits"]}
        if answer.get("args") is not None and error is None:
            args.clear()
            args.update(answer["args"])
        if answer.get("raise") is not None:
            if error is not None:
                return None  # the tool's own exception is raised
            self._fail(tool, call_id, answer["raise"])
        if self._take_effects(answer, context, call_id):
            self._recorded[call_id] = answer["result"]
        return answer.get("result")

    def _take_effects(self, answer: dict[str, Any], context: Any, key: Any) -> bool:
        """Apply the side effects of a recorded answer to the callback's context; return whether the answer is a recorded one."""
        if answer.get("marks") is None:
            return False
        self._marks[key] = answer["marks"]
        effects = _model(("google.adk.events.event_actions", "EventActions"), answer.get("actions") or {})
        actions = getattr(context, "actions", None) or context._event_actions
        for name in effects.model_fields_set:
            value = getattr(effects, name)
            if name == "state_delta":
                context.state.update(value)
            elif isinstance(value, dict):
                getattr(actions, name).update(value)
            else:
                setattr(actions, name, value)
        return True

    async def at_tool_result(self, context: Any, tool: Any) -> Any:
        """Report that a tool has returned; return a recorded result, which the agent's own callbacks have changed already."""
        self._calls.tool_ends(context.function_call_id)
        await self.at("after tool", context._invocation_context, kind="tool", tool=tool.name, call_id=context.function_call_id)
        return self._recorded.pop(context.function_call_id, None)

    async def inner_event(self, context: Any, event: Any) -> None:
        """Report an event of an agent that runs as a tool: google-adk stores none of them."""
        if context.session.id == self._session_id:
            return
        outer = self._calls.tool_call.get()
        await self.at("inner event", context, event_json(event), outer=outer, is_partial=bool(event.partial))

    def _fail(self, tool: Any, call_id: str, message: str) -> None:
        """Make a tool's next call with this id raise, so that the agent's own error handling sees it."""
        self._failures[call_id] = message
        if "run_async" in vars(tool):
            return
        original = tool.run_async

        async def run_async(*, args: dict[str, Any], tool_context: Any) -> Any:
            failure = self._failures.pop(tool_context.function_call_id, None)
            if not self._failures:
                vars(tool).pop("run_async", None)
            if failure is not None:
                raise RaisedByHandError(failure)
            return await original(args=args, tool_context=tool_context)

        vars(tool)["run_async"] = run_async

    # Sessions

    async def _create_session(self, command: dict[str, Any]) -> dict[str, Any]:
        options = {key: command[key] for key in ("state", "session_id") if command.get(key) is not None}
        session = await self._opened().create_session(app_name=self._runner.app_name, user_id=command["user_id"], **options)
        return _session_json(session)

    async def _get_session(self, command: dict[str, Any]) -> dict[str, Any] | None:
        session = await self._opened().get_session(**self._session(command))
        return _session_json(session) if session is not None else None

    async def _list_sessions(self, command: dict[str, Any]) -> list[dict[str, Any]]:
        listed = await self._opened().list_sessions(app_name=self._runner.app_name, user_id=command["user_id"])
        return [_session_json(session) for session in listed.sessions]

    async def _delete_session(self, command: dict[str, Any]) -> None:
        await self._opened().delete_session(**self._session(command))

    async def _append_event(self, command: dict[str, Any]) -> dict[str, Any]:
        """Append an event that no agent yielded."""
        service = self._opened()
        session = self._run_session if command["session_id"] == self._session_id else None
        if session is None:
            session = await service.get_session(**self._session(command))
        if session is None:
            raise WorkerError(f"There is no session {command['session_id']}.")
        event = _required("google.adk.events.event", "Event").model_validate_json(json.dumps(command["event"]))
        self._appending = asyncio.current_task()
        stored: dict[str, Any] = json.loads(event_json(await service.append_event(session, event)))
        return stored

    async def _rewind(self, command: dict[str, Any]) -> None:
        if self._run is not None:
            raise WorkerError("A run is active. Stop it first.")
        self._opened()
        if not hasattr(self._runner, "rewind_async"):
            raise WorkerError(f"{_capital(engine_name())} cannot rewind; google-adk 1.17 and later can.")
        where = {"user_id": command["user_id"], "session_id": command["session_id"]}
        await self._runner.rewind_async(**where, rewind_before_invocation_id=command["invocation_id"])

    def _session(self, command: dict[str, Any]) -> dict[str, str]:
        return {"app_name": self._runner.app_name, "user_id": command["user_id"], "session_id": command["session_id"]}

    def _loaded(self) -> Agent:
        if self._agent is None:
            raise WorkerError("No agent is loaded.")
        return self._agent

    def _opened(self) -> Any:
        if self._service is None:
            raise WorkerError("The services are not open.")
        return self._service


_AT_ONCE = {"policy": Worker._on_policy, "where": Worker._on_where}
_COMMANDS = {
    **_AT_ONCE,
    "run": Worker._on_run,
    "next": Worker._on_next,
    "go": Worker._on_go,
    "stop": Worker._on_stop,
    "quit": Worker._on_quit,
}
_REQUESTS = {
    "load": Worker._load,
    "open": Worker._open,
    "rewind": Worker._rewind,
    "create_session": Worker._create_session,
    "get_session": Worker._get_session,
    "list_sessions": Worker._list_sessions,
    "delete_session": Worker._delete_session,
    "append_event": Worker._append_event,
    "ask_model": Worker._ask_model,
}


def make_plugin(worker: Worker) -> Any:
    """Return the plugin that reports the places of a run to the worker."""
    base = _required("google.adk.plugins.base_plugin", "BasePlugin")

    class InspectorPlugin(base):  # type: ignore[misc, valid-type]
        """Holds a run before its model and tool calls."""

        async def before_agent_callback(self, *, agent: Any, callback_context: Any, **_: Any) -> None:
            await worker.at_agent("agent start", callback_context._invocation_context)

        async def after_agent_callback(self, *, agent: Any, callback_context: Any, **_: Any) -> None:
            await worker.at_agent("agent end", callback_context._invocation_context)

        async def before_model_callback(self, *, callback_context: Any, llm_request: Any, **_: Any) -> Any:
            return await worker.at_model(callback_context, llm_request)

        async def after_model_callback(self, *, callback_context: Any, llm_response: Any, **_: Any) -> Any:
            return worker.at_model_answer(llm_response)

        async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception, **_: Any) -> Any:
            return await worker.at_model(callback_context, llm_request, error)

        async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, **_: Any) -> Any:
            return await worker.at_tool(tool_context, tool, tool_args)

        async def after_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any, **_: Any) -> Any:
            return await worker.at_tool_result(tool_context, tool)

        async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any, **_: Any) -> Any:
            if not isinstance(error, Exception):
                return None  # a cancellation
            return await worker.at_tool(tool_context, tool, tool_args, error)

        async def on_event_callback(self, *, invocation_context: Any, event: Any, **_: Any) -> None:
            await worker.inner_event(invocation_context, event)

    return InspectorPlugin(name="inspector_debugger")


def _model(place: tuple[str, str], fields: dict[str, Any]) -> Any:
    """Return an object of a class of google-adk, without the fields that this version does not know."""
    made = _required(*place)
    return made.model_validate_json(json.dumps({name: value for name, value in fields.items() if name in made.model_fields}))


def _session_json(session: Any) -> dict[str, Any]:
    return {
        "app_name": session.app_name,
        "user_id": session.user_id,
        "id": session.id,
        "state": session.state,
        "last_update_time": session.last_update_time,
        "events": [json.loads(event_json(event)) for event in session.events],
    }


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
    except Exception:  # the object's own code
        return False


def _is_idle(frame: FrameType) -> bool:
    return frame.f_code.co_filename.endswith("serial_thread.py")


def where_is_agent() -> list[dict[str, Any]]:
    """Return the stack of the thread that runs the agent, the innermost frame last."""
    frames = sys._current_frames()
    frame: FrameType | None = frames.get(threading.main_thread().ident or 0)
    for thread in threading.enumerate():  # on the embedded runtime, sync code has a thread of its own
        own = frames.get(thread.ident or 0)
        if _root != ADK and own is not None and thread.name.startswith("agent ") and not _is_idle(own):
            frame = own
    stack = traceback.extract_stack(frame) if frame is not None else []
    return [{"file": one.filename, "line": one.lineno, "function": one.name} for one in stack if one.filename != __file__]


async def _serve(commands: int, messages: int) -> None:
    worker = Worker(Channel(messages), commands)
    worker.mark_output()
    await worker.serve()


def main() -> None:
    """Run the worker; the arguments are the three descriptors, and `embedded` for the embedded runtime."""
    is_embedded = "embedded" in sys.argv[4:]
    commands, messages, lifeline = (int(argument) for argument in sys.argv[1:4])
    for descriptor in (commands, messages, lifeline):
        os.set_inheritable(descriptor, False)
    start_guarded(lifeline, commands, messages)
    here = str(Path(__file__).parent)
    sys.path[:] = [entry for entry in sys.path if entry != here]
    if is_embedded:
        use_embedded_runtime()
    sys.argv[:] = [sys.argv[0]]
    sys.dont_write_bytecode = True  # the folder is the user's
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
    asyncio.run(_serve(commands, messages))


if __name__ == "__main__":
    main()
