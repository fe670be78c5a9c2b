"""google-adk's small helpers, which scripts and tools import."""

from __future__ import annotations

from typing import Optional

import pytest

import runtime
from runtime.agents import Context
from runtime.flows.llm_flows import functions
from runtime.tools import ToolContext
from runtime.utils.context_utils import find_context_parameter
from runtime.utils.env_utils import is_env_enabled
from runtime.utils.model_name_utils import (
    extract_model_name,
    is_gemini_1_model,
    is_gemini_2_or_above,
    is_gemini_3_5_live_translate,
    is_gemini_eap_or_2_or_above,
    is_gemini_model,
)
from runtime.utils.variant_utils import GoogleLLMVariant, get_google_llm_variant

pytestmark = pytest.mark.rule("R11")


def test_the_version_is_text() -> None:
    assert runtime.__version__.count(".") >= 2


def test_the_names_of_request_calls() -> None:
    assert functions.REQUEST_EUC_FUNCTION_CALL_NAME == "adk_request_credential"
    assert functions.REQUEST_CONFIRMATION_FUNCTION_CALL_NAME == "adk_request_confirmation"
    assert functions.REQUEST_INPUT_FUNCTION_CALL_NAME == "adk_request_input"


@pytest.mark.parametrize(("value", "enabled"), [("1", True), (" TRUE ", True), ("on", True), ("yes", True), ("0", False), ("", False)])
def test_a_variable_switches_something_on(value: str, enabled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SWITCH", value)
    assert is_env_enabled("SOME_SWITCH") is enabled
    monkeypatch.delenv("SOME_SWITCH")
    assert is_env_enabled("SOME_SWITCH", default="1")


def test_the_environment_chooses_the_way_to_gemini(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_GENAI_USE_ENTERPRISE", raising=False)
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "TRUE")
    with pytest.warns(DeprecationWarning, match="GOOGLE_GENAI_USE_VERTEXAI is deprecated in google-adk 2"):
        assert get_google_llm_variant() is GoogleLLMVariant.VERTEX_AI
    monkeypatch.setenv("GOOGLE_GENAI_USE_ENTERPRISE", "0")
    assert get_google_llm_variant() is GoogleLLMVariant.GEMINI_API


@pytest.mark.parametrize(
    ("model", "name", "version"),
    [
        ("gemini-2.5-flash", "gemini-2.5-flash", 2),
        ("models/gemini-1.5-pro", "gemini-1.5-pro", 1),
        ("projects/p/locations/l/publishers/google/models/gemini-3-pro", "gemini-3-pro", 3),
        ("openrouter/google/gemini-2.0-flash", "gemini-2.0-flash", 2),
        ("openai/gpt-5", "openai/gpt-5", None),
        ("projects/p/gemini-2.0", "projects/p/gemini-2.0", None),
    ],
)
def test_names_of_gemini_models(model: str, name: str, version: int | None) -> None:
    assert extract_model_name(model) == name
    assert is_gemini_model(model) is (version is not None)
    assert is_gemini_1_model(model) is (version == 1)
    assert is_gemini_2_or_above(model) is (version is not None and version >= 2)


def test_names_of_gemini_models_without_a_version() -> None:
    early = ["gemini-flash-early-exp", "models/gemini-flash-lite-early-exp3", "gemini-early-exp", "gemini-2.5-pro"]
    assert all(map(is_gemini_eap_or_2_or_above, early))
    assert not any(map(is_gemini_eap_or_2_or_above, ["gemini-1.5-pro", "gemini-early-expert", "gemini-pro", "gpt-5", "", None]))
    assert is_gemini_3_5_live_translate("models/gemini-3.5-live-translate-preview") and not is_gemini_3_5_live_translate(None)


def test_the_parameter_that_receives_the_context() -> None:
    def one(first: int, ctx: Context) -> None: ...
    def two(tool_context: Optional[ToolContext] = None) -> None: ...  # noqa: UP045
    def three(tool_context: Missing, other: str) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    assert [find_context_parameter(each) for each in (one, two, three, None, 3)] == ["ctx", "tool_context", None, None, None]  # type: ignore[arg-type]
