"""Records what an app asks its models, and when: copy this file beside the app and add `RecorderPlugin("run.rec.db")` to its plugins.

It needs the standard library and google-adk only. Agent Inspector opens the recording while the app runs or later; the file beside a
database `NAME.db` is `NAME.rec.db`. Each distinct text, tool declaration and setting is stored once. A request is a list of references to
them, so a recording grows with the conversation, not with its square.

Passwords, keys and tokens are replaced before anything is written. Writing happens on a thread of its own. A recording that cannot be
written is reported once in the log, and the app continues.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import datetime
import hashlib
import json
import logging
import os
import re
import sqlite3
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from operator import is_
from pathlib import Path
from typing import Any

try:
    if "runtime.plugins.base_plugin" in sys.modules and "google.adk" not in sys.modules:
        raise ImportError("an app on Agent Inspector's runtime, where google-adk may be installed all the same")
    from google.adk.plugins.base_plugin import BasePlugin
except ImportError:
    from runtime.plugins.base_plugin import BasePlugin

connect = sqlite3.connect  # in Agent Inspector's own process, its door to database files
FORMAT = 2  # of the tables; raised when a column changes its meaning
MOST_WAITING = 10_000  # records in memory; a disk that is slower than the app loses the newest, and the recording says how many
MOST_CHUNKS = 2_000  # times of pieces kept for a streamed answer
MOST_PARTS = 200_000  # references by content kept in memory, 100 bytes each; older content would be stored a second time
MOST_SCOPES = 64  # conversations whose last request is remembered; another one's next request is stored as a list of all its parts
MOST_ITEMS, MOST_DEPTH = 1_000_000, 200  # of one value that is recorded
MOST_BITS = 10_000  # of an integer; Python refuses to write one of more than 4,300 digits
MOST_TEXT = 100_000  # characters of a text of the app's own object
BATCH_SECONDS = 0.25  # that a record may wait for others: a transaction costs more than a hundred records
IDLE_SECONDS = 5.0  # without a record, after which the thread ends and the file is closed
CLOSE_SECONDS = 5.0  # that the end of the process waits for the disk
HIDDEN = "(redacted)"
_MOMENTS = frozenset((datetime.datetime, datetime.date, datetime.time))  # written as in any JSON; a subclass may have code of its own
SHARES_CONTENTS = not BasePlugin.__module__.startswith("google.")  # requests of one conversation share objects, as plugins only observe

_TABLES = """
CREATE TABLE IF NOT EXISTS inspector_recording (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS inspector_parts (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS inspector_model_calls (
    id INTEGER PRIMARY KEY, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, invocation_id TEXT NOT NULL,
    branch TEXT, agent TEXT NOT NULL, model TEXT, event_id TEXT, started REAL NOT NULL, first REAL, ended REAL, chunks TEXT, error TEXT,
    base INTEGER, kept INTEGER NOT NULL, contents TEXT NOT NULL, config INTEGER, answer INTEGER, answered TEXT, dropped INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS inspector_model_calls_event ON inspector_model_calls (event_id);
CREATE INDEX IF NOT EXISTS inspector_model_calls_session ON inspector_model_calls (app_name, user_id, session_id);
CREATE TABLE IF NOT EXISTS inspector_tool_calls (
    id INTEGER PRIMARY KEY, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, invocation_id TEXT NOT NULL,
    branch TEXT, agent TEXT NOT NULL, tool TEXT NOT NULL, call_id TEXT, started REAL NOT NULL, ended REAL, error TEXT
);
CREATE INDEX IF NOT EXISTS inspector_tool_calls_session ON inspector_tool_calls (app_name, user_id, session_id);
CREATE TABLE IF NOT EXISTS inspector_temp_values (event_id TEXT PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS inspector_inner_events (
    id INTEGER PRIMARY KEY, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, invocation_id TEXT NOT NULL,
    calls TEXT NOT NULL, event_id TEXT, content INTEGER, json TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS inspector_inner_events_session ON inspector_inner_events (app_name, user_id, session_id);
"""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class ModelCall:
    """A model call that is being recorded.

    Attributes:
        session: app name, user id and session id.
        invocation_id, branch: where the call was made.
        agent: the agent that called.
        request: the `LlmRequest`. Callbacks may change it until the model gets it, so it is read when the answer begins.
        started: seconds since 1970.
        clock: the monotonic clock at the start.
        first: seconds from the start to the first piece of the answer.
        ended: seconds from the start to the end of the answer, or to the error.
        chunks: seconds from the start to each piece of a streamed answer.
        response: the last complete `LlmResponse`.
        error: type and message of the error.
        event_id: the event that the answer became.
        model, contents, config: what the model was asked.
    """

    session: Any
    invocation_id: str
    branch: str | None
    agent: Any
    request: Any
    started: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.perf_counter)
    first: float | None = None
    ended: float | None = None
    chunks: list[float] | None = None
    response: Any = None
    error: str | None = None
    event_id: str | None = None
    model: str | None = None
    contents: tuple[Any, ...] = ()
    config: Any = None

    def read_request(self) -> None:
        """Keep what the model was asked. Neither runtime changes these objects afterwards, so they are read on another thread."""
        request, self.request = self.request, None
        self.model, self.contents, self.config = request.model, tuple(request.contents), request.config


@dataclass(slots=True)
class ToolCall:
    """A tool call that is being recorded; the other attributes are those of `ModelCall`.

    Attributes:
        service: the id of what stores the session that the call was made in; the object would keep the session in memory.
        hides_agent: whether the tool is an agent of whose run nothing was seen.
    """

    session: Any
    invocation_id: str
    branch: str | None
    agent: str
    tool: str
    call_id: str | None
    started: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.perf_counter)
    ended: float | None = None
    error: str | None = None
    service: int = 0
    hides_agent: bool = False


@dataclass(slots=True)
class InnerEvent:
    """An event of an agent that runs as a tool: it has a session of its own, which nothing stores.

    Attributes:
        session, invocation_id: where the outermost agent called it.
        calls: ids of the function calls that it is inside of, the outermost first.
        event_id: its id; None if the run of the last call was not seen.
        content: its content.
        rest: the JSON of its other fields.
    """

    session: Any
    invocation_id: str
    calls: tuple[str | None, ...]
    event_id: str | None = None
    content: Any = None
    rest: str = "{}"


_around: ContextVar[tuple[ToolCall, ...]] = ContextVar("inspector_recorded_tools", default=())  # those that run in the present context


def _never_raises(hook: Callable[..., None]) -> Callable[..., Any]:
    """Return a plugin's hook that calls a function; what it raises is logged once and does not reach the app."""

    @wraps(hook)
    async def guarded(self: RecorderPlugin, **arguments: Any) -> None:
        try:
            hook(self, **arguments)
        except Exception as error:
            self.recording.give_up(f"{hook.__name__} failed: {type(error).__name__}. Nothing more is recorded.")

    return guarded


class RecorderPlugin(BasePlugin):  # type: ignore[misc]  # of google-adk, which has no types
    """Records model requests, answers, their times, and the times of tool calls.

    Args:
        file: the recording; created if missing, with access for its owner only. An existing recording is continued.
        name: the plugin's name.
        temp_values: whether the values of `temp:` keys that events set are recorded too. They may be secret, and no database stores them.

    Attributes:
        only_observes: no hook changes what it is given, so that Agent Inspector's runtime need not copy a request for it.
        recording: the file's writer.
    """

    only_observes = True

    def __init__(self, file: str | Path = "run.rec.db", *, name: str = "inspector_recorder", temp_values: bool = False) -> None:
        super().__init__(name=name)
        self.recording = Recording(file)
        self._temp_values = temp_values
        self._models: dict[tuple[str, str, str, str | None], ModelCall] = {}
        self._tools: dict[tuple[str, str, str | None], ToolCall] = {}

    @_never_raises
    def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Note the request and the time."""
        context = callback_context._invocation_context
        agent = context.agent
        for call in _calls_around(context):
            call.hides_agent = False
        key = _model_key(context)
        earlier = self._models.get(key)
        self._models[key] = ModelCall(_names(context.session), context.invocation_id, context.branch, agent, llm_request)
        if earlier is not None:
            self._finish(earlier)

    @_never_raises
    def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Note the time of a piece of the answer, or of all of it."""
        context = callback_context._invocation_context
        call = self._models.get(_model_key(context))
        if call is None:
            return
        seconds = time.perf_counter() - call.clock
        if call.first is None:
            call.first = seconds
            call.read_request()
        if not llm_response.partial:
            call.response, call.ended = llm_response, seconds
        elif call.chunks is None:
            call.chunks = [seconds]
        elif len(call.chunks) < MOST_CHUNKS:
            call.chunks.append(seconds)

    @_never_raises
    def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception) -> None:
        """Record a call that failed."""
        context = callback_context._invocation_context
        call = self._models.pop(_model_key(context), None)
        if call is not None:
            call.ended, call.error = time.perf_counter() - call.clock, _error_text(error)
            self._finish(call)

    @_never_raises
    def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        """Record a call whose answer became an event."""
        if event.partial:
            return
        if self._temp_values:
            self._note_temp_values(event)
        around = () if SHARES_CONTENTS else _calls_around(invocation_context)
        if around:
            self._add_inner(around[0].session, around[0].invocation_id, tuple(call.call_id for call in around), event)
        if not self._models:
            return
        session = invocation_context.session.id
        key = (session, event.invocation_id or invocation_context.invocation_id, event.author, event.branch)
        call = self._models.get(key)
        if call is None or event.get_function_responses():
            return
        del self._models[key]
        call.event_id = event.id
        if call.response is None:
            call.response = event
        self._finish(call)

    @_never_raises
    def on_inner_event_callback(self, *, invocation_context: Any, event: Any, call_ids: tuple[str | None, ...]) -> None:
        """Record an event of an agent that runs as a tool. Agent Inspector's runtime calls this, of agents without plugins too."""
        if not event.partial:
            self._add_inner(_names(invocation_context.session), invocation_context.invocation_id, call_ids, event)

    def _add_inner(self, session: Any, invocation_id: str, calls: tuple[str | None, ...], event: Any) -> None:
        for call in _around.get():
            call.hides_agent = False
        rest = _json(event.model_copy(update={"content": None}))  # here, as the runtime takes `temp:` keys out of the event
        self.recording.add_inner_event(InnerEvent(session, invocation_id, calls, event.id, event.content, rest))

    def _note_temp_values(self, event: Any) -> None:
        delta = event.actions.state_delta or {}
        values = {key: value for key, value in delta.items() if isinstance(key, str) and key.startswith("temp:")}
        if values:
            self.recording.add_temp_values(event.id, values)

    @_never_raises
    def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        """Note the time."""
        context = tool_context._invocation_context
        call_id = tool_context.function_call_id
        call = ToolCall(_names(context.session), context.invocation_id, context.branch, context.agent.name, tool.name, call_id)
        call.service = id(context.session_service)
        call.hides_agent = _is_a(tool, "AgentTool")
        self._tools[_tool_key(tool_context)] = call
        _around.set((*_around.get(), call))

    @_never_raises
    def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> None:
        """Record a call that returned."""
        self._finish_tool(tool_context, None)

    @_never_raises
    def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception) -> None:
        """Record a call that raised."""
        self._finish_tool(tool_context, error)

    def _finish_tool(self, tool_context: Any, error: Exception | None) -> None:
        call = self._tools.pop(_tool_key(tool_context), None)
        if call is not None:
            around = _around.get()
            _around.set(tuple(one for one in around if one is not call))
            if call.hides_agent and around:
                self.recording.add_inner_event(InnerEvent(around[0].session, around[0].invocation_id, tuple(one.call_id for one in around)))
            call.ended = time.perf_counter() - call.clock
            call.error = None if error is None else _error_text(error)
            self.recording.add_tool_call(call)

    def held(self, context: Any, seconds: float) -> None:
        """Take the time for which a debugger held the agent from the calls that were open there. The plugin that holds calls this."""
        model = self._models.get(_model_key(context))
        around: list[ModelCall | ToolCall] = [*_around.get()]
        if model is not None and model.ended is None:
            around.append(model)
        for call in around:
            call.started += seconds
            call.clock += seconds

    @_never_raises
    def after_run_callback(self, *, invocation_context: Any) -> None:
        """Record the calls of the run that no event answered."""
        if self._models or self._tools:
            self._finish_all((invocation_context.session.id, invocation_context.invocation_id))

    async def close(self) -> None:
        """Record the calls that were not answered, and wait for the disk."""
        if _around.get():
            return  # an agent as a tool has ended: google-adk up to 2.0 closes its caller's plugins then
        with contextlib.suppress(Exception):
            self._finish_all(None)
        self.recording.close()

    def _finish_all(self, run: tuple[str, str] | None) -> None:
        for key in [key for key in self._models if run in (None, key[:2])]:
            self._finish(self._models.pop(key))
        for tool in [key for key in self._tools if run in (None, key[:2])]:
            self.recording.add_tool_call(self._tools.pop(tool))

    def _finish(self, call: ModelCall) -> None:
        if call.request is not None:
            call.read_request()
        self.recording.add_model_call(call)


@dataclass(slots=True)
class _LastCall:
    """The last request of a conversation, to which the next one refers.

    Attributes:
        number: its row.
        parts: the numbers of its contents.
        contents: these contents themselves, if the runtime shares them between requests.
    """

    number: int
    parts: list[int]
    contents: tuple[Any, ...] = ()


@dataclass(slots=True)
class _LastConfig:
    """An agent's last configuration: its fields, its tools' declarations, and its part."""

    fields: dict[str, Any]
    declarations: list[Any]
    part: int


class Recording:
    """Writes a recording on a thread of its own. Its methods return at once and never raise.

    Args:
        file: see `RecorderPlugin`.

    Attributes:
        problem: why nothing is written any more, or None.
    """

    def __init__(self, file: str | Path) -> None:
        self.problem: str | None = None
        self._file = Path(file).absolute()
        self._since = time.time()
        self._waiting: deque[Any] = deque()
        self._dropped = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        # The rest is used on the thread alone.
        self._database: sqlite3.Connection | None = None
        self._parts: dict[bytes, int] = {}
        self._last: OrderedDict[tuple[Any, ...], _LastCall] = OrderedDict()
        self._configs: OrderedDict[str, _LastConfig] = OrderedDict()

    def wait(self) -> None:
        """Wait until all that was added before is written, for at most `CLOSE_SECONDS`."""
        written = threading.Event()
        self._put(written)
        if self.problem is None:
            written.wait(CLOSE_SECONDS)

    def add_model_call(self, call: ModelCall) -> None:
        """Write a call, which must not be changed any more."""
        self._put(call)

    def add_tool_call(self, call: ToolCall) -> None:
        """Write a call, which must not be changed any more."""
        self._put(call)

    def add_inner_event(self, event: InnerEvent) -> None:
        """Write an event of an agent that runs as a tool."""
        self._put(event)

    def add_temp_values(self, event_id: str, values: dict[str, Any]) -> None:
        """Write the `temp:` values that an event set. Values that JSON cannot express are written as the name of their type."""
        self._put((event_id, json.dumps(redacted(_plain(values)))))  # here, as the app may change them

    def give_up(self, problem: str) -> None:
        """Write nothing from now on, and log why."""
        if self.problem is None:
            self.problem = problem
            _log.warning("%s", problem)

    def close(self) -> None:
        """Write what is waiting and close the file; the next call opens it again. Waits for at most `CLOSE_SECONDS`."""
        with self._lock:
            thread = self._thread
            self._closing.set()
        if thread is not None:
            thread.join(CLOSE_SECONDS)

    def _put(self, record: Any) -> None:
        if self.problem is not None:
            return
        if len(self._waiting) >= MOST_WAITING:
            self._dropped += 1
            return
        self._waiting.append(record)
        if self._thread is None:  # after the append: a thread that ends looks once more afterwards
            self._start()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._closing.clear()
                self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
                self._thread.start()
                atexit.register(self.close)

    def _work(self) -> None:
        busy = time.monotonic()
        while True:
            closing = self._closing.wait(BATCH_SECONDS)
            if self._waiting:
                self._write_waiting()
                busy = time.monotonic()
            elif (closing or time.monotonic() - busy > IDLE_SECONDS) and self._ended():
                return

    def _ended(self) -> bool:
        """Close the file and forget the thread, unless a record has come in the meantime."""
        with self._lock:
            self._thread = None
            if self._waiting:
                self._thread = threading.current_thread()
                return False
            database, self._database = self._database, None
            atexit.unregister(self.close)
        if database is not None:
            with contextlib.suppress(sqlite3.Error):
                database.close()
        return True

    def _write_waiting(self) -> None:
        """Write all that is waiting in one transaction."""
        written: list[threading.Event] = []
        try:
            if self.problem is None:
                if self._database is None:
                    self._database = self._open()
                with self._database:
                    while self._waiting:
                        self._write(self._waiting.popleft(), written)
        except Exception as error:
            self.give_up(f"{self._file} cannot be written: {error}. Nothing more is recorded.")
        if self.problem is not None:
            self._waiting.clear()
        for event in written:  # after the transaction
            event.set()

    def _write(self, record: Any, written: list[threading.Event]) -> None:
        if isinstance(record, threading.Event):
            written.append(record)
        elif isinstance(record, ModelCall):
            self._write_model_call(record)
        elif isinstance(record, ToolCall):
            self._write_tool_call(record)
        elif isinstance(record, InnerEvent):
            self._write_inner_event(record)
        else:
            self._insert("inspector_temp_values", record)

    def _open(self) -> sqlite3.Connection:
        with contextlib.suppress(FileExistsError):  # not opened if it exists: closing it again would drop this process's locks
            os.close(os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        database = connect(self._file, timeout=CLOSE_SECONDS, check_same_thread=False)
        try:
            database.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute("INSERT OR IGNORE INTO inspector_recording VALUES ('format', ?)", (str(FORMAT),))
            database.execute("INSERT OR IGNORE INTO inspector_recording VALUES ('inner_since', ?)", (str(self._since),))
            database.execute("UPDATE inspector_recording SET value = ? WHERE key = 'format' AND value = '1'", (str(FORMAT),))
            database.commit()
            (found,) = database.execute("SELECT value FROM inspector_recording WHERE key = 'format'").fetchone()
            if found != str(FORMAT):
                raise ValueError(f"it is a recording of format {found}, and this plugin writes format {FORMAT}; name another file")
            (newest,) = database.execute("SELECT coalesce(max(id), 0) FROM inspector_parts").fetchone()
        except BaseException:
            database.close()
            raise
        if newest < max(self._parts.values(), default=0):  # the file was deleted since it was closed
            self._parts.clear()
            self._last.clear()
            self._configs.clear()
        return database

    def _insert(self, table: str, values: tuple[Any, ...]) -> int:
        assert self._database is not None
        return int(self._database.execute(_INSERT[table], values).lastrowid or 0)

    def _write_tool_call(self, call: ToolCall) -> None:
        error = None if call.error is None else redacted_text(call.error)
        where = (call.invocation_id, call.branch, call.agent)
        self._insert("inspector_tool_calls", (None, *call.session, *where, call.tool, call.call_id, call.started, call.ended, error))

    def _write_inner_event(self, event: InnerEvent) -> None:
        text = event.rest
        if '"temp:' in text or _may_hold_secrets(_OWN_FIELDS.sub("", text)):
            rest = json.loads(text)
            delta = (rest.get("actions") or {}).get("state_delta") or {}
            for key in [key for key in delta if key.startswith("temp:")]:
                del delta[key]
            text = _text_json(redacted(rest))
        text = text.encode("utf-8", "replace").decode()
        content = None if event.content is None else self._part(event.content)
        where = (*event.session, event.invocation_id, json.dumps(event.calls))
        self._insert("inspector_inner_events", (None, *where, event.event_id, content, text))

    def _write_model_call(self, call: ModelCall) -> None:
        scope = (*call.session, call.agent.name, call.branch)
        last = self._last.pop(scope, None)
        parts = self._contents(call.contents, last)
        kept = _common(last.parts, parts) if last is not None else 0
        values = (
            None, *scope[:3], call.invocation_id, call.branch, call.agent.name, call.model, call.event_id, call.started, call.first,
            call.ended,
            json.dumps([round(seconds, 4) for seconds in call.chunks]) if call.chunks else None,
            None if call.error is None else redacted_text(call.error),
            last.number if last is not None and kept else None, kept, json.dumps(parts[kept:], separators=(",", ":")),
            None if call.config is None else self._config(call),
            None if call.response is None or call.response.content is None else self._part(call.response.content),
            None if call.response is None else _answered(call.response),
            self._dropped,
        )  # fmt: skip
        number = self._insert("inspector_model_calls", values)
        self._last[scope] = _LastCall(number, parts, call.contents if SHARES_CONTENTS else ())
        if len(self._last) > MOST_SCOPES:
            self._last.popitem(last=False)

    def _contents(self, contents: tuple[Any, ...], last: _LastCall | None) -> list[int]:
        """Return the parts of contents; those that are the objects of the last request have the same parts."""
        if last is not None and last.contents and len(contents) >= len(last.contents) and all(map(is_, last.contents, contents)):
            return last.parts + [self._part(content) for content in contents[len(last.contents) :]]
        return [self._part(content) for content in contents]

    def _config(self, call: ModelCall) -> int:
        """Return the part of a configuration: a dict of the parts of its paragraphs, tools and settings, and of the agent's own texts."""
        fields = dict(call.config.__dict__)
        declarations = [declaration for tool in fields.get("tools") or () for declaration in _declarations(tool)]
        last = self._configs.get(call.agent.name)
        if last is not None and _same_fields(last.fields, fields) and last.declarations == declarations:
            return last.part
        instruction = fields.get("system_instruction")
        shown = redacted_text(instruction) if isinstance(instruction, str) else None
        settings = _loaded(call.config.model_copy(update={"tools": None, **({"system_instruction": None} if shown is not None else {})}))
        found = {
            "inspector_format": FORMAT,
            "instruction": [self._part(_text_json(text)) for text in shown.split("\n\n")] if shown is not None else None,
            "tools": [self._tool(tool) for tool in fields.get("tools") or ()],
            "settings": self._part(_text_json(settings)),
            "agent": self._part(_text_json(_agent_texts(call.agent))),
        }
        part = self._part(json.dumps(found))
        self._configs[call.agent.name] = _LastConfig(fields, declarations, part)
        if len(self._configs) > MOST_SCOPES:
            self._configs.popitem(last=False)
        return part

    def _tool(self, tool: Any) -> Any:
        """Return a tool as a dict of the parts of its declarations, or as its part."""
        declared = getattr(tool, "function_declarations", None)
        if declared and hasattr(tool, "model_copy") and not _loaded(tool.model_copy(update={"function_declarations": None})):
            return [self._part(declaration) for declaration in declared]
        return self._part(tool)

    def _part(self, value: Any) -> int:
        """Return the number under which a value is stored, and store it if it is new."""
        text = value if isinstance(value, str) else _json(value)
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        number = self._parts.get(digest)
        if number is None:
            if len(self._parts) >= MOST_PARTS:
                self._parts.clear()
            clean = text
            if _may_hold_secrets(text):
                clean = json.dumps(redacted(json.loads(text)), ensure_ascii=False, separators=(",", ":"))
            number = self._parts[digest] = self._insert("inspector_parts", (None, clean.encode("utf-8", "replace").decode()))
        return number


_OWN_FIELDS = re.compile(r'"(?:author|requested_auth_configs|[a-z_]{1,40}_tokens?_(?:count|details))":')  # of any event: no secrets' names

_INSERT = {
    table: f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * columns)})"
    for table, columns in {
        "inspector_parts": 2, "inspector_model_calls": 21, "inspector_tool_calls": 12, "inspector_temp_values": 2,
        "inspector_inner_events": 9,
    }.items()
}  # fmt: skip


def _names(session: Any) -> tuple[str, str, str]:
    return session.app_name, session.user_id, session.id


def _model_key(context: Any) -> tuple[str, str, str, str | None]:
    return context.session.id, context.invocation_id, getattr(context.agent, "name", ""), context.branch


def _tool_key(tool_context: Any) -> tuple[str, str, str | None]:
    context = tool_context._invocation_context
    return context.session.id, context.invocation_id, tool_context.function_call_id


def _is_a(value: Any, name: str) -> bool:
    """Return whether a value is of a class of this name, of either runtime."""
    return any(kind.__name__ == name for kind in type(value).__mro__)


def _calls_around(context: Any) -> tuple[ToolCall, ...]:
    """Return the calls that a run is inside of, the outermost first; none if its session is stored on its own."""
    around, service = _around.get(), context.session_service
    is_own = not around or context.session.id == around[-1].session[2] or id(service) == around[-1].service
    return () if is_own or not _is_a(service, "InMemorySessionService") else around


def _common(before: list[int], now: list[int]) -> int:
    """Return how many numbers two lists begin with in common."""
    if now[: len(before)] == before:
        return len(before)
    return next((index for index, (one, other) in enumerate(zip(before, now, strict=False)) if one != other), min(len(before), len(now)))


def _declarations(tool: Any) -> Iterable[Any]:
    """Return a tool's function declarations; the tool itself if it has none."""
    return getattr(tool, "function_declarations", None) or (tool,)


def _same_fields(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return whether two configurations are the same, their tools apart. Objects of other types are not compared by value."""
    for name, value in now.items():
        other = before.get(name)
        if value is not other and name != "tools" and not (type(value) in (str, int, float, dict) and value == other):
            return False
    return len(before) == len(now) and bool(before.get("tools")) == bool(now.get("tools"))


def _agent_texts(agent: Any) -> dict[str, Any]:
    """Return what an agent's author wrote, by which readers tell where a paragraph of the system instruction comes from."""
    found: dict[str, Any] = {}
    root = getattr(agent, "root_agent", None)
    own = ("description", "static_instruction", "instruction", "include_contents")
    for owner, names in ((agent, own), (root, ("global_instruction",))):
        for name in names:
            value = getattr(owner, name, None)
            if value:
                found[name] = {"function": getattr(value, "__name__", "")} if callable(value) else _plain(value)
    for name in ("planner", "output_schema", "code_executor"):
        value = getattr(agent, name, None)
        if value is not None:
            found[name] = value.__name__ if isinstance(value, type) else type(value).__name__
    return found


def _answered(response: Any) -> str:
    """Return the JSON of what is known of an answer besides its content: tokens, the model's version, why it ended, errors."""
    found = []
    usage, reason = getattr(response, "usage_metadata", None), getattr(response, "finish_reason", None)
    if usage is not None:
        found.append(f'"usage_metadata":{usage.model_dump_json(exclude_none=True)}')
    if reason is not None:
        found.append(f'"finish_reason":{json.dumps(str(getattr(reason, "value", reason)))}')
    for name in ("error_code", "error_message", "model_version", "grounding_metadata"):
        value = getattr(response, name, None)
        if value is not None:
            found.append(f'"{name}":{json.dumps(redacted(value if isinstance(value, str) else json.loads(_json(value))))}')
    return f"{{{','.join(found)}}}"


def _text_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _loaded(value: Any) -> Any:
    return json.loads(_json(value))


def _may_hold_secrets(text: str) -> bool:
    """Return whether a JSON text has anything that `redacted` looks for; most have not, and need not be parsed."""
    lowered = text.lower()
    found = any(hint in lowered for hint in _WORD_HINTS) or "://" in text or any(hint in text for hint in _SHAPE_HINTS)
    return found or "eyJ" in text or ('"data"' in text and "mime" in lowered)


def _json(value: Any) -> str:
    dump = getattr(value, "model_dump_json", None)
    if dump is None:
        return json.dumps(_plain(value))
    try:
        return str(dump(exclude_none=True))
    except Exception:  # a tool that is a Python function or an MCP session, for example
        return json.dumps(_plain(value.model_dump(exclude_none=True)))


def _plain(value: Any) -> Any:
    """Return a value with only what JSON can express; other objects become the name of their type, as `repr` may show secrets."""
    return _without_objects(value, (), [MOST_ITEMS])


def _without_objects(value: Any, above: tuple[Any, ...], left: list[int]) -> Any:
    """Do the work of `_plain` without the code of the app's own classes, which may be endless or raise.

    Args:
        value: any value.
        above: the containers that it is in.
        left: how many more items may be written.
    """
    kind = type(value)
    left[0] -= 1
    if len(above) > MOST_DEPTH or left[0] < 0 or any(value is one for one in above):
        return "(left out)"
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    if issubclass(kind, int):
        number = int.__index__(value)
        return number if number.bit_length() < MOST_BITS else f"({number.bit_length()} bits)"
    if issubclass(kind, dict):
        return {_text(key): _without_objects(item, (*above, value), left) for key, item in dict.items(value) if left[0] > 0}
    for container in (list, tuple, set):
        if issubclass(kind, container):
            return [_without_objects(item, (*above, value), left) for item in container.__iter__(value) if left[0] > 0]
    if kind in _MOMENTS:
        return value.isoformat()
    try:
        if hasattr(value, "model_dump"):
            return _without_objects(value.model_dump(exclude_none=True), (*above, value), left)
    except BaseException:  # the object's own code
        pass
    return f"({_type_name(value)})"


def _error_text(error: BaseException) -> str:
    return f"{_type_name(error)}: {_text(error)}"


def _text(value: Any) -> str:
    """Return `str(value)`; a note in its place if the object's code fails."""
    try:
        return str.__getitem__(str(value), slice(0, MOST_TEXT))
    except BaseException as error:  # the object's own code
        return f"<its str failed: {_type_name(error)}>"


def _type_name(value: Any) -> str:
    return str.__getitem__(type.__dict__["__name__"].__get__(type(value)), slice(0, 1000))


# Redaction
#
# No text may make a search slow, as it runs in the app: a pattern that repeats something without a limit either consumes what it read, or
# cannot begin again inside it. (Possessive repetitions need Python 3.11; this file needs 3.10.)

_KEY = (
    r"(?:api|access|account|private|signing|encryption|session|shared|master|license|secret|subscription|client|service|storage|ssh|hmac"
    r"|webhook)_?keys?"
)
_WORD = (
    rf"(?:pass_?(?:word|wd|phrase|code|key)|pwd|secret|{_KEY}|token|authorization|credentials?|cookie|otp|pin(?:_?code)?"
    r"|conn(?:ection)?_?str(?:ing)?)"
)
_PREFIX = r"(?:client|access|refresh|api|auth|id|bearer|session|user|db|database|my|aws|web|bot|root|admin|set|hash|private|proxy|csrf|x)"
_ENDING = r"(?:s|_?\d+|_?(?:value|hash|id|json|data|key|text))?$"
_SECRET_NAME = re.compile(rf"(?:^|_)(?:{_PREFIX}{{1,4}}_?)?{_WORD}{_ENDING}|^dsn$")
_PERHAPS_NAME = re.compile(rf"(?:^|_)(?:{_PREFIX}{{0,4}}signature|sig|{_PREFIX}{{0,4}}pass|auth|bearer|jwt|tokens|hmac){_ENDING}")
_COUNT_NAME = re.compile(r"(?:^|_)(?:max|min|num|total|prompt|cached|thoughts?|candidates|output|input)_(?:[a-z0-9]+_){0,3}tokens?$")
_HARMLESS_NAME = re.compile(r"(?:^|_)(?:page|continuation|sync|pad|eos|bos|unk|mask|sep|cls|stop)_?tokens?(?:_id)?$|^thought_signature$")
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[0-9])(?=[a-z])|[^A-Za-z0-9]+")
_LONGEST_NAME = 100  # characters of a field's name that tell what it holds: the last ones

_SHAPES = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|\bAIza[\w-]{30,}|\bya29\.[\w-]{10,}|\b1//[\w-]{20,}|\bGOCSPX-[\w-]{10,}"  # Google
    r"|\b(?:sk|rk|pk)[-_][\w-]{16,}"  # OpenAI, Anthropic, Stripe, OpenRouter
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bglptt-\w{16,}"
    r"|\bxox[abeoprs]-[\w-]{10,}|\bxapp-[\w-]{10,}|https://hooks\.slack\.com/services/\S+"
    r"|\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}"
    r"|\bhf_\w{20,}|\bnpm_\w{20,}|\bpypi-[\w-]{20,}|\bdop_v1_\w{20,}|\bdckr_pat_[\w-]{20,}|\bshp(?:at|ss|ca|pa)_\w{20,}"
    r"|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bkey-[0-9a-f]{32}\b|\bSK[0-9a-f]{32}\b|\bgsk_\w{20,}|\bnvapi-[\w-]{20,}|\br8_\w{20,}"
    r"|\bpplx-\w{20,}|\btvly-[\w-]{16,}|\blsv2_\w{20,}|\bxai-\w{20,}"
    r"|\b\d{8,10}:AA[\w-]{30,}",  # Telegram
    re.DOTALL,
)
_SHAPE_HINTS = (
    "PRIVATE KEY", "AIza", "ya29.", "1//", "GOCSPX-", "sk-", "sk_", "rk-", "rk_", "pk-", "pk_", "ghp_", "gho_", "ghu_", "ghs_",
    "ghr_", "github_pat_", "glpat-", "glptt-", "xox", "xapp-", "hooks.slack", "AKIA", "ASIA", "ABIA", "ACCA", "hf_", "npm_", "pypi-",
    "dop_v1_", "dckr_pat_", "shpat_", "shpss_", "shpca_", "shppa_", "SG.", "key-", "SK",
    "nvapi-", "r8_", "pplx-", "tvly-", "lsv2_", "xai-", ":AA",
)  # fmt: skip
_WORD_HINTS = (
    "pass", "pwd", "secret", "key", "token", "auth", "bearer", "basic", "digest", "credential", "cookie", "sig", "otp", "pin",
    "conn", "dsn", "jwt", "hmac", "curl",
)  # fmt: skip
_DOTTED = re.compile(r"(?<![\w-])[\w-]{11,}\.[\w-]{8,}(?:\.[\w-]*)*")  # a JWT, perhaps with something before it
_JWT = re.compile(r"\beyJ[\w-]{8}.*", re.DOTALL)
_ADDRESS = re.compile(r"://[^\s\"'<>`]+")
_PORT = re.compile(r"\d{1,5}(?:[/?#]|$)")
_WEB = re.compile(r"\b(?:https?|wss?|ftp|file)\Z", re.IGNORECASE)
_SCHEME = re.compile(r"(?P<keep>\b(?:bearer|basic|digest|token|apikey)\s+)(?=[\w\-.~+/]*[\d+/=_.-])[\w\-.~+/]{12,}=*", re.IGNORECASE)
_SPOKEN = re.compile(
    r"(?P<keep>\b(?:password|passphrase|passcode|pin|secret|api key|token)\s+(?:is|was)\s+[\"'`]?)"
    r"(?P<value>(?=[^\s\"'`]*\d)[^\s\"'`,;]{4,}?)(?=[.\"'`,;]?(?:\s|$))",
    re.IGNORECASE,
)
_CURL_USER = re.compile(r"(?P<keep>(?<=\s)(?:-u|--user)[\s=]{1,5}[\"']?[^\s:\"']{0,200}:)(?P<value>[^\s\"']{4,})")
_QUOTE = r"(?:\\u002[27]|[\"'`\\]|%22|%27|&quot;|&#3[49];)"
_NAMED = re.compile(
    # <password>, <add key="password" value=…>
    r"(?:<|&lt;|\\u003c)(?:[\w.-]{1,60}:)?(?P<tag>[\w.-]{1,100})(?=(?P<tag_end>(?:\s[^<>]{0,200})?(?:>|&gt;|\\u003e)))"
    r"|(?<![\w.-])(?P<option>--[\w-]+)\s+(?=[^\s-])"
    r"|(?<![\w.-])(?P<name>[\w.-]+)(?:"
    rf"{_QUOTE}*(?:\]|%5d)?\*{{0,2}}\s*(?:=>|:=|->|={{1,3}}|[:\u2192\uff1a\uff1d]|%3[ad]|\\u003d)"
    rf"|{_QUOTE}*(?:\s*,\s*|\s+){_QUOTE}*(?:string_?)?val(?:ue)?s?{_QUOTE}*\s*[:=]"
    r"|[\"']\r?\n\r?\n"  # a part of a form
    # these are as likely two texts side by side
    rf"|(?P<pair>{_QUOTE}+\s*,\s*(?:b(?=[\"']))?(?={_QUOTE})|</[\w.-]{{1,60}}>\s*<[\w.-]{{1,60}}>|\s*\|\s*|\s+(?=[\"'])))",
    re.IGNORECASE,
)
_KEPT_BEFORE = (
    rf"\*{{0,2}}\s*(?:[|>][+-]?\s+)?[\[(<]?(?:[bruf]{{1,2}}(?=[\"']))?(?P<quote>{_QUOTE}*)"
    r"(?:(?:bearer|basic|digest|token|negotiate)\s+)?"
)
_QUOTED = re.compile(rf"(?P<keep>{_KEPT_BEFORE})(?<=[\"'`])(?P<value>[^\"'`\\\r\n]{{4,}})(?=[\"'`\\])", re.IGNORECASE)
_PLAIN = re.compile(
    rf"(?P<keep>{_KEPT_BEFORE})(?P<value>(?:[a-z][a-z-]{{1,20}}[ ]+(?=[\w+/=.~-]{{16}}))?[^\s\"'`\\,;&<>)}}\]]{{4,}})", re.IGNORECASE
)
_COOKIE = r"(?:\"[^\"\r\n]*\"|[^;\r\n\"'\\]*)"
_COOKIES = re.compile(
    rf"(?P<keep>{_KEPT_BEFORE})(?P<value>[^\s=;,\"'\\]+={_COOKIE}(?:;[ \t]*[^\s=;\"'\\]+(?:={_COOKIE})?)*)", re.IGNORECASE
)
_IN_TAGS = re.compile(r"(?P<keep>(?:\s{0,40}<!\[CDATA\[)?)(?P<value>[^<&\\]+)(?=<|&lt;|\\)")
_NOT_RANDOM = re.compile(r"[^\d]*\Z|[^A-Za-z%]*\Z|.{0,7}\Z|.*[^\w+/=%.~:@!#$^*&;?-]", re.DOTALL)
_DATE = re.compile(
    r"\b(?:(?:19|20)\d\d[-/.][01]\d[-/.][0-3]\d(?:[T ][\d:.]{4,15}(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|[0-3]?\d[./][0-3]?\d[./](?:19|20)\d\d)(?![\w/.-]\w)"
)
_PROSE_WORD = re.compile(  # a word with the marks around it, initials, a short number, or marks alone; four consonants are no word
    r"(?!\W{0,3}[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{4,20}\W{0,3}\Z)[^\w=&%#@/\\+~]{0,3}"
    r"(?:[^\W\d_]?[^\W\d_A-Z]{0,20}|[A-Z]{1,5}|(?:[A-Z][a-z]{0,2}\.){1,4}|\d{1,4}(?:st|nd|rd|th|[.:]\d{1,2})?)(?:['’-][^\W\d_]?[^\W\d_A-Z]{0,20}){0,3}"
    r"[^\w=&%#@/\\+~]{0,3}\Z"
)
_SENTENCE = re.compile(r"[^\W\d_]?[^\W\d_A-Z]{0,12}[,;]? [^\W\d_]?[^\W\d_A-Z]{0,20}[,;]? \w")
_PUNCTUATION = re.compile(r"[,;:]\s|[.!?…]\s*\Z")
_MAY_BE_WORDS = re.compile(r"pass|pwd|secret|credential|mnemonic|(?:^|_)(?:pin|otp)")  # names of secrets that people make up
_MAY_BE_PHRASE = re.compile(r"key")
_CODE = re.compile(r"[A-Za-z_.]+[(\[][A-Za-z_.,|]*\Z|\$\{\w*\Z|\{\{")
_SECOND_WORDS = ("key", "keys", "string", "code", "id", "value")  # of a name that is written as two words
_LONGEST_JUDGED = 300  # characters of a value that tell whether it is a secret; a text has many values
_NAME_FIELDS = {"name", "key", "header", "header_name", "headername", "field", "variable"}
_VALUE_FIELDS = {"value", "values", "val", "header_value", "headervalue", "string_value", "stringvalue"}
_TEXTS = {
    "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/toml",
    "application/x-www-form-urlencoded", "application/x-sh", "application/sql",
}  # fmt: skip


