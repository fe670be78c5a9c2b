"""Errors of Gemini as messages that say what to do and never contain a key."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from google.auth.exceptions import GoogleAuthError
from google.genai.errors import APIError, UnknownApiResponseError
from pydantic import ValidationError

from runtime.errors.llm_error import LlmError

ENV_FILE_ADVICE = "the environment or in the file .env of the agent's folder"  # agent-inspector reads that file

_LONGEST = 500
_KEY_VARIABLES = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
_KEYS = re.compile(r"AIza[\w-]{20,}|\bsk-[\w*-]{6,}|(?<=key=)[^&\s\"']+|(?<=Bearer )\S+")
_ADVICE = {
    400: "",
    401: " Check the key in GOOGLE_API_KEY.",
    403: " Check the key in GOOGLE_API_KEY and its permissions.",
    404: " Check the model's name.",
    429: " Wait and try again, or set Gemini(retry_options=…).",
}


@contextmanager
def clear_errors(model: str) -> Iterator[None]:
    """Convert the errors of google-genai and of the network to `LlmError`.

    Args:
        model: the language model's name, for the message.

    Raises:
        LlmError: the request failed.
    """
    try:
        yield
    except Exception as error:
        clear = _clear_error(model, error)
        if clear is None:
            raise
        # Not "from error": its text may contain a key.
        raise clear from None


def missing_key_error(reason: str) -> LlmError:
    """Return the error for a client that could not be created.

    Args:
        reason: the message of google-genai or google-auth.
    """
    return LlmError(
        f"Gemini cannot be used yet, because its key is missing: {without_keys(reason)} Set GOOGLE_API_KEY to a key for the Gemini API, or "
        "GOOGLE_GENAI_USE_VERTEXAI=true with GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION for Vertex AI (after `gcloud auth "
        f"application-default login`), in {ENV_FILE_ADVICE}.",
        error_code="NO_CREDENTIALS",
    )


def without_keys(text: str) -> str:
    """Return the text on one line, shortened, with everything that looks like a key replaced."""
    for key in filter(None, map(os.environ.get, _KEY_VARIABLES)):
        text = text.replace(key, "***")
    text = " ".join(_KEYS.sub("***", text).split())
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _clear_error(model: str, error: Exception) -> LlmError | None:
    if isinstance(error, APIError):
        return _server_error(model, error)
    if isinstance(error, GoogleAuthError):
        return missing_key_error(str(error))
    if isinstance(error, _network_errors()):
        return LlmError(
            f"The connection to {model} failed: {without_keys(str(error)) or type(error).__name__}. Check the network and try again.",
            error_code="CONNECTION_FAILED",
        )
    if isinstance(error, (UnknownApiResponseError, ValidationError)) or type(error).__name__ == "JSONDecodeError":
        return LlmError(
            f"{model} sent an invalid response: {without_keys(str(error))}. Check whether a proxy changes it.",
            error_code="MALFORMED_RESPONSE",
        )
    if isinstance(error, ValueError):
        return LlmError(f"The request could not be sent to {model}: {without_keys(str(error))}", error_code="INVALID_REQUEST")
    return None


def _server_error(model: str, error: APIError) -> LlmError:
    status = error.status if isinstance(error.status, str) and error.status else "error"
    message = without_keys(str(error.message or error.details or ""))
    advice = _ADVICE.get(error.code, " The server failed; try again later." if error.code and error.code >= 500 else "")
    end = "." if advice and not message.endswith((".", "!", "?", "…")) else ""
    return LlmError(f"{model} answered {error.code} {status}: {message}{end}{advice}", status_code=error.code, error_code=status)


def _network_errors() -> tuple[type[Exception], ...]:
    """Return the error classes of google-genai's HTTP library: httpx up to 2.x, httpx2 from 3.0, aiohttp if installed."""
    libraries = (
        (sys.modules.get(module), name) for module, name in (("httpx", "HTTPError"), ("httpx2", "HTTPError"), ("aiohttp", "ClientError"))
    )
    return (OSError, *(getattr(library, name) for library, name in libraries if library))
