"""Which results of tools are failures, for plugins that record calls."""

from __future__ import annotations

import inspect
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol
from weakref import WeakSet

from runtime.support.calling import is_async
from runtime.support.texts import text_of

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.tools.base_tool import BaseTool

_log = logging.getLogger(__name__)

_NO_MESSAGE = "tool_result_classifier classified the tool result as an error."


@dataclass(frozen=True)
class ToolResultClassification:
    """A classifier's answer about a tool's result.

    Attributes:
        status: `ERROR` records the call as a failed one, `OK` as a completed one.
        error_message: what is recorded of an `ERROR`; a fixed sentence if it is empty.

    Raises:
        ValueError: a field has another value.
    """

    status: Literal["OK", "ERROR"]
    error_message: str | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.status not in ("OK", "ERROR"):
            raise ValueError("status must be 'OK' or 'ERROR'.")
        if not isinstance(self.error_message, str | None):
            raise ValueError("error_message must be a str or None.")


class ToolResultClassifier(Protocol):
    """A function that tells a plugin whether a tool's result is a failure. It is synchronous and must not change its arguments."""

    def __call__(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> ToolResultClassification | None:
        """Return the classification; None leaves it to the usual rule: a dict whose `isError` is true is a failure."""


class ToolFailures:
    """The failures among a plugin's tool calls, each reported once.

    Raises:
        ValueError: it is asynchronous, no function, or does not take the arguments of a `ToolResultClassifier`.
    """

    def __init__(self, classifier: ToolResultClassifier | None) -> None:
        if classifier is not None:
            _check(classifier)
        self._classifier = classifier
        self._raised: WeakSet[ToolContext] = WeakSet()

    def note_raised(self, context: ToolContext) -> None:
        """Remember that a call's error is recorded. What another plugin answers in its place is no second failure."""
        self._raised.add(context)

    def take_raised(self, context: ToolContext) -> bool:
        """Return whether a call's error is recorded already, and forget it."""
        was_raised = context in self._raised
        self._raised.discard(context)
        return was_raised

    def error_in(self, tool: BaseTool, tool_args: dict[str, Any], context: ToolContext, result: Any) -> str | None:
        """Return the error that a tool's result reports, or None."""
        told: dict[str, Any] = result if isinstance(result, dict) else {}
        if self._classifier is not None:
            try:
                answer = self._classifier(tool=tool, tool_args=tool_args, tool_context=context, result=result)
                if answer is not None:
                    return (answer.error_message or _NO_MESSAGE) if answer.status == "ERROR" else None
            except Exception as error:  # its text may contain the result
                _log.warning("The tool_result_classifier failed for a result of %s: %s.", tool.name, type(error).__name__)
        if told.get("isError") is True or told.get("is_error") is True:
            return "The tool's result has isError."
        return None


def _check(classifier: ToolResultClassifier) -> None:
    if not callable(classifier) or is_async(classifier):
        raise ValueError("tool_result_classifier must be a plain function, not an async one: its answer is not awaited.")
    try:
        inspect.signature(classifier).bind(tool=None, tool_args=None, tool_context=None, result=None)
    except TypeError as error:
        raise ValueError(
            "tool_result_classifier must take the keyword arguments tool, tool_args, tool_context and result: "
            f"{text_of(error).removesuffix('.')}."
        ) from error
