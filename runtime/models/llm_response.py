"""Responses of language models."""

from __future__ import annotations

import logging
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

logger = logging.getLogger(__name__)

NO_CONTENT = "MODEL_RETURNED_NO_CONTENT"  # google-adk's error code of a complete answer that says nothing


class LlmResponse(BaseModel):
    """A language model's answer, or a piece of one; `Event` extends it.

    Attributes:
        content: the answer.
        partial: whether this is a piece of a streamed answer, which is never stored.
        turn_complete: whether the answer is complete (live connections).
        error_code, error_message: the reason if there is no content.
        interrupted: whether the user interrupted the answer (live connections).
        turn_complete_reason, live_session_resumption_update, live_session_id, go_away, voice_activity: what else a live connection reports.
        custom_metadata: the application's own data, JSON values.
        usage_metadata: token counts.
        finish_reason, avg_logprobs, logprobs_result, model_version, grounding_metadata, citation_metadata: the model's own metadata.
        interaction_id, environment_id: what the model's server keeps of the conversation.
        input_transcription, output_transcription: transcripts of spoken audio.
    """

    model_config = ConfigDict(
        extra="allow",
        # Building the validators of google-genai's types is slow, and a program needs few of the runtime's models.
        defer_build=True,
        alias_generator=to_camel,
        populate_by_name=True,
        ser_json_bytes="base64",
        val_json_bytes="base64",
        # google-adk's field `model_version` begins with pydantic's protected `model_`.
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
    interaction_id: str | None = None
    environment_id: str | None = None
    turn_complete_reason: types.TurnCompleteReason | None = None
    live_session_resumption_update: types.LiveServerSessionResumptionUpdate | None = None
    live_session_id: str | None = None
    go_away: types.LiveServerGoAway | None = None
    voice_activity: types.VoiceActivity | None = None

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
        """Convert google-genai's response.

        Args:
            generate_content_response: the result of `generate_content`, or one chunk of its stream.

        Returns:
            A response with the first candidate's content, or with an error code and message if there is none. An answer with neither
            candidates nor a reason is an empty content, as such turns can be complete.
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
                avg_logprobs=candidate.avg_logprobs,
                logprobs_result=candidate.logprobs_result,
                **common,
            )
        if response.prompt_feedback:
            reason = response.prompt_feedback.block_reason
            return cls(
                error_code=reason.value if reason else "UNKNOWN_ERROR",
                error_message=response.prompt_feedback.block_reason_message,
                **common,
            )
        logger.warning("The model returned neither content nor a reason. The answer is taken as empty.")
        return cls(content=types.Content(role="model", parts=[]), **common)
