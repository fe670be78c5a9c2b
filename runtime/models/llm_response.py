"""One answer, or a piece of one, from a language model."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class LlmResponse(BaseModel):
    """A language model's answer in the runtime's own form; `Event` extends it.

    Attributes:
        content: what was said.
        partial: a piece of a streamed answer; never stored.
        turn_complete: the answer is whole (live connections).
        error_code, error_message: why there is no content.
        interrupted: the user cut the answer off (live connections).
        custom_metadata: anything the application wants kept with the answer, JSON values.
        usage_metadata: tokens used.
        finish_reason, avg_logprobs, logprobs_result, model_version, grounding_metadata, citation_metadata: as the model gave them.
        input_transcription, output_transcription: texts of spoken audio.
    """

    model_config = ConfigDict(
        extra="allow",
        # Half of what importing an agent would cost is for google-genai's types in these fields, and each program needs few of our models.
        defer_build=True,
        alias_generator=to_camel,
        populate_by_name=True,
        ser_json_bytes="base64",
        val_json_bytes="base64",
        # Our fields begin with `model_` as google-adk's do.
        protected_namespaces=(),
    )

    model_version: str | None = None
    content: types.Content | None = None
    grounding_metadata: types.GroundingMetadata | None = None
    partial: bool | None = None
    turn_complete: bool | None = None
    finish_reason: types.FinishReason | None = None
    error_code: str | None = None
    error_message: str | None = None
    interrupted: bool | None = None
    custom_metadata: dict[str, Any] | None = None
    usage_metadata: types.GenerateContentResponseUsageMetadata | None = None
    input_transcription: types.Transcription | None = None
    output_transcription: types.Transcription | None = None
    avg_logprobs: float | None = None
    logprobs_result: types.LogprobsResult | None = None
    citation_metadata: types.CitationMetadata | None = None

    def get_function_calls(self) -> list[types.FunctionCall]:
        """Return the function calls in the content, in order."""
        if not self.content or not self.content.parts:
            return []
        return [part.function_call for part in self.content.parts if part.function_call]

    def get_function_responses(self) -> list[types.FunctionResponse]:
        """Return the function responses in the content, in order."""
        if not self.content or not self.content.parts:
            return []
        return [part.function_response for part in self.content.parts if part.function_response]

    @classmethod
    def create(cls, generate_content_response: types.GenerateContentResponse) -> LlmResponse:
        """Turn google-genai's response into ours.

        Args:
            generate_content_response: what `generate_content` returned, or one chunk of its stream.

        Returns:
            The first candidate's content, or an error code and message where there is none.
        """
        response = generate_content_response
        common = {"usage_metadata": response.usage_metadata, "model_version": response.model_version}
        if response.candidates:
            candidate = response.candidates[0]
            if (candidate.content and candidate.content.parts) or candidate.finish_reason == types.FinishReason.STOP:
                return cls(
                    content=candidate.content,
                    grounding_metadata=candidate.grounding_metadata,
                    finish_reason=candidate.finish_reason,
                    citation_metadata=candidate.citation_metadata,
                    avg_logprobs=candidate.avg_logprobs,
                    logprobs_result=candidate.logprobs_result,
                    **common,
                )
            return cls(
                error_code=candidate.finish_reason.value if candidate.finish_reason else "UNKNOWN_ERROR",
                error_message=candidate.finish_message,
                finish_reason=candidate.finish_reason,
                citation_metadata=candidate.citation_metadata,
                **common,
            )
        if response.prompt_feedback:
            reason = response.prompt_feedback.block_reason
            return cls(
                error_code=reason.value if reason else "UNKNOWN_ERROR",
                error_message=response.prompt_feedback.block_reason_message,
                **common,
            )
        return cls(error_code="UNKNOWN_ERROR", error_message="The model gave neither content nor a reason.", **common)
