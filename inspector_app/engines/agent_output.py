"""What an agent's code writes, with the call during which it wrote it.

An agent in this process is captured here: `captured` watches `sys.stdout`, `sys.stderr` and `logging` during a run, and `OutputSources`, a
plugin, keeps in a context variable which agent and tool is running. In a child process, `adk_worker` does the same.
"""

from __future__ import annotations

import contextvars
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from runtime.plugins.base_plugin import BasePlugin
from runtime.support.lazy import lazy_module
from runtime.support.texts import TerminatedError, text_of, type_name

if TYPE_CHECKING:
    from inspector_app.engines import tracebacks
    from runtime.agents.base_agent import BaseAgent
    from runtime.contexts.context import CallbackContext, ToolContext
    from runtime.models.llm_request import LlmRequest
    from runtime.models.llm_response import LlmResponse
    from runtime.tools.base_tool import BaseTool
else:
    tracebacks = lazy_module("inspector_app.engines.tracebacks")

Stream = Literal["stdout", "stderr", "logging", "traceback"]

MAX_LINE = 10_000  # characters of one line that are kept
MAX_LINES_A_SECOND = 2_000  # lines of output; more are counted and dropped

_OUR_LOGGERS = ("runtime", "inspector_app", "sqlalchemy", "asyncio", "qasync")


@dataclass(frozen=True, slots=True)
class OutputSource:
    """What was running when something was written.

    Attributes:
        agent: the agent's name; empty if none ran.
        branch: its branch, if any.
        call_id: the id of the function call whose tool ran, if any.
        tool: the tool's name; empty if none ran.
    """

    agent: str = ""
    branch: str | None = None
    call_id: str | None = None
    tool: str = ""

    def __str__(self) -> str:
        return self.tool or self.agent


@dataclass(frozen=True, slots=True)
class OutputLine:
    """A line that an agent's code has written; of a traceback or a log record, all its lines.

    Attributes:
        stream: where it was written.
        text: without the end of the line.
        source: what was running; None if that is not known, as while the agent is loaded.
        time: epoch seconds.
    """

    stream: Stream
    text: str
    source: OutputSource | None = None
    time: float = field(default_factory=time.time)


OnOutput = Callable[[OutputLine], None]
"""Called with each line; on the thread that wrote it."""

_sources: contextvars.ContextVar[tuple[OutputSource, ...]] = contextvars.ContextVar("output_sources", default=())


def source_from_child(given: Any) -> OutputSource | None:
    """Return the source that a child process describes; None if it describes none."""
    if not isinstance(given, dict):
        return None
    branch, call_id = given.get("branch"), given.get("call_id")
    return OutputSource(str(given.get("agent") or ""), branch and str(branch), call_id and str(call_id), str(given.get("tool") or ""))


def current_source() -> OutputSource | None:
    """Return what is running in the present context, of an agent in this process."""
    sources = _sources.get()
    return sources[-1] if sources else None


class OutputSources(BasePlugin):
    """Records which agent and tool is running, and reports the tracebacks of tools and models that fail."""

    def __init__(self, on_output: OnOutput, folder: Path) -> None:
        super().__init__("inspector_output")
        self._on_output = on_output
        self._folder = folder

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> None:
        """See `BasePlugin`."""
        sources = _sources.get()
        call = next((source for source in reversed(sources) if source.call_id is not None), None)
        branch = callback_context._invocation_context.branch
        _sources.set((*sources, call or OutputSource(agent.name, branch)))  # an agent in a tool writes for the tool

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> None:
        """See `BasePlugin`."""
        _sources.set(_sources.get()[:-1])

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> None:
        """See `BasePlugin`."""
        ctx = tool_context._invocation_context
        sources = _sources.get()
        if not sources or sources[-1].call_id is None:
            _sources.set((*sources, OutputSource(ctx.agent.name, ctx.branch, tool_context.function_call_id, tool.name)))

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> None:
        """See `BasePlugin`."""
        self._leave_call(tool_context)

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> None:
        """See `BasePlugin`."""
        if isinstance(error, Exception):  # not a cancellation
            self._report(error, OutputSource(tool_context.agent_name, None, tool_context.function_call_id, tool.name))
        self._leave_call(tool_context)

    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """See `BasePlugin`."""
        self._report(error, OutputSource(callback_context.agent_name, callback_context._invocation_context.branch))
        return None

    def _leave_call(self, tool_context: ToolContext) -> None:
        sources = _sources.get()
        if sources and sources[-1].call_id == tool_context.function_call_id:
            _sources.set(sources[:-1])

    def _report(self, error: Exception, default: OutputSource) -> None:
        self._on_output(OutputLine("traceback", tracebacks.traceback_of(error, self._folder).rstrip(), current_source() or default))


