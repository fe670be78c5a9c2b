"""Records what an app asks its models, and when: copy this file beside the app and add `RecorderPlugin("run.rec.db")` to its plugins.

It needs the standard library and google-adk only. Agent Inspector opens the recording while the app runs or later; the file beside a
database `NAME.db` is `NAME.rec.db`. Each distinct text, tool declaration and setting is stored once. A request is a list of references to
them, so a recording grows with the conversation, not with its square.

Passwords, keys and tokens are replaced before anything is written. Writing happens on a thread of its own. A recording that cannot be
written is reported once in the log, and the app continues.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import logging
import os
import queue
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

try:
    if "runtime.plugins.base_plugin" in sys.modules and "google.adk" not in sys.modules:
        raise ImportError("an app on Agent Inspector's runtime, where google-adk may be installed all the same")
    from google.adk.plugins.base_plugin import BasePlugin
except ImportError:
    from runtime.plugins.base_plugin import BasePlugin

FORMAT = 1  # of the tables; raised when a column changes its meaning
MOST_WAITING = 10_000  # records in memory; a disk that is slower than the app loses the newest, and the recording says how many
MOST_CHUNKS = 2_000  # times of pieces kept for a streamed answer
MOST_PARTS = 200_000  # references by content kept in memory, 100 bytes each; older content would be stored a second time
BATCH_SECONDS = 0.1  # that a record may wait for others: a transaction costs more than a hundred records
IDLE_SECONDS = 5.0  # without a record, after which the thread ends and the file is closed
CLOSE_SECONDS = 5.0  # that the end of the process waits for the disk
HIDDEN = "(redacted)"

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
"""

_log = logging.getLogger(__name__)


@dataclass
class ModelCall:
    """A model call that is being recorded.

    Attributes:
        session: app name, user id and session id.
        invocation_id, branch, agent: where the call was made.
        request: the `LlmRequest`. Callbacks may change it until the model gets it, so it is read when the answer begins.
        started: seconds since 1970.
        first: seconds from the start to the first piece of the answer.
        ended: seconds from the start to the end of the answer, or to the error.
        chunks: seconds from the start to each piece of a streamed answer.
        response: the last complete `LlmResponse`.
        error: type and message of the error.
        event_id: the event that the answer became.
    """

    session: tuple[str, str, str]
    invocation_id: str
    branch: str | None
    agent: str
    request: Any
    started: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.perf_counter)
    first: float | None = None
    ended: float | None = None
    chunks: list[float] = field(default_factory=list)
    response: Any = None
    error: str | None = None
    event_id: str | None = None
    model: str | None = None
    contents: tuple[Any, ...] = ()
    config: Any = None

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.clock

    def read_request(self) -> None:
        """Keep what the model was asked; later changes of the request's lists are not seen."""
        self.model, self.contents, self.config = self.request.model, tuple(self.request.contents), self.request.config
        self.request = None


@dataclass
class ToolCall:
    """A tool call that is being recorded; the attributes are those of `ModelCall`."""

    session: tuple[str, str, str]
    invocation_id: str
    branch: str | None
    agent: str
    tool: str
    call_id: str | None
    started: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.perf_counter)
    ended: float | None = None
    error: str | None = None


