"""A local server with OpenAI's chat completions protocol."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager
from typing import Any

from tests.gemini_server import Answer, Failure, GeminiHandler, GeminiServer, gemini_server

USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "prompt_tokens_details": {"cached_tokens": 1}}


class _ChatHandler(GeminiHandler):
    end_of_stream = b"e\r\ndata: [DONE]\n\n\r\n"

    def wants_stream(self, body: dict[str, Any]) -> bool:
        return bool(body.get("stream"))


def chat_server(*answers: Answer | Failure) -> AbstractContextManager[GeminiServer]:
    """Run a server in a thread of this process; see `gemini_server`."""
    return gemini_server(*answers, handler=_ChatHandler)


def whole(finish: str = "stop", **message: Any) -> Answer:
    """Return a whole completion with this message."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
    return Answer([{"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}])


def stream(*deltas: dict[str, Any], finish: str | None = "stop", then: str = "end") -> Answer:
    """Return a stream of these deltas."""
    chunks = [_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    if finish:
        chunks.append(_chunk([{"index": 0, "delta": {}, "finish_reason": finish}]))
        chunks.append({**_chunk([]), "usage": USAGE})
    return Answer(chunks, then=then)


def call(name: str, arguments: str, call_id: str = "call_x", index: int = 0) -> dict[str, Any]:
    """Return a tool call, or one chunk of it."""
    return {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def refusal(status: int, message: str) -> Failure:
    """Return an error in OpenAI's form."""
    return Failure(status, json.dumps({"error": {"message": message, "type": "t", "code": None}}).encode())


def _chunk(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}


async def close_connections() -> None:
    """Close the connections that litellm keeps for later calls: they belong to this event loop and would outlive it."""
    if litellm := sys.modules.get("litellm"):
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()
