"""google-adk's import path of questions about models' names."""

from runtime.models.model_names import (
    extract_model_name,
    is_gemini_1_model,
    is_gemini_2_or_above,
    is_gemini_3_5_live_translate,
    is_gemini_eap_or_2_or_above,
    is_gemini_model,
    is_gemini_model_id_check_disabled,
)

__all__ = [
    "extract_model_name",
    "is_gemini_1_model",
    "is_gemini_2_or_above",
    "is_gemini_3_5_live_translate",
    "is_gemini_eap_or_2_or_above",
    "is_gemini_model",
    "is_gemini_model_id_check_disabled",
]
