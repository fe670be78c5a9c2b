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
    """

    def __init__(
        self,
        num_invocations_to_keep: int | None = None,
        custom_filter: Callable[[list[types.Content]], list[types.Content]] | None = None,
        name: str = "context_filter_plugin",
    ) -> None:
        super().__init__(name)
        self._turns = num_invocations_to_keep
        self._filter = custom_filter

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """Shorten the request's contents. If `custom_filter` raises, the error is logged and all contents are sent, as in google-adk."""
        contents = llm_request.contents
        if self._turns is not None and self._turns > 0:
            begins = [index for index, content in enumerate(contents) if _begins_a_turn(contents, index)]
            if len(begins) > self._turns:
                contents = contents[begins[-self._turns] :]
        try:
            llm_request.contents = self._filter(contents) if self._filter else contents
        except Exception:
            _log.exception("The custom_filter of %r failed; sending the whole conversation", self.name)
        return None


def _begins_a_turn(contents: list[types.Content], index: int) -> bool:
    """Return whether this is the user's message after another content; several messages in a row are one turn."""
    return _is_the_users(contents[index]) and (index == 0 or not _is_the_users(contents[index - 1]))


def _is_the_users(content: types.Content) -> bool:
    return content.role == "user" and not any(part.function_response for part in content.parts or [])
