"""Settings of a single run."""

from __future__ import annotations

from enum import Enum
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict


class StreamingMode(Enum):
    """How a model's answers are delivered."""

    NONE = None
    SSE = "sse"
    BIDI = "bidi"


class RunConfig(BaseModel):
    """Settings of one run.

    Attributes:
        streaming_mode: SSE streams answers as partial events. (BIDI, live audio, is not supported.)
        max_llm_calls: maximum number of model calls in one invocation; no limit if 0 or less.
        response_modalities: the kinds of output requested from the model, such as `["TEXT"]`.
        save_input_blobs_as_artifacts: replace files in the user's message by the names of artifacts; without an artifact service they
            are kept.
        speech_config, support_cfc: ignored; accepted for compatibility with google-adk.
        custom_metadata: copied onto every event of the run.
    """

    model_config = ConfigDict(extra="forbid")

    streaming_mode: StreamingMode = StreamingMode.NONE
    max_llm_calls: int = 500
    response_modalities: list[str] | None = None
    speech_config: types.SpeechConfig | None = None
    save_input_blobs_as_artifacts: bool = False
    support_cfc: bool = False
    custom_metadata: dict[str, Any] | None = None