def redacted(value: Any) -> Any:
    """Return a JSON value in which passwords, keys and tokens are replaced by `HIDDEN`.

    They are recognised by the names of their fields (`api_key`, `Authorization`), by their shapes (`sk-…`, `AIza…`, JWTs, PEM keys,
    passwords in URLs), and by what precedes them in a text (`password: …`). A secret with none of these is not recognised.

    Args:
        value: made of dicts, lists, strings, numbers, booleans and None.
    """
    if isinstance(value, str):
        return redacted_text(value)
    if isinstance(value, list):
        if value and all(isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) for item in value):
            return [[redacted_text(name), _of_field(name, item)] for name, item in value]  # headers, for example
        return [redacted(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("mime_type", value.get("mimeType"))
    named = next((item for key, item in value.items() if isinstance(item, str) and key.lower() in _NAME_FIELDS), None)
    clean: dict[str, Any] = {}
    for key, item in value.items():
        if key == "data" and isinstance(kind, str) and isinstance(item, str):
            clean[key] = _redacted_file(kind, item)
        elif named is not None and key.lower() in _VALUE_FIELDS:
            clean[redacted_text(key)] = _of_field(named, item)
        else:
            clean[_clean_name(key)] = _of_field(key, item)
    return clean


def _of_field(name: str, value: Any) -> Any:
    """Return the redacted value of a field."""
    if isinstance(value, bool) or value in (None, "", {}, []) or (isinstance(value, (int, float)) and _is_count(name)):
        return value
    is_certain = is_secret_name(name)
    return _hidden(value, name, perhaps=not is_certain) if is_certain or _is_perhaps_secret(name) else redacted(value)


@lru_cache(4_000)  # the same few names come again and again
def _clean_name(name: str) -> str:
    return redacted_text(name)


@lru_cache(4_000)
def _words(name: str) -> str:
    """Return the end of a name in lower case with its words joined by underscores, however it is spelt."""
    return _BORDER.sub("_", name[-_LONGEST_NAME:]).lower().strip("_")


@lru_cache(4_000)
def is_secret_name(name: str) -> bool:
    """Return whether a field of this name holds a secret."""
    words = _words(name)
    return bool(_SECRET_NAME.search(words)) and not (_HARMLESS_NAME.search(words) or _COUNT_NAME.search(words) or words == "tokens")


@lru_cache(4_000)
def _is_perhaps_secret(name: str) -> bool:
    """Return whether a field of this name may hold a secret, which its value tells: `signature` is a person's or a number."""
    words = _words(name)
    return bool(_PERHAPS_NAME.search(words)) and not _HARMLESS_NAME.search(words)


def _is_count(name: str) -> bool:
    return _words(name).endswith("tokens")


def _looks_random(text: str) -> bool:
    return not _NOT_RANDOM.match(_DATE.sub("", text))


def _is_prose(text: str, name: str) -> bool:
    """Return whether a text is words of people where a secret may be: `top hat` is a game's token, and no app's.

    Passwords may be words. What is named a secret or a key may be a phrase that restores a wallet, which has no punctuation.
    """
    words = _DATE.sub("", text).split()
    if _MAY_BE_WORDS.search(_words(name)):
        return False
    if not words:
        return True  # a date alone
    if len(words) < 2 or text.upper() == text.lower() or not all(map(_PROSE_WORD.match, words)):
        return False
    return bool(_PUNCTUATION.search(text)) or (len(words) < 12 and not _MAY_BE_PHRASE.search(_words(name)))


def _hidden(value: Any, name: str, *, perhaps: bool = False) -> Any:
    """Return a secret field's value with everything in it replaced, but not words of people, nor the JSON schema of such a field.

    Args:
        value: the value.
        name: the field's name.
        perhaps: whether only texts that look random are secrets.
    """
    if isinstance(value, dict):
        if "type" in value and not set(value) - _SCHEMA_WORDS:
            return redacted(value)
        return {_clean_name(key): _hidden(item, name, perhaps=perhaps) for key, item in value.items()}
    if isinstance(value, list):
        return [_hidden(item, name, perhaps=perhaps) for item in value]
    if perhaps and not (isinstance(value, str) and _looks_random(value)):
        return redacted(value)
    if isinstance(value, str) and (value.strip().lower() in _HARMLESS_VALUES or _is_prose(value, name)):
        return redacted(value)
    return value if isinstance(value, bool) or value is None else HIDDEN


def _redacted_file(kind: str, data: str) -> str:
    """Return the base64 of a file; if it is a text, of the redacted text."""
    kind = kind.partition(";")[0].strip().lower()
    is_text = kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))
    try:
        standard = "".join(data.split()).rstrip("=").replace("-", "+").replace("_", "/")
        content = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except ValueError:
        return redacted_text(data)
    if not is_text:
        return data
    try:
        text = content.decode()
    except ValueError:
        return redacted_text(data)
    clean = redacted_text(text)
    return data if clean == text else base64.urlsafe_b64encode(clean.encode()).decode()