class RecorderPlugin(BasePlugin):
    """Records model requests, answers, their times, and the times of tool calls.

    Args:
        file: the recording; created if missing, with access for its owner only. An existing recording is continued.
        name: the plugin's name.
        temp_values: whether the values of `temp:` keys that events set are recorded too. They may be secret, and no database stores them.
    """

    def __init__(self, file: str | Path = "run.rec.db", *, name: str = "inspector_recorder", temp_values: bool = False) -> None:
        super().__init__(name=name)
        self.recording = Recording(file)
        self._temp_values = temp_values
        self._models: dict[tuple[str, str, str | None], ModelCall] = {}
        self._tools: dict[tuple[str, str | None], ToolCall] = {}

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Note the request and the time."""
        context = callback_context._invocation_context
        key = _key(callback_context)
        self._finish(self._models.pop(key, None))
        self._models[key] = ModelCall(_session(context), context.invocation_id, context.branch, callback_context.agent_name, llm_request)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Note the time of a piece of the answer, or of all of it."""
        call = self._models.get(_key(callback_context))
        if call is None:
            return
        seconds = call.seconds
        if call.first is None:
            call.first = seconds
            call.read_request()
        if llm_response.partial:
            if len(call.chunks) < MOST_CHUNKS:
                call.chunks.append(seconds)
            return
        call.response, call.ended = llm_response, seconds

    async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception) -> None:
        """Record a call that failed."""
        call = self._models.pop(_key(callback_context), None)
        if call is not None:
            call.ended, call.error = call.seconds, f"{type(error).__name__}: {error}"
            self._finish(call)

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        """Record a call whose answer became an event."""
        if event.partial:
            return
        if self._temp_values:
            self._note_temp_values(event)
        if event.get_function_responses():
            return
        call = self._models.pop((event.invocation_id or invocation_context.invocation_id, event.author, event.branch), None)
        if call is not None:
            call.event_id = event.id
            call.response = call.response if call.response is not None else event
            self._finish(call)

    def _note_temp_values(self, event: Any) -> None:
        values = {key: value for key, value in (event.actions.state_delta or {}).items() if str(key).startswith("temp:")}
        if values:
            self.recording.add_temp_values(event.id, values)

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        """Note the time."""
        context = tool_context._invocation_context
        key = (context.invocation_id, tool_context.function_call_id)
        agent = getattr(tool_context, "agent_name", None) or context.agent.name
        self._tools[key] = ToolCall(_session(context), context.invocation_id, context.branch, agent, tool.name, key[1])

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> None:
        """Record a call that returned."""
        self._finish_tool(tool_context, None)

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception) -> None:
        """Record a call that raised."""
        self._finish_tool(tool_context, error)

    def _finish_tool(self, tool_context: Any, error: Exception | None) -> None:
        call = self._tools.pop((tool_context._invocation_context.invocation_id, tool_context.function_call_id), None)
        if call is not None:
            call.ended = time.perf_counter() - call.clock
            call.error = None if error is None else f"{type(error).__name__}: {error}"
            self.recording.add_tool_call(call)

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Record the calls of the run that no event answered."""
        self._finish_all(invocation_context.invocation_id)

    async def close(self) -> None:
        """Record the calls that were not answered, and wait for the disk."""
        self._finish_all(None)
        self.recording.close()

    def _finish_all(self, invocation_id: str | None) -> None:
        for key in [key for key in self._models if invocation_id in (None, key[0])]:
            self._finish(self._models.pop(key))
        for key in [key for key in self._tools if invocation_id in (None, key[0])]:
            self.recording.add_tool_call(self._tools.pop(key))

    def _finish(self, call: ModelCall | None) -> None:
        if call is not None:
            if call.request is not None:
                call.read_request()
            self.recording.add_model_call(call)


def _key(callback_context: Any) -> tuple[str, str, str | None]:
    context = callback_context._invocation_context
    return context.invocation_id, callback_context.agent_name, context.branch


def _session(context: Any) -> tuple[str, str, str]:
    session = context.session
    return session.app_name, session.user_id, session.id


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
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._dropped = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        # The rest is used on the thread alone.
        self._database: sqlite3.Connection | None = None
        self._parts: dict[bytes, int] = {}
        self._last: dict[tuple[Any, ...], tuple[int, list[int]]] = {}

    def add_model_call(self, call: ModelCall) -> None:
        """Write a call, which must not be changed any more."""
        self._put(lambda: self._write_model_call(call))

    def add_tool_call(self, call: ToolCall) -> None:
        """Write a call, which must not be changed any more."""
        error = None if call.error is None else redacted_text(call.error)
        values = (*call.session, call.invocation_id, call.branch, call.agent, call.tool, call.call_id, call.started, call.ended, error)
        self._put(lambda: self._insert("inspector_tool_calls", (None, *values)))

    def add_temp_values(self, event_id: str, values: dict[str, Any]) -> None:
        """Write the `temp:` values that an event set. Values that JSON cannot express are written as the name of their type."""
        text = json.dumps(redacted(_plain(values)))
        self._put(lambda: self._insert("inspector_temp_values", (event_id, text)))

    def close(self) -> None:
        """Write what is waiting and close the file; the next call opens it again. Waits for at most `CLOSE_SECONDS`."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._closing.set()
                self._waiting.put(None)
        if thread is not None:
            thread.join(CLOSE_SECONDS)
            atexit.unregister(self.close)

    def _put(self, job: Callable[[], None]) -> None:
        if self._waiting.qsize() >= MOST_WAITING:
            self._dropped += 1
            return
        with self._lock:
            if self._thread is None:
                self._closing.clear()
                self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
                self._thread.start()
                atexit.register(self.close)
            self._waiting.put(job)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            self._closing.wait(BATCH_SECONDS)
            try:
                if self.problem is None:
                    self._write(job)
            except Exception as error:
                self.problem = f"{self._file} cannot be written: {error}. Nothing more is recorded."
                _log.warning("%s", self.problem)

    def _next(self) -> Callable[[], None] | None:
        """Return the next job. At the end, or if there is none for long, close the file and return None."""
        try:
            job = self._waiting.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            job = None
        with self._lock:
            if job is None and not self._waiting.empty():  # given in the meantime
                job = self._waiting.get()
            if job is None:
                database, self._database = self._database, None
                if database is not None:
                    database.close()
                if self._thread is threading.current_thread():
                    self._thread = None
                    atexit.unregister(self.close)
        return job

    def _write(self, job: Callable[[], None]) -> None:
        """Run a job and all that are waiting after it, in one transaction."""
        if self._database is None:
            self._database = self._open()
        with self._database:
            while True:
                job()
                if self._waiting.empty():
                    return
                following = self._waiting.get()
                if following is None:
                    self._waiting.put(None)
                    return
                job = following

    def _open(self) -> sqlite3.Connection:
        os.close(os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(self._file, timeout=CLOSE_SECONDS, check_same_thread=False)
        database.executescript(_TABLES)
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("INSERT OR IGNORE INTO inspector_recording VALUES ('format', ?)", (str(FORMAT),))
        database.commit()
        (found,) = database.execute("SELECT value FROM inspector_recording WHERE key = 'format'").fetchone()
        if found != str(FORMAT):
            raise ValueError(f"it is a recording of format {found}, and this plugin writes format {FORMAT}; name another file")
        (newest,) = database.execute("SELECT coalesce(max(id), 0) FROM inspector_parts").fetchone()
        if newest < max(self._parts.values(), default=0):  # the file was deleted since it was closed
            self._parts.clear()
            self._last.clear()
        return database

    def _insert(self, table: str, values: tuple[Any, ...]) -> int:
        assert self._database is not None
        marks = ", ".join("?" * len(values))
        return int(self._database.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", values).lastrowid or 0)

    def _write_model_call(self, call: ModelCall) -> None:
        contents = [self._part(content) for content in call.contents]
        scope = (*call.session, call.agent, call.branch)
        base, before = self._last.get(scope, (None, []))
        kept = 0
        while kept < min(len(before), len(contents)) and before[kept] == contents[kept]:
            kept += 1
        numbers = (
            *call.session, call.invocation_id, call.branch, call.agent, call.model, call.event_id, call.started, call.first, call.ended,
            json.dumps([round(seconds, 4) for seconds in call.chunks]) if call.chunks else None,
            None if call.error is None else redacted_text(call.error),
            base if kept else None, kept, json.dumps(contents[kept:]),
            None if call.config is None else self._part(call.config),
            None if call.response is None or call.response.content is None else self._part(call.response.content),
            None if call.response is None else _answered(call.response),
            self._dropped,
        )  # fmt: skip
        self._last[scope] = (self._insert("inspector_model_calls", (None, *numbers)), contents)

    def _part(self, value: Any) -> int:
        """Return the number under which a value is stored, and store it if it is new."""
        text = value if isinstance(value, str) else _json(value)
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        number = self._parts.get(digest)
        if number is None:
            if len(self._parts) >= MOST_PARTS:
                self._parts.clear()
            clean = json.dumps(redacted(json.loads(text)), ensure_ascii=False, separators=(",", ":"))
            number = self._parts[digest] = self._insert("inspector_parts", (None, clean.encode("utf-8", "replace").decode()))
        return number


def _answered(response: Any) -> str:
    """Return the JSON of what is known of an answer besides its content: tokens, the model's version, why it ended, errors."""
    fields = ("usage_metadata", "finish_reason", "error_code", "error_message", "model_version", "grounding_metadata")
    known = {name for name in fields if getattr(response, name, None) is not None}
    return json.dumps(redacted(json.loads(response.model_dump_json(include=known, exclude_none=True))))


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
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return _plain(value.model_dump(exclude_none=True))
    return f"({type(value).__name__})"


# Redaction

_KEY = r"(?:api|access|account|private|signing|encryption|session|shared|master|license)[_\-. ]?key"
_WORD = (
    rf"(?:pass(?:word|wd|phrase|code)?|pwd|secret|{_KEY}|token|authorization|credentials?|cookie|signature|otp|pin(?:[_\-. ]?code)?"
    r"|connection[_\-. ]?string)"
)
_PREFIX = r"(?:client|access|refresh|api|auth|id|bearer|session|user|db|database|my|aws|web|bot|root|admin|set|hash|private|proxy|csrf|x)"
_SECRET_NAME = re.compile(rf"(?:^|[_\-. ]|^{_PREFIX}+){_WORD}(?:s|\d+|[_\-. ]?(?:value|hash|id|json|data|key))?$|^dsn$", re.IGNORECASE)
_HARMLESS_NAME = re.compile(
    r"(?:count|counts|limit|budget|type|types|url|uri|name|endpoint|expiry|expires\w*|length|details|usage|policy)$"
    r"|^(?:max|min|num|total|prompt|cached|thoughts?|candidates|output|input)_?\w*tokens?\w*$|^(?:next|prev\w*)_?page_?token$"
    r"|^passe?[sd]?$|^tokens$|^passenger",
    re.IGNORECASE,
)
_SHAPES = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*"  # JWT
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
    "PRIVATE KEY", "eyJ", "AIza", "ya29.", "1//", "GOCSPX-", "sk-", "sk_", "rk-", "rk_", "pk-", "pk_", "ghp_", "gho_", "ghu_", "ghs_",
    "ghr_", "github_pat_", "glpat-", "glptt-", "xox", "xapp-", "hooks.slack", "AKIA", "ASIA", "ABIA", "ACCA", "hf_", "npm_", "pypi-",
    "dop_v1_", "dckr_pat_", "shpat_", "shpss_", "shpca_", "shppa_", "SG.", "key-", "SK",
    "nvapi-", "r8_", "pplx-", "tvly-", "lsv2_", "xai-", ":AA",
)  # fmt: skip
_WORD_HINTS = (
    "pass", "pwd", "secret", "key", "token", "auth", "bearer", "basic", "digest", "credential", "cookie", "signature", "otp", "pin",
    "connection",
)  # fmt: skip
_USER_INFO = re.compile(r"(?P<keep>\b[a-z][\w+.-]{0,30}://[^\s/:@\"']{0,200}:)[^\s/@\"']+(?=@)", re.IGNORECASE)
_SCHEME = re.compile(r"(?P<keep>\b(?:bearer|basic|digest|token|apikey)\s+)(?=[\w\-.~+/]*[\d+/=_.-])[\w\-.~+/]{12,}=*", re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"(?P<keep>(?:(?<![a-z])|(?<![a-z]){_PREFIX}{{1,3}}){_WORD}(?:_\w{{1,40}}|\d{{1,10}})?(?![a-z])"
    r"[\"'\\]*\s*(?:=>|:=|==?|:)\s*(?:(?:bearer|basic)\s+)?[\"'\\]*)"
    r"(?P<value>[^\s\"'\\,;&<>)}\]]{4,})",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"(?P<keep>\b(?:password|passphrase|passcode|pin|secret|api key|token)\s+(?:is|was)\s+[\"'`]?)"
    r"(?P<value>(?=[^\s\"'`]*\d)[^\s\"'`,;]{4,}?)(?=[.\"'`,;]?(?:\s|$))",
    re.IGNORECASE,
)


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
        return [redacted(item) for item in value]
    if not isinstance(value, dict):
        return value
    binary = "mime_type" in value
    clean: dict[str, Any] = {}
    for key, item in value.items():
        if binary and key == "data":
            clean[key] = item
        elif is_secret_name(key) and not isinstance(item, bool) and item not in (None, "", {}, []):
            clean[redacted_text(key)] = _hidden(item)
        else:
            clean[redacted_text(key)] = redacted(item)
    return clean


def is_secret_name(name: str) -> bool:
    """Return whether a field of this name holds a secret."""
    return bool(_SECRET_NAME.search(name)) and not _HARMLESS_NAME.search(name)


def _hidden(value: Any) -> Any:
    """Return a secret field's value with everything in it replaced; a JSON schema of such a field is kept."""
    if isinstance(value, dict):
        if "type" in value and not set(value) - _SCHEMA_WORDS:
            return redacted(value)
        return {key: _hidden(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_hidden(item) for item in value]
    return value if isinstance(value, bool) or value is None else HIDDEN


_HARMLESS_VALUES = {"none", "null", "true", "false", "required", "string", "missing", "invalid", "unknown", "expired", "optional"}
_SCHEMA_WORDS = {
    "type", "title", "description", "format", "enum", "nullable", "items", "properties", "required", "default", "any_of", "anyOf",
    "example",
}  # fmt: skip


def redacted_text(text: str) -> str:
    """Return a text in which passwords, keys and tokens are replaced; see `redacted`."""
    if len(text) < 4:
        return text
    if any(hint in text for hint in _SHAPE_HINTS):  # a search for fixed words takes a fiftieth of a pattern's time
        text = _SHAPES.sub(HIDDEN, text)
    if "://" in text:
        text = _USER_INFO.sub(rf"\g<keep>{HIDDEN}", text)
    lowered = text.lower()
    if any(hint in lowered for hint in _WORD_HINTS):
        text = _SCHEME.sub(rf"\g<keep>{HIDDEN}", text)
        text = _SPOKEN.sub(_redacted_value, _ASSIGNED.sub(_redacted_value, text))
    return text


def _redacted_value(match: re.Match[str]) -> str:
    value = match["value"]
    if value.startswith(HIDDEN[:5]) or value.lower() in _HARMLESS_VALUES:
        return match[0]
    return match["keep"] + HIDDEN
