"""The base class of planners."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from google.genai import types

if TYPE_CHECKING:
    from runtime.contexts.context import CallbackContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.models.llm_request import LlmRequest


class BasePlanner(abc.ABC):
    """Tells a model how to plan, and processes the plans in its answers."""

    @abc.abstractmethod
    def build_planning_instruction(self, readonly_context: ReadonlyContext, llm_request: LlmRequest) -> str | None:
        """Return the text to append to the system instruction, if any.

        Args:
            readonly_context: the invocation.
            llm_request: the request to be sent; may be changed in place.
        """

    @abc.abstractmethod
    def process_planning_response(self, callback_context: CallbackContext, response_parts: list[types.Part]) -> list[types.Part] | None:
        """Return the parts that replace the answer's; None keeps the answer unchanged.

        Args:
            callback_context: the invocation; writes are committed with the answer.
            response_parts: the parts of a complete answer.
        """
