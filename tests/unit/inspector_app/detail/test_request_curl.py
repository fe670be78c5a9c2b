"""A request as a cURL command: what the shell makes of it."""

from __future__ import annotations

import json
import subprocess

import pytest

from inspector_app.detail.request_curl import NoCurlError, curl_of
from runtime.storage.recordings.recorded_call import RecordedModelRequest

CONTENTS = ({"role": "user", "parts": [{"text": 'it\'s $HOME `id` "x" \\ \n ü \x1b[2J \u202e 😀'}]},)


def request(model: str | None = "gemini-2.5-flash", **config: object) -> RecordedModelRequest:
    return RecordedModelRequest(model, config, CONTENTS, None)


def arguments(command: str) -> list[str]:
    """Return the arguments that a shell gives to curl."""
    script = f'curl() {{ for given in "$@"; do printf "%s\\0" "$given"; done; }}\n{command}\n'
    done = subprocess.run(
        ["sh"], input=script.encode(), capture_output=True, check=True, env={"GEMINI_API_KEY": "the-key", "HOME": "/nowhere"}
    )
    assert done.stderr == b""
    return done.stdout.decode().split("\0")[:-1]


def test_the_shell_sends_the_request_and_puts_the_key_in() -> None:
    schema = {"type": "OBJECT", "properties": {"query": {"type": "STRING"}}}
    tools = [{"function_declarations": [{"name": "find", "parameters": schema}]}]
    command = curl_of(request(system_instruction="Be brief.", tools=tools, temperature=0.5, labels={"a": "b"}, http_options={"timeout": 1}))
    assert "the-key" not in command and "\x1b" not in command and "\u202e" not in command and "😀" in command
    address, *rest = arguments(command)
    assert address == "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent"
    assert rest[:4] == ["-H", "x-goog-api-key: the-key", "-H", "Content-Type: application/json"]
    assert json.loads(rest[5]) == {
        "contents": list(CONTENTS),
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "tools": tools,
        "generation_config": {"temperature": 0.5},
    }


@pytest.mark.parametrize("model", ["models/gemini-x", "projects/p/locations/l/publishers/google/models/gemini-x", "gemini/gemini-x"])
def test_longer_names_of_gemini(model: str) -> None:
    assert arguments(curl_of(request(model)))[0].endswith("/models/gemini-x:generateContent")


def test_a_hostile_name_stays_a_name() -> None:
    assert arguments(curl_of(request("gemini'; touch x; '$(id)")))[0].endswith(
        "/gemini%27%3B%20touch%20x%3B%20%27%24%28id%29:generateContent"
    )


@pytest.mark.parametrize(("model", "named"), [("claude-4", "claude-4"), (None, "without a name"), ("", "without a name")])
def test_other_models_are_refused_with_a_sentence(model: str | None, named: str) -> None:
    with pytest.raises(NoCurlError, match=named):
        curl_of(request(model))
