"""A program for the real google-adk that builds the trees of `tests.crash.trees`, resumes our runs of them, and returns the results."""

from __future__ import annotations

PROGRAM = """
from contextlib import aclosing
from fastapi.openapi.models import OAuth2, OAuthFlowAuthorizationCode, OAuthFlows
from google.adk.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.agents.base_agent import BaseAgentState
from google.adk.apps import App, ResumabilityConfig
from google.adk.auth.auth_credential import AuthCredential, OAuth2Auth
from google.adk.auth.auth_tool import AuthConfig
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.tools import FunctionTool, LongRunningFunctionTool
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.tool_context import ToolContext
from pydantic import BaseModel

class Script(BaseLlm):
    replies: list
    async def generate_content_async(self, llm_request, stream=False):
        said = sum(content.role == "model" for content in llm_request.contents)
        reply = self.replies[min(said, len(self.replies) - 1)]
        parts = [types.Part(text=reply["text"])] if "text" in reply else [
            types.Part(function_call=types.FunctionCall(name=name, args=args)) for name, args in reply["calls"]
        ]
        yield LlmResponse(content=types.Content(role="model", parts=parts))

class StepsState(BaseAgentState):
    step: int = 0
    done: list = []

def said(agent, ctx, text, state=None):
    content = types.Content(role="model", parts=[types.Part(text=text)])
    actions = EventActions(state_delta=state or {})
    return Event(invocation_id=ctx.invocation_id, author=agent.name, branch=ctx.branch, content=content, actions=actions)

class Steps(BaseAgent):
    steps: list
    def at(self, ctx, **state):
        ctx.set_agent_state(self.name, **state)
        return self._create_agent_state_event(ctx)
    async def _run_async_impl(self, ctx):
        state = self._load_agent_state(ctx, StepsState)
        if state is None:
            state = StepsState()
            yield self.at(ctx, agent_state=state)
        for number in range(state.step, len(self.steps)):
            step = self.steps[number]
            if "run" in step:
                async with aclosing(self.find_sub_agent(step["run"]).run_async(ctx)) as events:
                    async for event in events:
                        yield event
                        if ctx.should_pause_invocation(event):
                            return
            else:
                yield said(self, ctx, step["text"], step.get("state"))
            state = StepsState(step=number + 1, done=[*state.done, step["name"]])
            yield self.at(ctx, agent_state=state)
        yield self.at(ctx, end_of_agent=True)

class Plain(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield said(self, ctx, self.name + " begins", {self.name + "_began": True})
        for sub_agent in self.sub_agents:
            async with aclosing(sub_agent.run_async(ctx)) as events:
                async for event in events:
                    yield event
        yield said(self, ctx, self.name + " is done")

class Emit(BaseAgent):
    lines: list
    async def _run_async_impl(self, ctx):
        for line in self.lines:
            yield said(self, ctx, line)

class Total(BaseModel):
    total: int

flow = {"authorizationUrl": "https://idp/auth", "tokenUrl": "https://idp/token", "scopes": {"files": "all of them"}}
SCHEME = OAuth2(flows=OAuthFlows(authorizationCode=OAuthFlowAuthorizationCode(**flow)))
LOGIN = AuthConfig(
    auth_scheme=SCHEME, raw_auth_credential=AuthCredential(auth_type="oauth2", oauth2=OAuth2Auth(client_id="me", client_secret="hidden"))
)
world = []

def change(tool, what, tool_context):
    world.append(tool + " " + what)
    tool_context.state[tool + "_" + what] = True
    tool_context.state["user:" + tool + "_" + what] = True

async def note(what: str, tool_context: ToolContext) -> dict:
    change("note", what, tool_context)
    return {"noted": what}
async def order(what: str, tool_context: ToolContext) -> dict:
    change("order", what, tool_context)
    return {"status": "pending"}
async def silent_order(what: str, tool_context: ToolContext) -> dict:
    change("silent_order", what, tool_context)
async def pay(what: str, tool_context: ToolContext) -> dict:
    change("pay", what, tool_context)
    return {"paid": what}
async def ask_first(what: str, tool_context: ToolContext) -> dict:
    if tool_context.tool_confirmation is None:
        tool_context.state["asked_" + what] = True
        tool_context.request_confirmation(hint="Really " + what + "?")
        return {"status": "asked"}
    change("ask_first", what, tool_context)
    return {"status": "done"}
async def log_in(what: str, tool_context: ToolContext) -> dict:
    if tool_context.get_auth_response(LOGIN) is None:
        tool_context.request_credential(LOGIN)
        return {"status": "login needed"}
    change("log_in", what, tool_context)
    return {"status": "in"}
async def leave_loop(tool_context: ToolContext) -> dict:
    tool_context.actions.escalate = True
    tool_context.actions.skip_summarization = True
    return {}

functions = {function.__name__: function for function in (note, order, silent_order, pay, ask_first, log_in, leave_loop)}

def tool(name):
    function = functions[name]
    if name in ("order", "silent_order"):
        return LongRunningFunctionTool(function)
    return FunctionTool(function, require_confirmation=name == "pay")

def build(spec):
    common = {"name": spec["name"], "sub_agents": [build(sub) for sub in spec.get("sub_agents", [])]}
    if spec.get("marks"):
        def writes(hook):
            def callback(**given):
                (given.get("callback_context") or given["tool_context"]).state[spec["name"] + "_" + hook] = True
            return callback
        hooks = ["before_agent_callback", "after_agent_callback"]
        if spec["type"] == "llm":
            hooks += ["before_model_callback", "after_model_callback", "before_tool_callback", "after_tool_callback"]
        common.update({hook: writes(hook) for hook in hooks})
    kind = spec["type"]
    if kind == "sequential":
        return SequentialAgent(**common)
    if kind == "parallel":
        return ParallelAgent(**common)
    if kind == "loop":
        return LoopAgent(**common, max_iterations=spec["max_iterations"])
    if kind == "steps":
        return Steps(**common, steps=spec["steps"])
    if kind == "plain":
        return Plain(**common)
    if kind == "emit":
        return Emit(**common, lines=spec["lines"])
    inner = {agent["name"]: AgentTool(build(agent)) for agent in spec.get("agent_tools", [])}
    tools = [inner.get(name) or tool(name) for name in spec.get("tools", [])]
    more = {"description": spec.get("description", ""), "output_key": spec.get("output_key"), "tools": tools}
    if spec.get("shape"):
        more["output_schema"] = Total
    return LlmAgent(**common, **more, model=Script(model="script", replies=spec["script"]))

def answer(call):
    response = {"status": "delivered"}
    if call.name == "adk_request_confirmation":
        response = {"confirmed": True}
    elif call.name == "adk_request_credential":
        response = dict(call.args["authConfig"])
        response["exchangedAuthCredential"] = {"authType": "oauth2", "oauth2": {"clientId": "me", "accessToken": "token"}}
    part = types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=response))
    return types.Content(role="user", parts=[part])

async def loaded(service):
    return await service.get_session(app_name="app", user_id="u", session_id="s")

def open_calls(session):
    given = {response.id for event in session.events if event.author == "user" for response in event.get_function_responses()}
    calls = [call for event in session.events for call in event.get_function_calls() if call.id in (event.long_running_tool_ids or ())]
    return [call for call in calls if call.id not in given]

async def goes_on(service, spec, invocation_id):
    app = App(name="app", root_agent=build(spec), resumability_config=ResumabilityConfig(is_resumable=True))
    runner = Runner(app=app, session_service=service)
    async def run(**more):
        async with aclosing(runner.run_async(user_id="u", session_id="s", **more)) as events:
            async for event in events:
                pass
    error = None
    try:
        await run(invocation_id=invocation_id)
        for _ in range(8):
            calls = open_calls(await loaded(service))
            if not calls:
                break
            await run(new_message=answer(calls[0]))
    except Exception as problem:
        error = type(problem).__name__ + ": " + str(problem)[:200]
    session = await loaded(service)
    after = {"state": session.state, "error": error, "open": len(open_calls(session)), "events": len(session.events)}
    after["ended"] = [event.author for event in session.events if event.actions.end_of_agent]
    try:
        await run(new_message=types.Content(role="user", parts=[types.Part(text="and now?")]))
        after["then"] = None
    except Exception as problem:
        after["then"] = type(problem).__name__ + ": " + str(problem)[:200]
    return after

found = []
for job in json.load(open(args[0])):
    service = DatabaseSessionService("sqlite+aiosqlite:///" + job["file"])
    session = await loaded(service)
    read = {"ids": [event.id for event in session.events], "state": session.state}
    world.clear()
    after = await goes_on(service, job["spec"], job["invocation_id"])
    found.append({"read": read, "world": list(world), **after})
    await service.db_engine.dispose()
return found
"""
