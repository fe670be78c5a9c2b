"""MCP toolsets, against real servers over all three transports."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import psutil
import pytest

import runtime.tools.mcp_tool as package
from runtime.agents import LlmAgent, McpInstructionProvider
from runtime.agents.readonly_context import ReadonlyContext
from runtime.auth import AuthCredential
from runtime.errors import missing_package_error
from runtime.events import Event
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import Rule, ScriptedLlm, instruction_text
from runtime.runners import InMemoryRunner
from runtime.tools import MCPToolset, McpToolset
from runtime.tools.mcp_tool import SseConnectionParams, StdioConnectionParams, StreamableHTTPConnectionParams
from runtime.tools.mcp_tool.mcp_connection import McpConnectionError
from runtime.tools.mcp_tool.mcp_session_manager import MCPSessionManager, StdioServerParameters
from runtime.tools.mcp_tool.mcp_tool import McpTool
from tests.agent_specs import message
from tests.interop.google_adk import adk_1_python
from tests.unit.tools.tool_contexts import tool_context

ROOT = Path(__file__).resolve().parents[3]
LONG = 60.0  # seconds for servers to start on a busy machine; the tests that show a timeout set a short one


def stdio(timeout: float = LONG, **more: Any) -> StdioConnectionParams:
    server = StdioServerParameters(
        command=sys.executable, args=["-W", "ignore", "-m", "tests.mcp_server", "stdio"], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, **more
    )
    return StdioConnectionParams(server_params=server, timeout=timeout)


def process(timeout: float = LONG) -> StdioConnectionParams:
    """A server that starts at once."""
    command = StdioServerParameters(command=sys.executable, args=["-S", str(ROOT / "tests" / "mcp_process.py")])
    return StdioConnectionParams(server_params=command, timeout=timeout)


def start_server(transport: str) -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-m", "tests.mcp_server", transport, str(port)], cwd=ROOT)
    end = time.monotonic() + LONG
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=LONG).close()
            break
        except OSError:
            assert process.poll() is None and time.monotonic() < end, "the server did not start"
            time.sleep(0.02)
    return process, f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    started = {transport: start_server(transport) for transport in ("sse", "streamable-http")}
    yield {transport: url for transport, (_, url) in started.items()}
    for process, _ in started.values():
        process.kill()
        process.wait()


def params_of(transport: str, servers: dict[str, str]) -> Any:
    if transport == "stdio":
        return stdio()
    if transport == "sse":
        return SseConnectionParams(url=servers["sse"] + "/sse", headers={"X-Shop": "tea"}, timeout=LONG)
    return StreamableHTTPConnectionParams(url=servers["streamable-http"] + "/mcp", headers={"X-Shop": "tea"}, timeout=LONG)


def agent_that_calls(toolset: McpToolset, *calls: tuple[str, dict[str, Any]], **more: Any) -> LlmAgent:
    replies = [*({"calls": [call]} for call in calls), "done"]
    return LlmAgent(name="agent", model=ScriptedLlm(replies=replies), tools=[toolset], **more)


async def run(agent: LlmAgent) -> list[Event]:
    runner = InMemoryRunner(agent=agent, app_name="app")
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
    return [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message("go"))]


def answers(events: list[Event]) -> list[Any]:
    return [response.response for event in events for response in event.get_function_responses()]


def text(answer: Any) -> str:
    return str(answer["content"][0]["text"])


@pytest.mark.parametrize("transport", ["stdio", "sse", "streamable-http"])
async def test_an_agent_calls_tools_over_every_transport(transport: str, servers: dict[str, str]) -> None:
    requests: list[LlmRequest] = []
    toolset = McpToolset(connection_params=params_of(transport, servers), header_provider=lambda context: {"X-User": context.user_id})
    calls = [("add", {"a": 2, "b": 3}), ("header", {"name": "x-shop"}), ("header", {"name": "x-user"}), ("fail", {})]

    events = await run(
        agent_that_calls(toolset, *calls, before_model_callback=lambda callback_context, llm_request: requests.append(llm_request))
    )

    added, shop, user, failed = answers(events)
    assert added == {"content": [{"type": "text", "text": "5"}], "structuredContent": {"result": 5}, "isError": False}
    assert (text(shop), text(user)) == (("None", "None") if transport == "stdio" else ("tea", "u"))
    assert failed["isError"] and "fail" in text(failed)
    declared = [one for tool in requests[0].config.tools or [] for one in tool.function_declarations or []]  # type: ignore[union-attr]
    assert [one.name for one in declared] == ["add", "process", "header", "count", "hang", "die", "fail"]
    assert declared[0].description == "Add two numbers."
    assert declared[0].parameters_json_schema["required"] == ["a", "b"]


TOKEN = {"authType": "http", "http": {"scheme": "bearer", "credentials": {"token": "t"}}}


@pytest.mark.parametrize(
    ("scheme", "credential", "name", "value"),
    [
        ({"type": "apiKey", "in": "header", "name": "X-Key"}, {"authType": "apiKey", "apiKey": "k"}, "x-key", "k"),
        ({"type": "http", "scheme": "bearer"}, TOKEN, "authorization", "Bearer t"),
    ],
    ids=["key", "token"],
)
async def test_a_credential_is_sent_in_a_header(
    scheme: dict[str, Any], credential: dict[str, Any], name: str, value: str, servers: dict[str, str]
) -> None:
    toolset = McpToolset(
        connection_params=params_of("streamable-http", servers),
        auth_scheme=scheme,
        auth_credential=AuthCredential.model_validate(credential),
        header_provider=lambda context: {name.upper(): "from the provider"},
    )

    assert text(answers(await run(agent_that_calls(toolset, ("header", {"name": name}))))[0]) == value


async def test_a_filter_chooses_and_a_prefix_renames_tools(servers: dict[str, str]) -> None:
    toolset = McpToolset(connection_params=params_of("streamable-http", servers), tool_filter=["add"], tool_name_prefix="shop")

    assert text(answers(await run(agent_that_calls(toolset, ("shop_add", {"a": 1, "b": 1}))))[0]) == "2"
    refused = answers(await run(agent_that_calls(toolset, ("shop_process", {}))))[0]
    assert "shop_add" in refused["error"]


async def test_a_process_lives_as_long_as_the_run() -> None:
    toolset = McpToolset(connection_params=process(), tool_filter=["process"])
    agent = agent_that_calls(toolset, ("process", {}), ("process", {}))

    first, second = (text(answer) for answer in answers(await run(agent)))
    (other,) = {text(answer) for answer in answers(await run(agent))}

    assert first == second != other
    assert not psutil.pid_exists(int(first)) and not psutil.pid_exists(int(other))


async def test_a_process_ends_with_a_stopped_run() -> None:
    runner = InMemoryRunner(agent=agent_that_calls(McpToolset(connection_params=process(), tool_filter=["process"]), ("process", {})))
    await runner.session_service.create_session(app_name="InMemoryRunner", user_id="u", session_id="s")
    pid = 0
    async with aclosing(runner.run_async(user_id="u", session_id="s", new_message=message("go"))) as events:
        async for event in events:
            if event.get_function_responses():
                pid = int(text(answers([event])[0]))
                assert psutil.pid_exists(pid)
                break

    assert not psutil.pid_exists(pid)


async def test_a_toolset_used_outside_a_run_is_closed_by_close() -> None:
    toolset = McpToolset(connection_params=process(), tool_filter=["process"])
    (tool,) = await toolset.get_tools()
    assert isinstance(tool, McpTool) and tool.raw_mcp_tool.name == "process"
    session = await toolset._mcp_session_manager.create_session()
    pid = int((await session.call_tool("process", {})).content[0].text)
    assert psutil.pid_exists(pid)

    await toolset.close()

    assert not psutil.pid_exists(pid)


async def test_a_process_that_dies_is_an_error_for_the_model_and_is_started_again() -> None:
    toolset = McpToolset(connection_params=process(), tool_filter=["process", "die"])

    before, died, after = answers(await run(agent_that_calls(toolset, ("process", {}), ("die", {}), ("process", {}))))

    assert "has ended" in died["error"] and "-m" not in died["error"]
    assert text(before) != text(after)


async def test_a_server_that_hangs_is_an_error_for_the_model(servers: dict[str, str]) -> None:
    params = StreamableHTTPConnectionParams(url=servers["streamable-http"] + "/mcp", timeout=LONG, sse_read_timeout=0.5)

    hung, added = answers(
        await run(
            agent_that_calls(McpToolset(connection_params=params, tool_filter=["hang", "add"]), ("hang", {}), ("add", {"a": 1, "b": 1}))
        )
    )

    assert hung == {"error": f"The MCP server {params.url} did not answer the call of hang in time."}
    assert text(added) == "2"


async def test_an_error_callback_answers_in_place_of_a_dead_server() -> None:
    toolset = McpToolset(connection_params=process(), tool_filter=["die"])
    agent = agent_that_calls(toolset, ("die", {}), on_tool_error_callback=lambda tool, args, tool_context, error: {"sorry": str(error)})

    assert "has ended" in answers(await run(agent))[0]["sorry"]


async def test_a_cancelled_call_leaves_no_process() -> None:
    pids: list[int] = []
    started = asyncio.Event()

    def note(tool: Any, args: Any, tool_context: Any) -> None:
        if tool.name == "hang":
            told = [(child.pid, child.as_dict(["cmdline"])["cmdline"] or []) for child in psutil.Process().children()]  # none of a zombie
            pids.extend(pid for pid, words in told if str(ROOT / "tests" / "mcp_process.py") in words)
            started.set()

    agent = agent_that_calls(McpToolset(connection_params=process(), tool_filter=["hang"]), ("hang", {}), before_tool_callback=note)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run(agent))
        await started.wait()
        task.cancel()

    assert pids and not any(psutil.pid_exists(pid) for pid in pids)


def test_a_killed_program_leaves_no_process() -> None:
    script = (
        "import asyncio, sys\n"
        "from runtime.tools.mcp_tool.mcp_session_manager import MCPSessionManager, StdioConnectionParams, StdioServerParameters\n"
        "async def main():\n"
        "    server = StdioServerParameters(command=sys.executable, args=['-S', 'tests/mcp_process.py'])\n"
        "    session = await MCPSessionManager(StdioConnectionParams(server_params=server, timeout=60)).create_session()\n"
        "    print((await session.call_tool('process', {})).content[0].text, flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    program = subprocess.Popen([sys.executable, "-W", "ignore", "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    with program, program.stdout:
        server = psutil.Process(int(program.stdout.readline()))
        program.kill()

    psutil.wait_procs([server], timeout=LONG)
    assert not server.is_running() or server.status() == psutil.STATUS_ZOMBIE


async def test_what_cannot_be_started_or_reached_is_a_clear_error() -> None:
    missing = StdioConnectionParams(server_params=StdioServerParameters(command="/no/such/server", args=["--key", "secret"]))
    with pytest.raises(McpConnectionError, match=r"The MCP server /no/such/server could not be reached: .*No such file") as found:
        await McpToolset(connection_params=missing).get_tools()
    assert isinstance(found.value, ConnectionError)
    with pytest.raises(McpConnectionError, match=r"http://127.0.0.1:9/mcp could not be reached"):
        await McpToolset(connection_params=StreamableHTTPConnectionParams(url="http://user:pw@127.0.0.1:9/mcp?key=secret")).get_tools()
    silent = StdioServerParameters(command=sys.executable, args=["-c", "import sys; sys.stdin.read()"])
    with pytest.raises(McpConnectionError, match=r"did not answer within 0\.2 seconds"):
        await McpToolset(connection_params=StdioConnectionParams(server_params=silent, timeout=0.2)).get_tools()


async def test_progress_arrives_on_the_agents_loop_and_may_write_state(servers: dict[str, str]) -> None:
    seen: list[tuple[Any, ...]] = []
    loop = asyncio.get_running_loop()

    async def note(*report: Any) -> None:
        assert asyncio.get_running_loop() is loop
        seen.append(report)

    def factory(tool_name: str, *, callback_context: Any = None, **kwargs: Any) -> Any:
        async def write(progress: float, total: float | None, message: str | None) -> None:
            callback_context.state[tool_name] = progress

        return write

    await run(
        agent_that_calls(McpToolset(connection_params=params_of("streamable-http", servers), progress_callback=note), ("count", {"to": 2}))
    )
    events = await run(
        agent_that_calls(
            McpToolset(connection_params=params_of("streamable-http", servers), progress_callback=factory), ("count", {"to": 2})
        )
    )

    assert seen == [(1.0, 2.0, "step 1"), (2.0, 2.0, "step 2")]
    assert {"count": 2.0} in [event.actions.state_delta for event in events]


@pytest.mark.parametrize("required", [True, lambda a: a > 1, lambda **args: "tool_context" in args])
async def test_a_call_can_need_a_confirmation(required: bool | Callable[..., bool], servers: dict[str, str]) -> None:
    toolset = McpToolset(connection_params=params_of("streamable-http", servers), tool_filter=["add"], require_confirmation=required)

    events = await run(agent_that_calls(toolset, ("add", {"a": 2, "b": 3})))

    assert answers(events)[0] == {"error": "This tool call requires confirmation, please approve or reject."}
    assert [call.name for event in events for call in event.get_function_calls()][-1] == "adk_request_confirmation"


@pytest.mark.logs("has no resource 'none'")
async def test_the_model_reads_resources(servers: dict[str, str]) -> None:
    seen: list[LlmRequest] = []

    def read(request: LlmRequest) -> Any:
        seen.append(request)
        return {"calls": [("load_mcp_resource", {"resource_names": ["prices", "none"]})]} if len(seen) == 1 else "tea costs 3"

    toolset = McpToolset(connection_params=params_of("streamable-http", servers), tool_filter=["add"], use_mcp_resources=True)
    await run(LlmAgent(name="agent", model=ScriptedLlm(rules=[Rule(reply=read)]), tools=[toolset]))

    assert '["prices"]' in instruction_text(seen[0])
    shown = seen[1].contents[-1].parts or []
    assert [part.text for part in shown] == ["Resource prices is:", "tea: 3"]


async def test_a_prompt_of_a_server_is_an_instruction(servers: dict[str, str]) -> None:
    seen: list[str] = []
    llm = ScriptedLlm(rules=[Rule(reply=lambda request: seen.append(instruction_text(request)) or "hi")])
    runner = InMemoryRunner(
        agent=LlmAgent(name="agent", model=llm, instruction=McpInstructionProvider(params_of("streamable-http", servers), "greeting")),
        app_name="app",
    )
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s", state={"customer": "Ada"})
    async for _ in runner.run_async(user_id="u", session_id="s", new_message=message("go")):
        pass

    assert seen[0].startswith("Greet Ada politely.")
    with pytest.raises(ValueError, match="has no prompt 'farewell'"):
        await McpInstructionProvider(params_of("streamable-http", servers), "farewell")(ReadonlyContext(tool_context()._invocation_context))


def test_with_version_1_of_the_package_mcp_the_model_sees_the_same(servers: dict[str, str]) -> None:
    places = [servers["sse"] + "/sse", servers["streamable-http"] + "/mcp", str(ROOT / "tests" / "mcp_process.py")]
    command = [adk_1_python(), "-W", "ignore", "-m", "tests.mcp_client", *places]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=LONG)
    assert done.returncode == 0, done.stderr.decode()
    said = json.loads(done.stdout)

    assert said["mcp"].startswith("1.")
    for place in places[:2]:
        told = said["told"][place]
        assert list(told["tools"]) == ["add", "process", "header", "count", "hang", "die", "fail", "load_mcp_resource"]
        assert told["tools"]["add"]["required"] == ["a", "b"]
        assert told["instruction"].startswith("Greet Ada politely.")
        added, failed, _ = told["answers"]
        assert added == {"content": [{"type": "text", "text": "5"}], "structuredContent": {"result": 5}, "isError": False}
        assert failed["isError"] and "fail" in text(failed)
        assert told["contents"][-2:] == ["Resource prices is:", "tea: 3"]
    assert "has ended" in said["told"][places[2]]["answers"][0]["error"]
    assert said["times out"] == [True, True, True]


async def test_a_list_of_tools_can_be_kept_for_a_time() -> None:
    toolset = McpToolset(connection_params=process(), tool_filter=["die"], tool_list_cache_ttl_seconds=60)
    assert [tool.name for tool in await toolset.get_tools()] == ["die"]
    await toolset.close()
    toolset._mcp_session_manager = MCPSessionManager(StdioConnectionParams(server_params=StdioServerParameters(command="/no/such")))

    assert [tool.name for tool in await toolset.get_tools()] == ["die"]


def test_old_names_and_wrong_parameters() -> None:
    with pytest.warns(DeprecationWarning, match="McpToolset"):
        assert isinstance(MCPToolset(connection_params=process()), McpToolset)
    assert isinstance(MCPSessionManager(StdioServerParameters(command="x"))._params, StdioConnectionParams)
    with pytest.raises(ValueError, match="A str does not say how to reach an MCP server"):
        McpToolset(connection_params="http://example.com")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs connection_params"):
        McpToolset(connection_params=None)  # type: ignore[arg-type]


def test_without_the_package_the_import_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing_package_error.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"MCP tools need the package mcp: .* install .*'mcp<3,>=2\.3'$"):
        package.require("mcp", "mcp", "MCP tools")
