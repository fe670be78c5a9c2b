"""Names of Gemini models."""

from __future__ import annotations

import re

from runtime.support.environment import is_env_enabled

_PATHS = (re.compile(r"projects/[^/]+/locations/[^/]+/publishers/[^/]+/models/(.+)"), re.compile(r"apigee/(?:[^/]+/){0,2}(.+)"))
_EARLY_ACCESS = re.compile(r"gemini-(?:[a-z0-9_]+-)*early-exp\d*")  # such as gemini-flash-early-exp3
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


def check_is_gemini(model_string: str | None, feature: str) -> None:
    """Refuse a feature that only Gemini models have.

    Args:
        model_string: the model's name, as in `LlmRequest.model`.
        feature: the feature's name, such as "Google search tool".

    Raises:
        ValueError: the model has a name that is not Gemini's, and `ADK_DISABLE_GEMINI_MODEL_ID_CHECK` is not set.
    """
    if not (is_gemini_model(model_string) or is_gemini_model_id_check_disabled()):
        raise ValueError(f"{feature} is not supported for model {model_string}. Use a Gemini model.")


def is_gemini_1_model(model_string: str | None) -> bool:
    """Return whether this is the name of a Gemini 1 model, such as `gemini-1.5-pro`."""
    return re.match(r"gemini-1\.\d+", extract_model_name(model_string or "")) is not None


def is_gemini_2_or_above(model_string: str | None) -> bool:
    """Return whether this is the name of a Gemini model of version 2 or newer."""
    found = _VERSION.match(extract_model_name(model_string or ""))
    return found is not None and int(found[1]) >= 2


def calls_functions_beside_search(model_string: str | None) -> bool:
    """Return whether a model takes functions and a search of Gemini's own in one request: Gemini 3 and newer."""
    found = _VERSION.match(extract_model_name(model_string or ""))
    return found is not None and int(found[1]) >= 3


def is_gemini_eap_or_2_or_above(model_string: str | None) -> bool:
    """Return whether this is the name of a Gemini model of version 2 or newer, or of an early-access model, which has no version."""
    return _EARLY_ACCESS.fullmatch(extract_model_name(model_string or "")) is not None or is_gemini_2_or_above(model_string)


def is_gemini_3_5_live_translate(model_string: str | None) -> bool:
    """Return whether this is the name of a model that translates speech as it is spoken."""
    return extract_model_name(model_string or "").startswith("gemini-3.5-live-translate")
