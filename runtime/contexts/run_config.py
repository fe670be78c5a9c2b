"""Settings of a single run."""

from __future__ import annotations

import os
import sys
from enum import Enum
from functools import cache
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, field_validator

from runtime.sessions.base_session_service import GetSessionConfig
from runtime.support.unchecked import copy_unchecked


class StreamingMode(Enum):
    """How a model's answers are delivered."""

    NONE = None
    SSE = "sse"
    BIDI = "bidi"


class ToolThreadPoolConfig(BaseModel):
    """The threads of synchronous tools in google-adk.

    Attributes:
        max_workers: maximum number of threads.
    """

    model_config = ConfigDict(extra="forbid")

    max_workers: int = Field(default=4, ge=1)


@cache
def _transcribed() -> types.AudioTranscriptionConfig:
    # Cached, as google-genai's constructor is slow and every run has two; callers copy it.
    return types.AudioTranscriptionConfig()


class RunConfig(BaseModel):
    """Settings of one run.

    Attributes:
        streaming_mode: SSE streams answers as partial events. Live conversations need none: see `Runner.run_live`.
        max_llm_calls: maximum number of model calls in one invocation; no limit if 0 or less. Its default is the environment variable
            `ADK_MAX_LLM_CALLS`, or 500.
        response_modalities: the kinds of output requested from the model, such as `["TEXT"]`.
        save_input_blobs_as_artifacts: replace files in the user's message by the names of artifacts; without an artifact service they
            are kept.
        custom_metadata: copied onto every event of the run.
        model_input_context: contents that precede the user's message in every request of the run; they are never stored.
        include_thoughts_from_other_agents: tell an agent what other agents thought, and not only what they said and did.
        get_session_config: the events to load from the session service; all if None. Models and agents see no others.
        labels: added to the labels of every request, by which a provider's bill can be split.
        http_options: for every request, such as headers and a timeout; they replace the agent's own.
        speech_config, output_audio_transcription, input_audio_transcription, realtime_input_config, enable_affective_dialog,
            proactivity, session_resumption, context_window_compression, avatar_config, explicit_vad_signal, translation_config,
            history_config: settings of live conversations, which the model's connection receives in its request.
        save_live_blob, save_live_audio: save the audio as artifacts, which only the google-adk engine does; a live run refuses them.
        support_cfc: not used.
        service_tier: for models that are called by the interactions API, which only the google-adk engine calls. It is not used here.
        telemetry: google-adk's settings of traces. They are not used here.
        tool_thread_pool_config: not used: synchronous tools have one thread for each agent (`docs/decisions/0037`).
    """

    model_config = ConfigDict(extra="forbid")

    streaming_mode: StreamingMode = StreamingMode.NONE
    max_llm_calls: int = Field(default_factory=lambda: int(os.environ.get("ADK_MAX_LLM_CALLS") or 500))
    response_modalities: list[types.Modality] | None = None
    save_input_blobs_as_artifacts: bool = False
    custom_metadata: dict[str, Any] | None = None
    model_input_context: list[types.Content] | None = None
    include_thoughts_from_other_agents: bool = False
    get_session_config: GetSessionConfig | None = None
    labels: dict[str, str] | None = None
    http_options: types.HttpOptions | None = None
    speech_config: types.SpeechConfig | None = None
    support_cfc: bool = False
    output_audio_transcription: types.AudioTranscriptionConfig | None = Field(default_factory=lambda: copy_unchecked(_transcribed()))
    input_audio_transcription: types.AudioTranscriptionConfig | None = Field(default_factory=lambda: copy_unchecked(_transcribed()))
    realtime_input_config: types.RealtimeInputConfig | None = None
    enable_affective_dialog: bool | None = None
    proactivity: types.ProactivityConfig | None = None
    session_resumption: types.SessionResumptionConfig | None = None
    context_window_compression: types.ContextWindowCompressionConfig | None = None
    save_live_blob: bool = False
    save_live_audio: bool = False
    avatar_config: Any | None = None
    explicit_vad_signal: bool | None = None
    translation_config: Any | None = None
    history_config: Any | None = None
    tool_thread_pool_config: ToolThreadPoolConfig | None = None
    service_tier: str | None = None
    telemetry: Any | None = None

    @field_validator("max_llm_calls")
    @classmethod
    def validate_max_llm_calls(cls, value: int) -> int:
        """Return a limit.

        Raises:
            ValueError: the limit is `sys.maxsize` or more.
        """
        if value >= sys.maxsize:
            raise ValueError(f"max_llm_calls should be less than {sys.maxsize}. For no limit, give 0.")
        return value
