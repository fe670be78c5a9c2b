"""Language models of other providers, through litellm (the extra `litellm`)."""

from __future__ import annotations

import importlib
import logging
import os
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

from pydantic import PrivateAttr

from runtime.errors.llm_error import LlmError
from runtime.errors.missing_package_error import install_command
from runtime.models.base_llm import BaseLlm
from runtime.models.chat_answer import ChatAnswer
from runtime.models.chat_request import chat_request
from runtime.models.gemini_errors import ENV_FILE_ADVICE, without_keys
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse
from runtime.support.worker_threads import run_in_thread

# With tools, litellm would import the package mcp and fail without it, although mcp is not one of its dependencies.
_WITHOUT_MCP = {"_skip_mcp_handler": True}

# How litellm and the providers' libraries say that there is no key; each has its own exception class and HTTP status for it.
_NO_KEY = re.compile(
    r"missing[\w ]{0,60}(api key|credentials)|credentials (were )?not found|locate credentials|api_key client option must be set"
    r"|no api[ _]key"
    r"|not set\. set \w+",
    re.IGNORECASE,
)
_FROM_REQUEST = ("messages", "tools", "stream", "stream_options")

# google-adk's list.
_PROVIDERS = (
    "openai",
    "azure",
    "azure_ai",
    "groq",
    "anthropic",
    "bedrock",
    "ollama",
    "ollama_chat",
    "together_ai",
    "vertex_ai",
    "mistral",
    "deepseek",
    "fireworks_ai",
    "cohere",
    "databricks",
    "ai21",
)

_ADVICE = {
    401: " Check the provider's key.",
    403: " Check the provider's key and its permissions.",
    404: " Check the model's name.",
    429: " Wait and try again.",
}


class LiteLLMClient:
    """The functions of litellm that `LiteLlm` calls; give a subclass as `llm_client` to call others."""

    async def acompletion(self, model: str, messages: list[Any], tools: list[Any] | None, **kwargs: Any) -> Any:
        """Return litellm's completion, or its stream."""
        litellm = await run_in_thread(_load)
        return await litellm.acompletion(model=model, messages=messages, tools=tools, **kwargs)

    def completion(self, model: str, messages: list[Any], tools: list[Any] | None, stream: bool = False, **kwargs: Any) -> Any:
        """Return litellm's completion, or its stream, from synchronous code."""
        return _load().completion(model=model, messages=messages, tools=tools, stream=stream, **kwargs)


