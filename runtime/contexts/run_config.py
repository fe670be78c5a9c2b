"""What may differ from run to run."""

from __future__ import annotations

from enum import Enum
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict


class StreamingMode(Enum):
    """How a model's answers arrive."""

    NONE = None
    SSE = "sse"
    BIDI = "bidi"


class RunConfig(BaseModel):
    """Settings of one run.

    Attributes:
        streaming_mode: SSE streams answers as partial events. (BIDI, live audio, is not supported.)
        max_llm_calls: most model calls in one invocation; 0 or less: no limit.
        response_modalities: what the model is to answer with, such as `["TEXT"]`.
        save_input_blobs_as_artifacts: files in the user's message become artifacts, and their names stand in their place; without an
            artifact service they stay.
        speech_config, support_cfc: accepted for google-adk's sake.
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
