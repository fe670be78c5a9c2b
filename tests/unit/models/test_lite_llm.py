"""LiteLlm over real sockets, against a local server with OpenAI's protocol."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import aclosing
from typing import Any

import pytest
from google.genai import types

from runtime.agents import LlmAgent, RunConfig
from runtime.agents.run_config import StreamingMode
from runtime.errors import LlmError
from runtime.history.invocations import invocations
from runtime.models.lite_llm import LiteLlm
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse
from runtime.support.worker_threads import run_in_thread
from tests.chat_server import call, chat_server, close_connections, refusal, stream, whole
from tests.gemini_server import Answer, Failure, GeminiServer
from tests.seeds.running import run, runner_for, stored, texts

PROMPT = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text="Hello?")])])
KEY = "sk-a-secret-key"


def llm(server: GeminiServer, **more: Any) -> LiteLlm:
    return LiteLlm("openai/m", api_base=server.url, api_key=KEY, max_retries=0, **more)


async def ask(server: GeminiServer, *, streaming: bool = False) -> list[LlmResponse]:
    return [one async for one in llm(server).generate_content_async(PROMPT.model_copy(deep=True), stream=streaming)]


def parts(response: LlmResponse) -> list[Any]:
    found = (response.content.parts if response.content else None) or []
    return [(part.function_call.name, part.function_call.args) if part.function_call else part.text for part in found]


async def test_without_litellm_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(LlmError, match=r"pip install 'litellm<2,>=1\.106'$"):
        _ = [one async for one in LiteLlm("openai/m").generate_content_async(PROMPT)]


# litellm's types cause warnings from pydantic.
@pytest.mark.filterwarnings("ignore:.*using the `ReadOnly` qualifier:UserWarning", "ignore:Accessing the .model_:DeprecationWarning")
@pytest.mark.logs("LiteLLM: ")
class TestWithLitellm:
    @pytest.mark.parametrize(
        ("model", "variable"),
        [
            ("openai/gpt-4o", "OPENAI_API_KEY"),
            ("anthropic/claude-sonnet", "ANTHROPIC_API_KEY"),
            ("gemini/gemini-flash", "GEMINI_API_KEY"),
            ("azure/gpt-4o", "AZURE_API_KEY"),
            ("bedrock/anthropic.claude-3-sonnet-20240229-v1:0", "AWS_SECRET_ACCESS_KEY"),
            ("vertex_ai/gemini-flash", "the provider's key"),
        ],
    )
    @pytest.mark.logs("google.auth._default")
    async def test_a_missing_key_error_names_the_variable_and_the_env_file(
        self, model: str, variable: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("NO_GCE_CHECK", "true")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        for name in [name for name in os.environ if name.endswith(("_API_KEY", "_TOKEN", "_CREDENTIALS")) or name.startswith("AWS_ACCESS")]:
            monkeypatch.delenv(name)
        with pytest.raises(LlmError, match=f"key is missing.*{variable}.*\\.env of the agent") as caught:
            _ = [one async for one in LiteLlm(model).generate_content_async(PROMPT)]
        assert caught.value.error_code == "NO_CREDENTIALS"
        assert "500" not in str(caught.value) and "server" not in str(caught.value).replace("metadata server", "")
        assert "Traceback" not in capfd.readouterr().err

    async def test_a_refused_request_without_a_key_says_that_the_key_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("GROQ_API_KEY", raising=False)
        with chat_server(refusal(401, "Invalid API Key")) as server, pytest.raises(LlmError, match=r"key is missing.*GROQ_API_KEY"):
            _ = [one async for one in LiteLlm("groq/m", api_base=server.url, num_retries=0).generate_content_async(PROMPT)]

    async def test_an_unreachable_provider_without_a_key_is_not_a_failed_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("GROQ_API_KEY", raising=False)
        unreachable = LiteLlm("groq/m", api_base="http://127.0.0.1:9", num_retries=0)
        with pytest.raises(LlmError, match=r"The connection to groq/m failed.*GROQ_API_KEY is not set") as caught:
            _ = [one async for one in unreachable.generate_content_async(PROMPT)]
        assert "server failed" not in str(caught.value)

    async def test_a_plain_answer(self) -> None:
        with chat_server(whole(content="Hi.", reasoning_content="hm")) as server:
            (answer,) = await ask(server)
        assert parts(answer) == ["hm", "Hi."] and answer.content.parts[0].thought  # type: ignore[union-attr, index]
        assert answer.finish_reason == types.FinishReason.STOP and not answer.partial
        usage = answer.usage_metadata
        assert usage and (usage.prompt_token_count, usage.total_token_count, usage.cached_content_token_count) == (3, 5, 1)
        (sent,) = server.requests
        assert sent.body["model"] == "m" and sent.body["messages"] == [{"role": "user", "content": "Hello?"}]
        assert sent.headers["authorization"] == f"Bearer {KEY}"

    async def test_the_agents_config_overrides_the_constructor(self) -> None:
        config = types.GenerateContentConfig(
            temperature=0.0,
            max_output_tokens=9,
            stop_sequences=["."],
            http_options=types.HttpOptions(headers={"X-Agent": "agent", "X-Both": "agent"}),
        )
        given = {"temperature": 0.9, "max_completion_tokens": 50, "stop": ["!"], "top_p": 0.5, "stream": True, "messages": []}
        with chat_server(whole(content="Hi.")) as server:
            model = llm(server, **given, extra_headers={"X-Both": "model", "X-Model": "model"})
            runner = runner_for(LlmAgent(name="agent", model=model, generate_content_config=config))
            assert texts(await run(runner)) == ["Hi."]
        (sent,) = server.requests
        asked = {name: sent.body.get(name) for name in ("temperature", "max_tokens", "max_completion_tokens", "stop", "top_p", "stream")}
        asked["max_tokens"] = asked["max_tokens"] or asked["max_completion_tokens"]
        assert {**asked, "max_completion_tokens": None, "stream": None} == {
            **{"temperature": 0.0, "max_tokens": 9, "max_completion_tokens": None, "stop": ["."], "top_p": 0.5, "stream": None}
        }
        assert [sent.headers.get(name) for name in ("x-agent", "x-both", "x-model")] == ["agent", "agent", "model"]
        assert sent.body["messages"][-1] == {"role": "user", "content": "go"}

    async def test_the_constructor_applies_where_the_agent_sets_nothing(self) -> None:
        with chat_server(whole(content="Hi.")) as server:
            runner = runner_for(LlmAgent(name="agent", model=llm(server, temperature=0.25)))
            await run(runner)
        assert server.requests[0].body["temperature"] == 0.25

    async def test_a_stream_yields_pieces_then_the_complete_answer(self) -> None:
        with chat_server(stream({"role": "assistant", "content": "Hi"}, {"content": " you"})) as server:
            answers = await ask(server, streaming=True)
        assert [(one.partial, parts(one)) for one in answers] == [(True, ["Hi"]), (True, [" you"]), (False, ["Hi you"])]
        assert answers[-1].usage_metadata and answers[-1].usage_metadata.total_token_count == 5

    async def test_calls_streamed_in_pieces(self) -> None:
        first, second = call("f", '{"a"', "call_1"), call("g", "{}", "call_2", 1)
        rest = {"index": 0, "function": {"arguments": ': "ä"}'}}
        deltas = [{"tool_calls": [first]}, {"tool_calls": [rest]}, {"tool_calls": [second]}]
        with chat_server(stream(*deltas, finish="tool_calls")) as server:
            answers = await ask(server, streaming=True)
        assert parts(answers[-1]) == [("f", {"a": "ä"}), ("g", {})]
        assert [part.function_call.id for part in answers[-1].content.parts] == ["call_1", "call_2"]  # type: ignore[union-attr]

    @pytest.mark.parametrize("ids", ["each", "first", "none"])
    async def test_calls_that_share_an_index_are_told_apart(self, ids: str) -> None:
        """As Gemini's and several local servers' streams have them: each call at index 0, or without an index."""
        for has_index in (True, False):
            pieces = []
            for number, name in enumerate(["f", "g", "g"]):
                for part in ('{"a"', f": {number}}}"):
                    is_first = part == '{"a"'
                    one = call(name, part, f"call_{number}") if is_first or ids == "each" else call("", part, "")
                    for left_out in [] if ids == "each" or (ids == "first" and is_first) else ["id"]:
                        del one[left_out]
                    if not is_first:
                        del one["function"]["name"]
                    if not has_index:
                        del one["index"]
                    pieces.append({"tool_calls": [one]})
            with chat_server(stream(*pieces, finish="tool_calls")) as server:
                answers = await ask(server, streaming=True)
            assert parts(answers[-1]) == [("f", {"a": 0}), ("g", {"a": 1}), ("g", {"a": 2})]

    @pytest.mark.parametrize("streaming", [False, True])
    async def test_an_answer_that_was_cut_off_names_its_limit(self, streaming: bool) -> None:
        def server(finish: str, **message: Any) -> Any:
            return chat_server(stream(message, finish=finish) if streaming else whole(finish, **message))

        with server("length", content="It is pai") as told:
            *_, answer = await ask(told, streaming=streaming)
        assert (answer.error_code, answer.error_message, parts(answer)) == ("MAX_TOKENS", "Maximum tokens reached", ["It is pai"])
        with server("length", content="Well.", tool_calls=[call("pay", '{"amount": 5')]) as told:
            *_, before, answer = await ask(told, streaming=streaming)
        assert (before.error_code, parts(before)) == (None, ["Well."])
        assert answer.error_code == "MAX_TOKENS" and "inside the call of pay" in (answer.error_message or "") and not parts(answer)
        with server("stop", content="") as told:
            (answer,) = await ask(told, streaming=streaming)
        assert (answer.error_code, parts(answer)) == ("MODEL_RETURNED_NO_CONTENT", [])

    @pytest.mark.parametrize("streaming", [StreamingMode.NONE, StreamingMode.SSE])
    async def test_a_call_that_was_cut_off_is_not_run(self, streaming: StreamingMode) -> None:
        paid = []

        def pay(amount: int) -> None:
            paid.append(amount)

        message = {"content": "Well.", "tool_calls": [call("pay", '{"amount": 5')]}
        answers = stream(message, finish="length") if streaming is StreamingMode.SSE else whole("length", **message)
        with chat_server(answers) as server:
            runner = runner_for(LlmAgent(name="agent", model=llm(server), tools=[pay]))
            events = await run(runner, run_config=RunConfig(streaming_mode=streaming))
        assert not paid and events[-1].error_code == "MAX_TOKENS"
        (invocation,) = invocations((await stored(runner)).events)
        assert (invocation.status, invocation.reason) == ("interrupted", "failed with MAX_TOKENS")

    async def test_an_agent_with_a_tool(self) -> None:
        def look(city: str) -> str:
            """Look."""
            return f"sun in {city}"

        replies = [stream({"tool_calls": [call("look", '{"city": "Oslo"}')]}, finish="tool_calls"), stream({"content": "Sun."})]
        with chat_server(*replies) as server:
            runner = runner_for(LlmAgent(name="agent", model=llm(server), tools=[look]))
            await run(runner, run_config=RunConfig(streaming_mode=StreamingMode.SSE))
        events = (await stored(runner)).events
        assert texts(events) == ["go", "Sun."]
        assert events[2].get_function_responses()[0].response == {"result": "sun in Oslo"}
        asked, told = server.requests[1].body["messages"][-2:]
        assert asked["tool_calls"][0]["id"] == told["tool_call_id"] == "call_x"
        assert told["content"] == '{"result": "sun in Oslo"}'
        assert server.requests[0].body["tools"][0]["function"]["name"] == "look"

    async def test_arguments_that_are_not_json_are_an_error(self) -> None:
        with chat_server(whole("tool_calls", tool_calls=[call("f", '{"a":')])) as server:
            (answer,) = await ask(server)
        assert answer.error_code == "MALFORMED_FUNCTION_CALL" and answer.content is None

    @pytest.mark.parametrize(("finish", "code"), [("length", "MAX_TOKENS"), ("content_filter", "SAFETY")])
    async def test_an_answer_without_content_is_an_error(self, finish: str, code: str) -> None:
        with chat_server(whole(finish)) as server:
            (answer,) = await ask(server)
        assert answer.error_code == code

    @pytest.mark.parametrize("streaming", [False, True])
    @pytest.mark.parametrize(
        ("failure", "status", "advice"),
        [
            (refusal(401, f"Incorrect API key provided: {KEY}"), 401, "provider's key"),
            (refusal(404, "no such model"), 404, "model's name"),
            (refusal(429, "slow down"), 429, "Wait"),
            (refusal(500, "oops"), 500, "The server failed"),
            (Failure(502, b"<html>"), 502, "The server failed"),
        ],
    )
    async def test_a_refused_request_is_a_clear_error(self, failure: Failure, status: int, advice: str, streaming: bool) -> None:
        with chat_server(failure) as server, pytest.raises(LlmError, match=advice) as caught:
            await ask(server, streaming=streaming)
        assert caught.value.status_code == status
        assert KEY not in str(caught.value) and caught.value.__cause__ is None

    @pytest.mark.parametrize("streaming", [False, True])
    async def test_an_unreachable_server_is_a_clear_error(self, streaming: bool) -> None:
        with chat_server(whole(content="x")) as server:
            pass
        with pytest.raises(LlmError, match="network") as caught:
            await ask(server, streaming=streaming)
        assert caught.value.error_code == "CONNECTION_FAILED"

    async def test_a_stream_that_breaks_is_an_error(self) -> None:
        with chat_server(stream({"content": "Hi"}, finish=None, then="cut")) as server, pytest.raises(LlmError) as caught:
            await ask(server, streaming=True)
        assert caught.value.error_code == "CONNECTION_FAILED"

    async def test_closing_the_generator_closes_the_connection(self) -> None:
        with chat_server(stream({"content": "Hi"}, finish=None, then="wait")) as server:
            async with aclosing(llm(server).generate_content_async(PROMPT, stream=True)) as answers:
                assert parts(await anext(answers)) == ["Hi"]
            assert await run_in_thread(server.client_left.wait, 10)

    async def test_cancelling_a_request_closes_the_connection(self) -> None:
        with chat_server(Answer([{}], then="wait")) as server:
            async with asyncio.TaskGroup() as group:
                task = group.create_task(ask(server))
                assert await run_in_thread(server.request_came.wait, 10)
                task.cancel()
            assert await run_in_thread(server.client_left.wait, 10)

    def test_each_event_loop_has_its_own_connection(self) -> None:
        async def ask_once(server: GeminiServer) -> list[LlmResponse]:
            try:
                return await ask(server)
            finally:
                await close_connections()

        with chat_server(whole(content="Hi.")) as server:
            for _ in range(2):
                assert parts(asyncio.run(ask_once(server))[0]) == ["Hi."]
