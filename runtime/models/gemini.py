"""Gemini, through google-genai."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from google.auth.exceptions import GoogleAuthError
from google.genai import Client, types
from pydantic import Field, PrivateAttr

from runtime.errors.engine_needed_error import EngineNeededError
from runtime.errors.llm_error import LlmError
from runtime.models.base_llm import BaseLlm
from runtime.models.client_per_loop import ClientPerLoop
from runtime.models.gemini_errors import clear_errors, missing_key_error
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse
from runtime.models.streamed_answer import StreamedAnswer


class Gemini(BaseLlm):
    """Google's language models, through the Gemini API or Vertex AI.

    google-genai reads the service and the key from the environment: `GOOGLE_API_KEY`, or `GOOGLE_GENAI_USE_VERTEXAI`,
    `GOOGLE_CLOUD_PROJECT` and `GOOGLE_CLOUD_LOCATION`. For anything else give `client_kwargs` or `client`, or override `api_client`.

    Attributes:
        model: the model's name.
        client: the client for all requests; what it needs is not read from the environment then.
        client_kwargs: further arguments of google-genai's Client, such as `location`. Not printed or stored, as they may hold keys.
        base_url: another server with the same protocol.
        api_version: the version of the server's interface, such as `v1`. Default: `GOOGLE_GENAI_API_VERSION`, or google-genai's own.
        speech_config: the voice in live conversations, which only the google-adk engine has.
        use_interactions_api: google's Interactions API, which only the google-adk engine has: requests are refused.
        retry_options: which failures to retry, how often and with which delay; without it each request is sent once.
    """

    model: str = "gemini-2.5-flash"
    client: Client | None = Field(default=None, exclude=True)
    client_kwargs: dict[str, Any] | None = Field(default=None, exclude=True, repr=False)
    base_url: str | None = None
    api_version: str | None = None
    speech_config: types.SpeechConfig | None = None
    use_interactions_api: bool = False
    retry_options: types.HttpRetryOptions | None = None

    _clients: ClientPerLoop = PrivateAttr(default_factory=ClientPerLoop)

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return patterns for Gemini models, the model optimizer, and Vertex AI's resource names and tuned endpoints."""
        return [
            r"gemini-.*",
            r"gemma-4.*",
            r"model-optimizer-.*",
            r"projects/.+/locations/.+/endpoints/.+",
            r"projects/.+/locations/.+/publishers/google/models/gemini.+",
        ]

    @property
    def api_client(self) -> Client:
        """A new google-genai client with this object's settings. Override it, for example by a `cached_property`, to use another client.

        What `client_kwargs` sets counts more than the other attributes.

        Raises:
            LlmError: the key, or the project for Vertex AI, is missing.
        """
        given = dict(self.client_kwargs or {})
        own = types.HttpOptions(
            base_url=self.base_url,
            api_version=self.api_version or os.environ.get("GOOGLE_GENAI_API_VERSION") or None,
            retry_options=self.retry_options,
        )
        options = types.HttpOptions.model_validate(given.pop("http_options", None) or {})
        options = own.model_copy(update={name: getattr(options, name) for name in options.model_fields_set})
        if self.model.startswith("projects/") and not given.keys() & {"vertexai", "enterprise"}:
            given["vertexai"] = True
        try:
            return Client(http_options=options, **given)
        except (ValueError, GoogleAuthError) as error:
            reason = str(error)
        # Outside the except block, as the error keeps the incomplete client alive, which google-genai 2.x then closes with warnings.
        raise missing_key_error(reason)

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """Call Gemini; see `BaseLlm.generate_content_async`. Closing the generator closes the connection.

        Raises:
            LlmError: the key is missing, the server refused or failed, the connection broke, or the answer is malformed.
            EngineNeededError: `use_interactions_api` is set.
        """
        if self.use_interactions_api:
            raise EngineNeededError("Gemini(use_interactions_api=True)")
        request = self._as_sent(llm_request)
        with clear_errors(request["model"]):
            client = await self._client()
            if not client.vertexai:
                request["config"] = request["config"].model_copy(update={"labels": None})  # only Vertex AI accepts labels
            if not stream:
                yield LlmResponse.create(await client.aio.models.generate_content(**request))
                return
            answer = StreamedAnswer()
            chunks: Any = await client.aio.models.generate_content_stream(**request)
            async with aclosing(chunks):
                async for chunk in chunks:
                    if piece := answer.add(chunk):
                        yield piece
        whole = answer.whole()
        if whole is None:
            raise LlmError(
                f"The connection to {request['model']} broke in the middle of an answer. Check the network and try again.",
                error_code="CONNECTION_FAILED",
            )
        yield whole

    async def _client(self) -> Client:
        if self.client is not None:
            return self.client
        if type(self).api_client is not Gemini.api_client:
            return self.api_client  # the subclass closes its own client
        return await self._clients.get(lambda: self.api_client)

    def _as_sent(self, request: LlmRequest) -> dict[str, Any]:
        config = request.config
        if config.automatic_function_calling is None:
            # The runtime calls the tools, not google-genai.
            config = config.model_copy(update={"automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True)})
        return {"model": request.model or self.model, "contents": _ending_with_user(request.contents), "config": config}


def _ending_with_user(contents: list[types.Content]) -> list[types.Content]:
    """Return the contents with a user message at the end, as Gemini requires; the request is not changed."""
    if contents and contents[-1].role == "user":
        return contents
    text = "Go on with the task, or sum up if nothing is left to do." if contents else "Do as the system instruction says."
    return [*contents, types.Content(role="user", parts=[types.Part(text=text)])]
