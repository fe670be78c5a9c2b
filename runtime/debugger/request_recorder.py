"""The requests of a run that each model event answers, kept in memory.

Requests are not stored: google-adk's layouts have no place for them, and they repeat the whole conversation. So they are available only
for runs of this process.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from google.genai import types

    from runtime.contexts.context import CallbackContext
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.events.event import Event
    from runtime.models.llm_request import LlmRequest
    from runtime.models.llm_response import LlmResponse

NAME = "inspector_requests"

MOST_CONTENTS = 20_000  # of all requests together: each request holds the whole conversation up to it


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it was sent.

    Attributes:
        model: the model's name.
        config: system instruction, tools and settings.
        contents: the conversation that the model saw.
    """

    model: str | None
    config: types.GenerateContentConfig
    contents: tuple[types.Content, ...]


class RequestRecorder(BasePlugin):
    """Records which request led to which event; one recorder may serve many runs.

    Args:
        most_contents: how many contents are kept, over all requests; the oldest requests are dropped first, the latest one is always kept.
    """

    only_observes = True

    def __init__(self, most_contents: int = MOST_CONTENTS) -> None:
        super().__init__(NAME)
        self._most_contents = most_contents
        self._contents = 0
        self._sent: dict[tuple[str, str, str | None], LlmRequest] = {}
        self._kept: OrderedDict[str, RecordedRequest] = OrderedDict()

    def request_of(self, event_id: str) -> RecordedRequest | None:
        """Return the request that an event answers; None if it is not known."""
        return self._kept.get(event_id)

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """See `BasePlugin`. Callbacks after this one may still change the request, so it is read once the answer has come."""
        ctx = callback_context._invocation_context
        self._sent[ctx.invocation_id, callback_context.agent_name, ctx.branch] = llm_request
        return None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """See `BasePlugin`."""
        if event.partial or event.get_function_responses():
            return None
        request = self._sent.pop((invocation_context.invocation_id, event.author, event.branch), None)
        if request is not None:
            self.keep(event.id, request)
        return None

    def keep(self, event_id: str, request: LlmRequest) -> None:
        """Record the request that an event answers."""
        self._kept[event_id] = RecordedRequest(request.model, request.config, tuple(request.contents))
        self._contents += len(request.contents)
        while self._contents > self._most_contents and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._contents -= len(oldest.contents)
