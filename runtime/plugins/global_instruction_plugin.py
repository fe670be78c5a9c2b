"""A plugin with an instruction for all agents of an app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from google.genai import types

from runtime.plugins.base_plugin import BasePlugin
from runtime.support.calling import call
from runtime.utils.instructions_utils import inject_session_state

if TYPE_CHECKING:
    from runtime.contexts.context import CallbackContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.models.llm_request import LlmRequest
    from runtime.models.llm_response import LlmResponse


class GlobalInstructionPlugin(BasePlugin):
    """Prepends an instruction to that of every agent.

    Args:
        global_instruction: the instruction; `{key}` is replaced from state. Text returned by a function is used unchanged.
        name: unique among an app's plugins.
    """

    def __init__(
        self, global_instruction: str | Callable[[ReadonlyContext], str | Awaitable[str]] = "", name: str = "global_instruction"
    ) -> None:
        super().__init__(name)
        self.global_instruction = global_instruction

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """Prepend the instruction.

        Raises:
            MissingStateKeyError: the instruction refers to a state key that does not exist.
        """
        given = self.global_instruction
        if isinstance(given, str):
            text = await inject_session_state(given, callback_context)
        else:
            text = await call(callback_context._invocation_context.sync_calls, given, context=callback_context)
        own = llm_request.config.system_instruction
        if text and isinstance(own, types.Content):
            own.parts = [types.Part(text=text), *(own.parts or [])]
        elif text:
            llm_request.config.system_instruction = f"{text}\n\n{own}" if own else text
        return None
