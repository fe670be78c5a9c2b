"""The registry of language model classes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator

import pytest

from runtime.errors import KnownError, UnknownLlmError
from runtime.models import BaseLlm, Gemini, LLMRegistry, LlmRequest, LlmResponse


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


def test_the_registry_has_all_supported_models_of_gemini() -> None:
    assert set(Gemini.supported_models()) == {pattern for pattern, entry in LLMRegistry._classes.items() if isinstance(entry, tuple)}


def test_a_registered_class_takes_precedence_over_older_patterns(parrot: None) -> None:
    assert LLMRegistry.resolve("parrot-1") is Parrot
    assert LLMRegistry.resolve("gemini-talks-1") is Parrot
    assert LLMRegistry.resolve("gemini-2.5-flash") is Gemini
    assert LLMRegistry.new_llm("parrot-2").model == "parrot-2"


@pytest.mark.parametrize(("name", "says"), [("my-parrot-1", "gemini-"), ("openai/gpt-5", "LiteLlm"), ("claude-x", "LiteLlm"), ("", "''")])
def test_an_unknown_name_raises_an_error_with_advice(parrot: None, name: str, says: str) -> None:
    with pytest.raises(UnknownLlmError, match=says) as caught:
        LLMRegistry.new_llm(name)

    assert isinstance(caught.value, KnownError)
    assert isinstance(caught.value, ValueError)


def test_importing_the_registry_does_not_load_gemini() -> None:
    script = "import sys, runtime.models.registry; print('runtime.models.gemini' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "False"
