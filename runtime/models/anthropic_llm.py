"""Claude, through litellm (the extra `litellm`)."""

from __future__ import annotations

import os
from typing import Any

from runtime.errors.llm_error import LlmError
from runtime.models.lite_llm import LiteLlm


class AnthropicLlm(LiteLlm):
    """Claude through Anthropic's API, with the key in `ANTHROPIC_API_KEY`.

    Attributes:
        model: the model's name.
        max_tokens: the most tokens of an answer, unless the request says another number.

    Args:
        model, max_tokens: see above.
        more: see `LiteLlm`.
    """

    model: str = "claude-sonnet-4-20250514"
    max_tokens: int = 8192

    def __init__(self, model: str = "", *, max_tokens: int = 8192, **more: Any) -> None:
        super().__init__(model or type(self).model_fields["model"].default, **more)
        self.max_tokens = max_tokens

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return a pattern for Claude's names."""
        return [r"claude-.*"]

    def _provider_model(self, name: str) -> str:
        return name if "/" in name else f"anthropic/{name}"

    def _with(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"max_tokens": self.max_tokens, **super()._with(asked)}


class Claude(AnthropicLlm):
    """Claude on Vertex AI, in the project `GOOGLE_CLOUD_PROJECT` and the region `GOOGLE_CLOUD_LOCATION`."""

    model: str = "claude-3-5-sonnet-v2@20241022"

    def _provider_model(self, name: str) -> str:
        return name if "/" in name else f"vertex_ai/{name}"

    def _with(self, asked: dict[str, Any]) -> dict[str, Any]:
        project, location = os.environ.get("GOOGLE_CLOUD_PROJECT"), os.environ.get("GOOGLE_CLOUD_LOCATION")
        if not project or not location:
            raise LlmError(
                "Claude runs on Vertex AI, so GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION must be set. With a key of Anthropic, use"
                " AnthropicLlm(model=…).",
                error_code="NO_CREDENTIALS",
            )
        return {"vertex_project": project, "vertex_location": location, **super()._with(asked)}
