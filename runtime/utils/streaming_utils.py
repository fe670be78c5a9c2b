"""Assembly of a streamed answer, at google-adk's import path. For language models of one's own that call google-genai."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.genai import types

from runtime.models.llm_response import LlmResponse
from runtime.models.streamed_answer import StreamedAnswer


class StreamingResponseAggregator:
    """Turns google-genai's chunks into pieces and the complete answer."""

    def __init__(self) -> None:
        self._answer = StreamedAnswer()

    async def process_response(self, response: types.GenerateContentResponse) -> AsyncGenerator[LlmResponse, None]:
        """Yield the new piece of a chunk, with `partial=True`; nothing if the chunk has no content."""
        if (piece := self._answer.add(response)) is not None:
            yield piece

    def close(self) -> LlmResponse | None:
        """Return the complete answer, as without streaming; None if no chunk came."""
        return self._answer.whole(is_cut_off_kept=True)
