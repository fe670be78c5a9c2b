"""What a planner does."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from google.genai import types

if TYPE_CHECKING:
    from runtime.contexts.callback_context import CallbackContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.models.llm_request import LlmRequest


class BasePlanner(abc.ABC):
    """Tells the model how to plan, and reads what it planned."""

    @abc.abstractmethod
    def build_planning_instruction(self, readonly_context: ReadonlyContext, llm_request: LlmRequest) -> str | None:
        """Return what to add to the system instruction, if anything.

        Args:
            readonly_context: the invocation.
            llm_request: about to be sent; may be changed.
        """

    @abc.abstractmethod
    def process_planning_response(self, callback_context: CallbackContext, response_parts: list[types.Part]) -> list[types.Part] | None:
        """Return the parts of an answer as they are to be kept; None leaves them as they are.

        Args:
            callback_context: the invocation; its writes go with the answer.
            response_parts: of a whole answer.
        """
