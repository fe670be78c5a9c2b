"""google-adk continues sessions that our runtime rewound and compacted."""

from __future__ import annotations

from pathlib import Path

from runtime.agents import CallbackContext, LlmAgent
from runtime.apps import App, EventsCompactionConfig
from runtime.apps.llm_event_summarizer import LlmEventSummarizer
from runtime.models.scripted_llm import ScriptedLlm
from runtime.runners import Runner
from runtime.sessions import DatabaseSessionService
from tests.interop.google_adk import run_adk
from tests.seeds.running import run, stored

CONTINUE = """
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
seen = []
class Noting(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        seen.extend(part.text for content in llm_request.contents for part in content.parts)
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="theirs")]))
service = DatabaseSessionService("sqlite+aiosqlite:///" + args[0])
runner = Runner(app_name="app", agent=LlmAgent(name="agent", model=Noting(model="m")), session_service=service)
message = types.Content(role="user", parts=[types.Part(text="last")])
async for event in runner.run_async(user_id="u", session_id="s", new_message=message):
    pass
session = await service.get_session(app_name="app", user_id="u", session_id="s")
return [seen, dict(session.state)]
"""


async def test_google_adk_sends_its_model_the_same_contents(tmp_path: Path) -> None:
    def count(callback_context: CallbackContext) -> None:
        callback_context.state["n"] = callback_context.state["n"] + 1

    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=["answer"]), before_agent_callback=count)
    config = EventsCompactionConfig(summarizer=LlmEventSummarizer(ScriptedLlm(replies=["summary"])), compaction_interval=2, overlap_size=0)
    path = tmp_path / "s.db"
    async with DatabaseSessionService(f"sqlite:///{path}") as service:
        await service.create_session(app_name="app", user_id="u", session_id="s", state={"n": 0})
        runner = Runner(app=App(name="app", root_agent=agent, events_compaction_config=config), session_service=service)
        for text in ("one", "two", "three"):
            await run(runner, text)
        third = (await stored(runner)).events[-1].invocation_id
        await runner.rewind_async(user_id="u", session_id="s", rewind_before_invocation_id=third)
        state = (await stored(runner)).state
    seen, theirs = run_adk(CONTINUE, str(path))
    assert theirs == state == {"n": 2}
    assert "summary" in " ".join(text or "" for text in seen) and seen[-1] == "last"
    assert not {"one", "two", "three", "answer"} & set(seen)
