"""Language models of other providers, through litellm (the extra `litellm`)."""

from __future__ import annotations

import importlib
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

from pydantic import PrivateAttr

from runtime.errors.llm_error import LlmError
from runtime.models.base_llm import BaseLlm
from runtime.models.chat_answer import ChatAnswer
from runtime.models.chat_request import chat_request
from runtime.models.gemini_errors import without_keys
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse
from runtime.support.worker_threads import run_in_thread

_WITHOUT_MCP = {"_skip_mcp_handler": True}
"""Else litellm imports the package mcp as soon as there are tools, and fails without it; it is no dependency of its own."""

_ADVICE = {
    401: " Check the provider's key.",
    403: " Check the provider's key and what it may be used for.",
    404: " Check the model's name.",
    429: " Wait a little and try again.",
}


class LiteLlm(BaseLlm):
    """A model that litellm can reach: OpenAI's, Anthropic's, Ollama's and many others.

    Keys come from the environment, as each provider names them (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, …), or from `api_key`.

    Attributes:
        model: `provider/name`, such as `openai/gpt-4o` or `ollama_chat/llama3`.

    Args:
        model: see above.
        more: passed to `litellm.acompletion`, such as `api_base`, `api_key`, `timeout` or `num_retries`.
    """

    _more: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(self, model: str, **more: Any) -> None:
        super().__init__(model=model)
        self._more = more

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """Ask the model; see `BaseLlm.generate_content_async`. Closing the generator closes the connection.

        Raises:
            LlmError: litellm is not installed; the provider refused or failed; the connection broke; the answer cannot be understood.
        """
        litellm = await run_in_thread(_load)
        arguments = {"model": llm_request.model or self.model, **chat_request(llm_request), **_WITHOUT_MCP, **self._more}
        answer = ChatAnswer()
        with _clear_errors(self.model, self._more.get("api_key")):
            if stream:
                chunks = await litellm.acompletion(**arguments, stream=True, stream_options={"include_usage": True})
                async with aclosing(chunks):
                    async for chunk in chunks:
                        for piece in answer.add(chunk):
                            yield piece
            else:
                answer.add(await litellm.acompletion(**arguments))
        whole = answer.whole()
        if whole is None:
            raise LlmError(f"{self.model} broke off in the middle of its answer. Try again.", error_code="CONNECTION_FAILED")
        if stream:
            whole.partial = False
        yield whole


def _load() -> Any:
    """Import litellm, which takes seconds, and keep it from calling home and from printing."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        litellm: Any = importlib.import_module("litellm")
    except ImportError as error:
        raise LlmError(
            f"LiteLlm needs the package litellm: pip install 'agent-inspector[litellm]' ({error}).", error_code="NOT_INSTALLED"
        ) from error
    litellm.suppress_debug_info = True
    return litellm


@contextmanager
def _clear_errors(model: str, key: str | None) -> Iterator[None]:
    try:
        yield
    except LlmError:
        raise
    except Exception as error:
        clear = _clear_error(model, error, key)
        if clear is None:
            raise
        # Not "from error": its text may hold a key.
        raise clear from None


def _clear_error(model: str, error: Exception, key: str | None) -> LlmError | None:
    """Return what litellm or the HTTP library under it says as a sentence; None if it is neither's."""
    if type(error).__module__.partition(".")[0] not in ("litellm", "openai", "httpx", "httpcore", "aiohttp"):
        return None
    status = getattr(error, "status_code", None)
    said = str(getattr(error, "message", None) or error).partition("Traceback (most recent call last)")[0]
    said = without_keys(said.replace(key, "***") if key else said)
    name = type(error).__name__
    # litellm reports a server that is not there as an internal error of that server.
    unreachable = name == "InternalServerError" and said.rstrip().endswith("Connection error.")
    if unreachable or status is None or name in ("APIConnectionError", "Timeout", "MidStreamFallbackError"):
        text = f"The connection to {model} failed: {said or name}. Check the network and try again."
        return LlmError(text, error_code="CONNECTION_FAILED")
    advice = _ADVICE.get(status, " This is the server's fault; try again later." if status >= 500 else "")
    return LlmError(f"{model} answered {status} {name}: {said}{advice}", status_code=status, error_code=name)
