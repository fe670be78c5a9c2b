"""A plugin that reports tool errors to the model, so that it can retry."""

from __future__ import annotations

import json
from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING, Any

from runtime.plugins.base_plugin import BasePlugin
from runtime.support.json_value import as_json
from runtime.support.texts import text_of

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.tools.base_tool import BaseTool

REFLECT_AND_RETRY_RESPONSE_TYPE = "ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN"
GLOBAL_SCOPE_KEY = "__global_reflect_and_retry_scope__"


class TrackingScope(Enum):
    """The scope in which consecutive failures are counted."""

    INVOCATION = "invocation"
    GLOBAL = "global"


class ToolError(Exception):
    """Raised for a tool result that is considered a failure."""


class ReflectAndRetryToolPlugin(BasePlugin):
    """Answers a failed call with a description of the error, so that the model can retry a limited number of times.

    Args:
        name: unique among an app's plugins.
        max_retries: number of retries after consecutive failures of a tool; 0 allows none.
        throw_exception_if_retry_exceeded: fail the run when the retries are used up; otherwise tell the model to do without the tool.
        tracking_scope: count failures per invocation or globally.

    Raises:
        ValueError: `max_retries` is below 0.
    """

    def __init__(
        self,
        name: str = "reflect_retry_tool_plugin",
        max_retries: int = 3,
        throw_exception_if_retry_exceeded: bool = True,
        tracking_scope: TrackingScope = TrackingScope.INVOCATION,
    ) -> None:
        super().__init__(name)
        if max_retries < 0:
            raise ValueError("max_retries must be 0 or more.")
        self.max_retries = max_retries
        self.throw_exception_if_retry_exceeded = throw_exception_if_retry_exceeded
        self.scope = tracking_scope
        self._failures: Counter[tuple[str, str]] = Counter()

    async def extract_error_from_result(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any) -> Any:
        """Return the error in a result, or None. Override this for tools that return their errors."""
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Reset the count after a success."""
        if isinstance(result, dict) and result.get("response_type") == REFLECT_AND_RETRY_RESPONSE_TYPE:
            return None
        problem = await self.extract_error_from_result(tool=tool, tool_args=tool_args, tool_context=tool_context, result=result)
        if problem is None:
            self._failures.pop(self._key(tool, tool_context), None)
            return None
        return self._answer(tool, tool_args, tool_context, problem if isinstance(problem, Exception) else ToolError(text_of(problem)))

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        """Report the tool's error to the model."""
        if not isinstance(error, Exception):
            return None  # a cancellation
        return self._answer(tool, tool_args, tool_context, error)

    def _get_scope_key(self, tool_context: ToolContext) -> str:
        """Return the scope in which failures are counted. Override this to count per user or session, for example."""
        return GLOBAL_SCOPE_KEY if self.scope is TrackingScope.GLOBAL else tool_context.invocation_id

    def _key(self, tool: BaseTool, context: ToolContext) -> tuple[str, str]:
        return (self._get_scope_key(context), tool.name)

    def _answer(self, tool: BaseTool, arguments: dict[str, Any], context: ToolContext, error: Exception) -> dict[str, Any]:
        key = self._key(tool, context)
        self._failures[key] += 1
        count = self._failures[key]
        said = f"{type(error).__name__}: {text_of(error)}".removesuffix(".")
        if count > self.max_retries:
            if self.throw_exception_if_retry_exceeded:
                raise error
            advice = (
                f"The error was {said}. For this tool the retry limit has been exceeded. Do not attempt to use the"
                f" tool {tool.name} again for this. Find another way, or say what could not be done."
            )
        else:
            given = json.dumps(as_json(arguments), ensure_ascii=False)
            advice = (
                f"The error was {said}. This was failure {count} of at most {self.max_retries} that may be"
                f" followed by another call. The arguments were {given}. Look at the error before you call again. Wrong Function Name: is"
                " there such a tool? Wrong arguments: are names, types and values right? Wrong moment: is something needed first?"
            )
        return {
            "response_type": REFLECT_AND_RETRY_RESPONSE_TYPE,
            "error_type": type(error).__name__,
            "error_details": text_of(error),
            "retry_count": min(count, self.max_retries),
            "reflection_guidance": f"{tool.name} failed. {advice}",
        }

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Remove the counts of a finished invocation."""
        for key in [key for key in self._failures if key[0] == invocation_context.invocation_id]:
            del self._failures[key]
