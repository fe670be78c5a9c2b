"""A plugin that shortens the conversation sent to models."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from google.genai import types

from runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from runtime.contexts.context import CallbackContext
    from runtime.models.llm_request import LlmRequest
    from runtime.models.llm_response import LlmResponse

_log = logging.getLogger(__name__)


class ContextFilterPlugin(BasePlugin):
    """Leaves the older part of a conversation out of each request; the stored events are unchanged.

    Args:
        num_invocations_to_keep: number of last turns to send, including the current one; a turn begins with the user's messages. All
            turns if None.
        custom_filter: receives the remaining contents and returns those to send.
        name: unique among an app's plugins.
        remove_amount: number of turns beyond `num_invocations_to_keep` at which older turns are left out, at least 1. A larger number
            shortens the conversation less often.

    Raises:
        ValueError: `remove_amount` is less than 1.
    """

    def __init__(
        self,
        num_invocations_to_keep: int | None = None,
        custom_filter: Callable[[list[types.Content]], list[types.Content]] | None = None,
        name: str = "context_filter_plugin",
        remove_amount: int = 1,
    ) -> None:
        if remove_amount < 1:
            raise ValueError("remove_amount must be at least 1")
        super().__init__(name)
        self._turns = num_invocations_to_keep
        self._filter = custom_filter
        self._remove_amount = remove_amount

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """Shorten the request's contents. If `custom_filter` raises, the error is logged and all contents are sent, as in google-adk."""
        contents = llm_request.contents
        if self._turns is not None and self._turns > 0:
            begins = [index for index, content in enumerate(contents) if _begins_a_turn(contents, index)]
            if len(begins) >= self._turns + self._remove_amount:
                contents = _from(contents, begins[-self._turns])
        try:
            llm_request.contents = self._filter(contents) if self._filter else contents
        except Exception:
            _log.exception("The custom_filter of %r failed; sending the whole conversation", self.name)
        return None


def _from(contents: list[types.Content], first: int) -> list[types.Content]:
    """Return the contents from `first`, or from an earlier one if a response of theirs answers a call before `first`."""
    open_responses: set[str] = set()
    for index in range(len(contents) - 1, -1, -1):
        for part in reversed(contents[index].parts or []):
            if part.function_response and part.function_response.id:
                open_responses.add(part.function_response.id)
            if part.function_call and part.function_call.id:
                open_responses.discard(part.function_call.id)
        if index <= first and not open_responses:
            return contents[index:]
    return contents


def _begins_a_turn(contents: list[types.Content], index: int) -> bool:
    """Return whether this is the user's message after another content; several messages in a row are one turn."""
    return _is_the_users(contents[index]) and (index == 0 or not _is_the_users(contents[index - 1]))


def _is_the_users(content: types.Content) -> bool:
    return content.role == "user" and not any(part.function_response for part in content.parts or [])
