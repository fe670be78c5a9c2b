"""What is special about the run of a live conversation."""

from __future__ import annotations

from google.genai import types

from runtime.contexts.run_config import RunConfig
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.events.event import Event


def live_settings(given: RunConfig | None) -> RunConfig:
    """Return the settings of a live run: the modalities are audio unless others are given.

    Args:
        given: the caller's settings, which are not changed.

    Raises:
        EngineNeededError: they ask to save the audio.
    """
    config = given or RunConfig()
    if config.save_live_blob or config.save_live_audio:
        raise EngineNeededError("Saving live audio as artifacts (save_live_blob)")
    if config.response_modalities is None:
        config = config.model_copy(update={"response_modalities": [types.Modality.AUDIO]})
    return config


def holds_bytes(event: Event) -> bool:
    """Return whether an event holds audio or video itself, which is played and not stored."""
    return any(part.inline_data is not None for part in (event.content.parts if event.content else None) or ())