class _Watched:
    """A text stream that also reports the lines that an agent's code writes."""

    def __init__(self, stream: TextIO, name: Stream, on_output: OnOutput) -> None:
        self._stream = stream
        self._name = name
        self._on_output = on_output
        self._unfinished: dict[OutputSource, str] = {}
        self._second = 0
        self._lines = 0
        self._dropped = 0

    def write(self, text: str) -> int:
        """Write, and report whole lines."""
        source = current_source()
        if source is not None:
            *lines, rest = (self._unfinished.pop(source, "") + text).split("\n")
            for line in lines:
                self._report(line, source)
            if rest:
                self._unfinished[source] = rest[:MAX_LINE]
        return self._stream.write(text)

    def _report(self, line: str, source: OutputSource) -> None:
        now = int(time.monotonic())
        if now != self._second:
            self._second, self._lines = now, 0
            self._report_dropped()
        self._lines += 1
        if self._lines > MAX_LINES_A_SECOND:
            self._dropped += 1
        else:
            self._on_output(OutputLine(self._name, line[:MAX_LINE], source))

    def _report_dropped(self) -> None:
        if self._dropped:
            text = f"({self._dropped:,} lines are not shown: the agent writes more than {MAX_LINES_A_SECOND:,} a second.)"
            self._dropped = 0
            self._on_output(OutputLine(self._name, text, current_source()))

    def finish(self) -> None:
        """Report lines that have no end, and how many were dropped."""
        self._report_dropped()
        for source, rest in self._unfinished.items():
            self._on_output(OutputLine(self._name, rest, source))
        self._unfinished.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def message_of(record: logging.LogRecord) -> str:
    """Return a log record's message; its format alone if the code of an argument fails."""
    try:
        return text_of(record.getMessage())
    except TerminatedError:
        raise
    except BaseException as error:  # the argument's own code
        return f"{text_of(record.msg)} (its arguments cannot be shown: {type_name(error)})"


class _Records(logging.Handler):
    """Reports the log records of an agent's code."""

    def __init__(self, on_output: OnOutput, folder: Path) -> None:
        super().__init__()
        self._on_output = on_output
        self._folder = folder

    def emit(self, record: logging.LogRecord) -> None:
        """Report a record, with its traceback."""
        source = current_source()
        if source is None or not is_agents_record(record):
            return
        text = f"{record.levelname} {record.name}: {message_of(record)}"
        if record.exc_info and record.exc_info[1] is not None:
            text = f"{text}\n{tracebacks.traceback_of(record.exc_info[1], self._folder).rstrip()}"
        self._on_output(OutputLine("logging", text, source))


def is_agents_record(record: logging.LogRecord) -> bool:
    """Return whether a log record comes from an agent in this process: it was made while one ran, and by none of our modules."""
    return current_source() is not None and record.name.split(".")[0] not in _OUR_LOGGERS


@contextmanager
def captured(on_output: OnOutput, folder: Path) -> Iterator[None]:
    """Report what the agents of this process write meanwhile, beside writing it."""
    streams: dict[str, _Watched] = {}
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None:
            streams[name] = _Watched(stream, name, on_output)
            setattr(sys, name, streams[name])
    records = _Records(on_output, folder)
    logging.getLogger().addHandler(records)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(records)
        for name, watched in streams.items():
            watched.finish()
            if getattr(sys, name) is watched:
                setattr(sys, name, watched._stream)
