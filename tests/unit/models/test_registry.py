"""The registry of language model classes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator

import pytest

import runtime.models
from runtime.errors import EngineNeededError, KnownError, UnknownLlmError
from runtime.models import BaseLlm, Gemini, LiteLlm, LLMRegistry, LlmRequest, LlmResponse


class Parrot(BaseLlm):
    """Supports names that begin with `parrot-`, and some of Gemini's."""

    @classmethod
    def supported_models(cls) -> list[str]:
        return [r"parrot-.*", r"gemini-talks-.*"]

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        yield LlmResponse()


@pytest.fixture
def parrot(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(LLMRegistry, "_classes", dict(LLMRegistry._classes))
    LLMRegistry.register(Parrot)
    yield


@pytest.mark.parametrize(
    "name",
    [
        "gemini-2.5-flash",
        "gemini-3-pro-preview",
        "model-optimizer-exp",
        "projects/p/locations/l/endpoints/123",
        "projects/p/locations/l/publishers/google/models/gemini-2.5-pro",
    ],
)
def test_gemini_names_resolve_to_gemini(name: str) -> None:
    llm = LLMRegistry.new_llm(name)

    assert type(llm) is Gemini
    assert llm.model == name


def test_the_registry_has_all_supported_models_of_its_classes() -> None:
    registered = LLMRegistry._classes.items()
    assert set(Gemini.supported_models()) == {pattern for pattern, entry in registered if entry[1] == "Gemini"}  # type: ignore[index]
    assert {LLMRegistry.resolve(pattern.replace(".*", "m")) for pattern in LiteLlm.supported_models()} == {LiteLlm}


# As google-adk 2.13 resolves them, except for names of which it has a class of its own.
@pytest.mark.parametrize(
    ("name", "model_class"),
    [
        ("gemini-3-pro", Gemini),
        ("gemma-4-1b", Gemini),
        ("openai/gpt-4o", LiteLlm),
        ("ollama/gemma3:4b", LiteLlm),
        ("ollama/llama3", LiteLlm),
        ("vertex_ai/claude-sonnet-4", LiteLlm),
    ],
)
def test_names_resolve_as_in_google_adk(name: str, model_class: type[BaseLlm]) -> None:
    llm = LLMRegistry.new_llm(name)
    assert (type(llm), llm.model) == (model_class, name)


@pytest.mark.filterwarnings("ignore:.*using the `ReadOnly` qualifier:UserWarning", "ignore:Accessing the .model_:DeprecationWarning")
def test_other_providers_are_asked_of_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LLMRegistry.resolve("perplexity/sonar") is LiteLlm
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(UnknownLlmError, match="LiteLlm"):
        LLMRegistry.resolve("perplexity/sonar")


def test_a_registered_class_takes_precedence_over_older_patterns(parrot: None) -> None:
    assert LLMRegistry.resolve("parrot-1") is Parrot
    assert LLMRegistry.resolve("gemini-talks-1") is Parrot
    assert LLMRegistry.resolve("gemini-2.5-flash") is Gemini
    assert LLMRegistry.new_llm("parrot-2").model == "parrot-2"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("my-parrot-1", "gemini-"),
        ("gpt-5", "LiteLlm"),
        ("no_such_provider/x", "LiteLlm"),
        ("apigee/x", "needs google-adk"),
        ("", "''"),
    ],
)
def test_an_unknown_name_raises_an_error_with_advice(parrot: None, name: str, says: str) -> None:
    with pytest.raises(UnknownLlmError, match=says) as caught:
        LLMRegistry.new_llm(name)

    assert isinstance(caught.value, KnownError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("claude-sonnet-4-20250514", "anthropic/claude-sonnet-4-20250514"),
        ("claude-3-5-sonnet-v2@20241022", "anthropic/claude-3-5-sonnet-v2@20241022"),
        ("gemma-3-27b-it", "gemini/gemma-3-27b-it"),
    ],
)
def test_models_with_a_class_in_google_adk_alone_name_lite_llm(name: str, instead: str) -> None:
    with pytest.raises(EngineNeededError, match=rf"^The model {name} needs google-adk: .* use LiteLlm\(model='{instead}'\)\.$"):
        LLMRegistry.new_llm(name)


@pytest.mark.parametrize("name", runtime.models.__all__)
def test_every_exported_name_exists(name: str) -> None:
    assert getattr(runtime.models, name).__name__ == name


def test_importing_the_registry_does_not_load_gemini() -> None:
    script = "import sys, runtime.models.registry; print('runtime.models.gemini' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_a_class_in_front_of_a_name_chooses_it() -> None:
    assert LLMRegistry.resolve("gemini:my-tuned-model") is LLMRegistry.resolve("gemini-2.5-flash")
    assert type(LLMRegistry.new_llm("gemini:my-tuned-model")).__name__ == "Gemini"
    assert LLMRegistry.new_llm("gemini:my-tuned-model").model == "my-tuned-model"
    assert LLMRegistry.new_llm("ollama/gemma3:12b").model == "ollama/gemma3:12b"
    with pytest.raises(UnknownLlmError, match="Model no_class:x not found"):
        LLMRegistry.resolve("no_class:x")
