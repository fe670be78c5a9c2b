"""Names of Gemini models."""

from __future__ import annotations

import re

from runtime.support.environment import is_env_enabled

_PATHS = (re.compile(r"projects/[^/]+/locations/[^/]+/publishers/[^/]+/models/(.+)"), re.compile(r"apigee/(?:[^/]+/){0,2}(.+)"))
_VERSION = re.compile(r"gemini-(\d+)(?:\.\d+)*(?:-|$)")


def is_gemini_model_id_check_disabled() -> bool:
    """Return whether Gemini's tools accept models of any name: `ADK_DISABLE_GEMINI_MODEL_ID_CHECK` is set."""
    return is_env_enabled("ADK_DISABLE_GEMINI_MODEL_ID_CHECK")


def extract_model_name(model_string: str) -> str:
    """Return the model's own name in a path such as `models/…` or `projects/…/models/…`, or in `provider/gemini-…`."""
    for path in _PATHS:
        if found := path.fullmatch(model_string):
            return found[1]
    last = model_string.rsplit("/", 1)[-1]
    is_of_provider = "/" in model_string and not model_string.startswith("projects/") and last.startswith("gemini-")
    return last if is_of_provider else model_string.removeprefix("models/")


def is_gemini_model(model_string: str | None) -> bool:
    """Return whether this is the name of a Gemini model."""
    return extract_model_name(model_string or "").startswith("gemini-")


def is_gemini_1_model(model_string: str | None) -> bool:
    """Return whether this is the name of a Gemini 1 model, such as `gemini-1.5-pro`."""
    return re.match(r"gemini-1\.\d+", extract_model_name(model_string or "")) is not None


def is_gemini_2_or_above(model_string: str | None) -> bool:
    """Return whether this is the name of a Gemini model of version 2 or newer."""
    found = _VERSION.match(extract_model_name(model_string or ""))
    return found is not None and int(found[1]) >= 2
