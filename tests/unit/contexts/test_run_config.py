"""The settings of a run are its own."""

from __future__ import annotations

from google.genai import types

from runtime.contexts.run_config import RunConfig


def test_each_run_has_transcription_settings_of_its_own_as_google_genai_makes_them() -> None:
    one, other = RunConfig(), RunConfig()
    for name in ("input_audio_transcription", "output_audio_transcription"):
        made = getattr(one, name)
        assert made is not getattr(other, name)
        assert made == types.AudioTranscriptionConfig()
        assert made.model_fields_set == set()
        made.language_codes = ["de"]
        assert getattr(RunConfig(), name) == types.AudioTranscriptionConfig()
    assert one.input_audio_transcription is not one.output_audio_transcription