_HARMLESS_VALUES = {
    "none", "null", "true", "false", "required", "string", "missing", "invalid", "unknown", "expired", "optional", "bearer", "basic",
    "undefined", "not set", "not available", "n/a",
}  # fmt: skip
_SCHEMA_WORDS = {
    "type", "title", "description", "format", "enum", "nullable", "items", "properties", "required", "default", "any_of", "anyOf",
    "example",
}  # fmt: skip


def redacted_text(text: str) -> str:
    """Return a text in which passwords, keys and tokens are replaced; see `redacted`."""
    if len(text) < 4:
        return text
    if "eyJ" in text:
        text = _DOTTED.sub(_redacted_jwt, text)
    if any(hint in text for hint in _SHAPE_HINTS):  # a search for fixed words takes a fiftieth of a pattern's time
        text = _SHAPES.sub(HIDDEN, text)
    if "://" in text and "@" in text:
        text = _ADDRESS.sub(_redacted_address, text)
    lowered = text.lower()
    if any(hint in lowered for hint in _WORD_HINTS):
        text = _redacted_objects(text)
        text = _SCHEME.sub(rf"\g<keep>{HIDDEN}", text)
        text = _SPOKEN.sub(_redacted_value, _redacted_fields(text))
        if "curl" in lowered:
            text = _CURL_USER.sub(_redacted_value, text)
    return text


