"""The recorder's one file, copied beside an app on the real google-adk; our reader reads what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from runtime.storage.recordings.recording import Recording
from tests.interop.google_adk import adk_1_python, adk_python, run_adk
from tests.recorder import FILE

PROGRAM = """
    import importlib.util
    from google.adk.agents import LlmAgent
    from google.adk.apps.app import App
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import Runner

    spec = importlib.util.spec_from_file_location("recorder_plugin", args[0])
    module = sys.modules["recorder_plugin"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def look(place: str) -> dict:
        if place == "nowhere":
            raise LookupError("no such place")
        return {"api_key": "horse-battery-7"}

    class Scripted(BaseLlm):
        model: str = "scripted"
        async def generate_content_async(self, llm_request, stream=False):
            last = llm_request.contents[-1].parts[-1]
            if last.function_response:
                yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Seen.")]))
            elif last.text == "fail":
                raise ValueError("overloaded")
            else:
                call = types.FunctionCall(name="look", args={"place": last.text})
                yield LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)]),
                    usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=7, total_token_count=9))

    plugin = module.RecorderPlugin(args[1])
    app = App(name="app", root_agent=LlmAgent(name="seer", model=Scripted(), instruction="Look.", tools=[look]), plugins=[plugin])
    service = DatabaseSessionService(f"sqlite+aiosqlite:///{args[2]}")
    runner = Runner(app=app, session_service=service)
    await service.create_session(app_name="app", user_id="u", session_id="s")
    ids, errors = [], []
    for text in ("north", "fail", "nowhere"):
        message = types.Content(role="user", parts=[types.Part(text=text)])
        try:
            async for event in runner.run_async(user_id="u", session_id="s", new_message=message):
                if not event.get_function_responses():
                    ids.append(event.id)
        except Exception as error:
            errors.append(type(error).__name__)
    await plugin.close()
    return [ids, errors, plugin.recording.problem]
"""


@pytest.mark.parametrize("python", [adk_1_python, adk_python], ids=["1.39", "2.13"])
def test_a_run_on_google_adk_is_recorded(python: Callable[[], str], tmp_path: Path) -> None:
    file = tmp_path / "run.rec.db"
    ids, errors, problem = run_adk(PROGRAM, str(FILE), str(file), str(tmp_path / "run.db"), python=python())
    assert (errors, problem) == (["ValueError", "LookupError"], None)
    with closing(Recording(file)) as recording:
        calls = recording.model_calls()
        answered = [call.event_id for call in calls if call.error is None]
        assert answered == [event_id for event_id in ids if event_id in answered] and len(answered) == 3
        assert [call.error for call in calls] == [None, None, "ValueError: overloaded", None]
        assert calls[0].answered["usage_metadata"]["total_token_count"] == 9
        assert all(call.first is not None and call.ended is not None for call in calls if call.error is None)
        assert [(call.tool, call.error) for call in recording.tool_calls()] == [("look", None), ("look", "LookupError: no such place")]
        request = recording.request(calls[1].number)
        assert request.contents[0]["parts"] == [{"text": "north"}]
        (response,) = [
            part["function_response"] for content in request.contents for part in content["parts"] if "function_response" in part
        ]
        assert response["response"] == {"api_key": "(redacted)"}
        assert request.answer is not None and request.answer["parts"] == [{"text": "Seen."}]
    assert b"horse-battery" not in file.read_bytes()
