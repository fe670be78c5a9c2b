"""`LlmRequest`: what is added to a request."""

from __future__ import annotations

import pytest
from google.genai import types

from runtime.models import LlmRequest


@pytest.mark.logs("unsupported type")
def test_nothing_is_added_to_an_instruction_that_is_not_a_string() -> None:
    own = types.Content(role="system", parts=[types.Part(text="set by a callback")])
    request = LlmRequest(config=types.GenerateContentConfig(system_instruction=own))
    request.append_instructions(["Be kind."])
    picture = types.Part.from_bytes(data=b"p", mime_type="image/png")
    shown = request.append_instructions(types.Content(parts=[types.Part(text="Look."), picture]))
    assert request.config.system_instruction == own
    assert request.contents == shown and shown[0].parts[-1] == picture