_DECODER = json.JSONDecoder()
_OBJECT = re.compile(r"\{\s*\"")
_MOST_BROKEN = 20  # beginnings of JSON objects in a text that do not parse; after them, no more are tried


def _redacted_objects(text: str) -> str:
    """Return a text in which JSON objects are redacted by the names of their fields; one without secrets stays as it is written."""
    pieces, done, broken = [], 0, 0
    while broken < _MOST_BROKEN and (begin := _OBJECT.search(text, done)):
        try:
            value, end = _DECODER.raw_decode(text, begin.start())
            clean = redacted(value)
        except (ValueError, RecursionError):
            broken += 1
            pieces.append(text[done : begin.end()])
            done = begin.end()
            continue
        pieces.append(text[done : begin.start()])
        pieces.append(text[begin.start() : end] if clean == value else json.dumps(clean, ensure_ascii=False))
        done = end
    return "".join([*pieces, text[done:]])


def _redacted_jwt(match: re.Match[str]) -> str:
    return _JWT.sub(HIDDEN, match[0], count=1)


def _redacted_address(match: re.Match[str]) -> str:
    """Return an address without its password, which may have `@` and `/` in it: it ends at the last `@`."""
    text = match[0]
    last, begin = text.rfind("@"), 0
    while 0 <= begin < last:
        begin += 3
        colon = text.find(":", begin, last)
        if colon < 0:
            break
        before = match.string[max(0, match.start() - 8) : match.start()] + text[:begin][-12:]
        is_host = any(letter in text[begin:colon] for letter in "/?#") or (
            _PORT.match(text, colon + 1) and _WEB.search(before.removesuffix("://"))
        )
        if not is_host and colon + 1 < last:
            return f"{text[: colon + 1]}{HIDDEN}{text[last:]}"
        begin = text.find("://", begin)
    return text