class LiteLlm(BaseLlm):
    """A model of any provider that litellm supports, such as OpenAI, Anthropic or Ollama.

    Keys come from the environment, under the provider's own names (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, …), or from `api_key`.

    Attributes:
        model: `provider/name`, such as `openai/gpt-4o` or `ollama_chat/llama3`.

    Args:
        model: see above.
        more: passed to `litellm.acompletion`, such as `api_base`, `api_key`, `timeout` or `num_retries`. An agent's
            `generate_content_config` overrides what is given here. `messages`, `tools` and `stream` come from the request alone.
            `llm_client` is called in place of litellm.
    """

    _client: LiteLLMClient = PrivateAttr(default_factory=LiteLLMClient)
    _more: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(self, model: str, **more: Any) -> None:
        super().__init__(model=model)
        self._client = more.pop("llm_client", None) or self._client
        self._more = {name: value for name, value in more.items() if name not in _FROM_REQUEST}

    @property
    def llm_client(self) -> LiteLLMClient:
        """What is called."""
        return self._client

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return patterns for the names of litellm's large providers; the registry asks litellm for others."""
        return [rf"{provider}/.*" for provider in _PROVIDERS]

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """Call the model; see `BaseLlm.generate_content_async`. Closing the generator closes the connection.

        Raises:
            LlmError: litellm is not installed, the provider refused or failed, the connection broke, or the answer is malformed.
        """
        model = self._provider_model(llm_request.model or self.model)
        arguments = {"model": model, "tools": None, **_WITHOUT_MCP, **self._with(chat_request(llm_request))}
        answer = ChatAnswer()
        with _clear_errors(model, self._more.get("api_key")):
            if stream:
                chunks = await self._client.acompletion(**{**arguments, "stream": True, "stream_options": {"include_usage": True}})
                async with aclosing(chunks):
                    async for chunk in chunks:
                        for piece in answer.add(chunk):
                            yield piece
            else:
                answer.add(await self._client.acompletion(**arguments))
        whole = answer.whole()
        if not whole:
            raise LlmError(f"The connection to {self.model} broke in the middle of an answer. Try again.", error_code="CONNECTION_FAILED")
        for one in whole:
            if stream:
                one.partial = False
            yield one

    def _provider_model(self, name: str) -> str:
        """Return a model's name with its provider."""
        return name

    def _with(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the constructor's arguments with those of a request, which take precedence, except for the form of the answer."""
        more = dict(self._more)
        if "max_tokens" in asked:
            more.pop("max_completion_tokens", None)  # the same limit by its other name
        if "extra_headers" in asked and isinstance(more.get("extra_headers"), dict):
            asked = {**asked, "extra_headers": {**more["extra_headers"], **asked["extra_headers"]}}
        if "response_format" in more:
            asked = {name: value for name, value in asked.items() if name != "response_format"}
        return {**more, **asked}


def is_provider(name: str) -> bool:
    """Return whether litellm knows a provider; False if it is not installed. Its first import takes seconds."""
    try:
        return name in _load().provider_list
    except LlmError:
        return False


def _load() -> Any:
    """Import litellm, which takes seconds, without its network request for prices and its debug output."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        litellm: Any = importlib.import_module("litellm")
    except ImportError as error:
        raise LlmError(
            f"LiteLlm needs the package litellm ({error}): {install_command(extra='litellm')}", error_code="NOT_INSTALLED"
        ) from error
    litellm.suppress_debug_info = True
    if "LITELLM_LOG" not in os.environ:
        # It prints tracebacks of failures that it raises as well.
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
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
        # Not "from error": its text may contain a key.
        raise clear from None


def _clear_error(model: str, error: Exception, key: str | None) -> LlmError | None:
    """Return an error of litellm or its HTTP library as an `LlmError`; None for any other error."""
    if type(error).__module__.partition(".")[0] not in ("litellm", "openai", "httpx", "httpcore", "aiohttp"):
        return None
    status = getattr(error, "status_code", None)
    said = str(getattr(error, "message", None) or error).partition("Traceback (most recent call last)")[0]
    said = without_keys(said.replace(key, "***") if key else said)
    name = type(error).__name__
    unset = [] if key else _unset_keys(model)
    if _NO_KEY.search(said) or (status in (401, 403) and unset):
        return _missing_key_error(model, said, unset)
    # litellm reports an unreachable server as an internal error of that server.
    unreachable = "Cannot connect to host" in said or (name == "InternalServerError" and said.rstrip().endswith("Connection error."))
    if unreachable or status is None or name in ("APIConnectionError", "Timeout", "MidStreamFallbackError"):
        key_too = f" {_names(unset)} is not set either: set it in {ENV_FILE_ADVICE}." if unset else ""
        text = f"The connection to {model} failed: {said or name}. Check the network and try again.{key_too}"
        return LlmError(text, error_code="CONNECTION_FAILED")
    advice = _ADVICE.get(status, " The server failed; try again later." if status >= 500 else "")
    return LlmError(f"{model} answered {status} {name}: {said}{advice}", status_code=status, error_code=name)


def _missing_key_error(model: str, said: str, unset: list[str]) -> LlmError:
    reason = re.sub(r"^litellm\.\w+: ", "", said).rpartition("Exception - ")[2].rstrip(". ")
    what = _names(unset) or "the provider's key"
    return LlmError(
        f"{model} cannot be used yet, because its key is missing: {reason}. Set {what} in {ENV_FILE_ADVICE}, or pass api_key to LiteLlm.",
        error_code="NO_CREDENTIALS",
    )


def _names(unset: list[str]) -> str:
    return (" and " if unset and unset[0].startswith("AWS_") else " or ").join(unset)


def _unset_keys(model: str) -> list[str]:
    """Return the variables that litellm reads the model's key from, if none of them is set."""
    try:
        names: list[str] = importlib.import_module("litellm").validate_environment(model)["missing_keys"]
    except Exception:  # a provider that litellm does not know
        return []
    return [name for name in names if "KEY" in name]