def _redacted_fields(text: str) -> str:
    """Return a text in which the values after secret names are replaced: `password: …`, `<token>…`, `--api-key …`."""
    pieces, done = [], 0
    for found in _NAMED.finditer(text):
        if found.start() < done:
            continue
        value = _value_after(text, found)
        if value is not None:
            pieces += [text[done : value.start("value")], HIDDEN]
            done = value.end()
    return "".join([*pieces, text[done:]])


def _value_after(text: str, found: re.Match[str]) -> re.Match[str] | None:
    """Return a match whose group `value` is the secret after a name; None if there is none."""
    name = found["tag"] or found["option"] or found["name"]
    start = found.start()
    if text[max(0, start - 1) : start] == "%":  # the name follows an escape such as %26
        name = name[2:]
    is_secret = is_secret_name(name)
    if not is_secret and found["name"] and _words(name).endswith(_SECOND_WORDS):
        before = text[max(0, start - 40) : start]  # the name may be two words
        is_secret = before.endswith(" ") and is_secret_name(f"{before.splitlines()[-1].rstrip().rpartition(' ')[2]} {name}")
    if not is_secret and not _is_perhaps_secret(name) and not (name.lower() == "key" and text[start - 1 : start] in ("?", "&")):
        return None
    is_cookie = "cookie" in name.lower()
    if is_cookie and (value := _COOKIES.match(text, found.end())):
        return value
    searches: tuple[Any, ...]
    if found["tag"]:
        searches, begin, end = (_IN_TAGS.match,), found.end("tag_end"), len(text)
    else:
        searches, begin, end = (_QUOTED.match, _PLAIN.match), found.end(), found.end() + _LONGEST_JUDGED
    value = next(filter(None, (search(text, begin, end) for search in searches)), None)
    if value is None:
        return None
    is_certain = is_secret and not is_cookie and not _words(name).endswith("s")
    if not _is_secret_value(value["value"].strip(), value["keep"], found, is_certain=is_certain):
        return None
    return next(filter(None, (search(text, begin) for search in searches)))


def _is_secret_value(value: str, before: str, found: re.Match[str], *, is_certain: bool) -> bool:
    """Return whether a value is a secret, not a word of a sentence or of a program.

    Args:
        value: the value, or its beginning.
        before: what is between the name and the value.
        found: the name, as a match of `_NAMED`.
        is_certain: whether fields of this name hold nothing else than secrets.
    """
    if not value or value.startswith(HIDDEN[:5]) or value.lower() in _HARMLESS_VALUES or _CODE.match(value):
        return False
    if not is_certain:
        return _looks_random(value)
    if found["tag"]:
        return _has_digit(value) or (len(value) >= 8 and " " not in value)
    if found["pair"] or found["option"] or "\n" in before or "<" in before:
        return _has_digit(value) or "bearer" in before.lower()
    is_count = value.isdigit() and len(value) < 8 and (found["name"] or "").lower().endswith("token")
    rest = found.string[found.end() + len(before) : found.end() + len(before) + _LONGEST_JUDGED]
    is_sentence = found[0].endswith(":") and before.isspace() and _SENTENCE.match(rest) and not _MAY_BE_WORDS.search(_words(found["name"]))
    return not (is_count or is_sentence)


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def _redacted_value(match: re.Match[str]) -> str:
    value = match["value"]
    if value.startswith(HIDDEN[:5]) or value.lower() in _HARMLESS_VALUES:
        return match[0]
    return match["keep"] + HIDDEN
