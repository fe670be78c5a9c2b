"""Gemini over real sockets, against a local server."""

from __future__ import annotations

import asyncio
import copy
import logging
import time
import traceback
from collections.abc import Callable
from contextlib import aclosing
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import Client, _api_client, types

from runtime.errors import EngineNeededError, LlmError
from runtime.models import Gemini, LlmRequest, LlmResponse
from runtime.support.worker_threads import run_in_thread
from tests.gemini_server import Answer, Failure, GeminiServer, call, chunk, gemini_server, google_api_key, refusal

pytestmark = pytest.mark.usefixtures("google_api_key", "http_library")
__all__ = ["google_api_key"]


@pytest.fixture(params=["httpx", "aiohttp"])
def http_library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The HTTP library that google-genai uses: aiohttp if it is installed."""
    monkeypatch.setattr(_api_client, "has_aiohttp", request.param == "aiohttp")
    monkeypatch.setattr(_api_client, "random", SimpleNamespace(randint=lambda *_: -1))  # it waits 1 to 10 s before it connects again
    return str(request.param)


PROMPT = LlmRequest(
    model="gemini-test",
    contents=[types.Content(role="user", parts=[types.Part(text="Hello?")])],
    config=types.GenerateContentConfig(system_instruction="Be brief.", temperature=0.5),
)


async def ask(server: GeminiServer, request: LlmRequest = PROMPT, *, stream: bool = False, **fields: Any) -> list[LlmResponse]:
    return [response async for response in Gemini(base_url=server.url, **fields).generate_content_async(request, stream=stream)]


def texts(response: LlmResponse) -> list[str | None]:
    assert response.content and response.content.parts
    return [part.text for part in response.content.parts]


async def test_a_plain_answer(google_api_key: str) -> None:
    with gemini_server(Answer([chunk({"text": "Hi."}, finish="STOP", tokens=9)])) as server:
        (response,) = await ask(server)

    assert texts(response) == ["Hi."]
    assert not response.partial
    assert response.finish_reason == types.FinishReason.STOP
    assert response.usage_metadata and response.usage_metadata.total_token_count == 9
    assert response.model_version == "gemini-test"
    (sent,) = server.requests
    assert sent.path.endswith("/models/gemini-test:generateContent")
    assert sent.headers["x-goog-api-key"] == google_api_key
    assert sent.body["contents"] == [{"role": "user", "parts": [{"text": "Hello?"}]}]
    assert sent.body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert sent.body["generationConfig"]["temperature"] == 0.5


async def test_arguments_of_the_client_count_more_than_the_models_own(google_api_key: str) -> None:
    arguments = {"api_key": "of-the-arguments", "http_options": {"headers": {"x-team": "desk"}, "api_version": "v1"}}
    with gemini_server(Answer([chunk({"text": "Hi."}, finish="STOP")])) as server:
        await ask(server, api_version="v1alpha", client_kwargs=arguments)
    (sent,) = server.requests
    assert sent.path.startswith("/v1/models/")
    assert (sent.headers["x-goog-api-key"], sent.headers["x-team"]) == ("of-the-arguments", "desk")
    model = Gemini(client_kwargs=arguments)
    assert "of-the-arguments" not in repr(model) + str(model.model_dump())


@pytest.mark.parametrize("place", ["field", "environment"])
async def test_the_version_of_the_interface_can_be_chosen(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if place == "environment":
        monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v1")
    with gemini_server(Answer([chunk({"text": "Hi."}, finish="STOP")])) as server:
        await ask(server, **({"api_version": "v1"} if place == "field" else {}))
    assert server.requests[0].path.startswith("/v1/models/")


async def test_a_client_that_is_given_is_used() -> None:
    with gemini_server(Answer([chunk({"text": "Hi."}, finish="STOP")])) as server:
        client = Client(api_key="of-the-client", http_options=types.HttpOptions(base_url=server.url))
        await ask(server, client=client)
        await client.aio.aclose()
        client.close()
    assert server.requests[0].headers["x-goog-api-key"] == "of-the-client"


async def test_the_interactions_api_is_refused_before_anything_is_sent() -> None:
    with gemini_server() as server, pytest.raises(EngineNeededError, match="use_interactions_api=True\\) needs google-adk"):
        await ask(server, use_interactions_api=True)
    assert server.requests == []


async def test_labels_are_left_out_as_only_vertex_ai_takes_them() -> None:
    request = PROMPT.model_copy(deep=True)
    request.config.labels = {"adk_agent_name": "agent"}
    with gemini_server(Answer([chunk({"text": "Hi."}, finish="STOP")])) as server:
        (response,) = await ask(server, request)
    assert texts(response) == ["Hi."] and "labels" not in server.requests[0].body
    assert request.config.labels


async def test_function_calls_and_declarations() -> None:
    request = PROMPT.model_copy(deep=True)
    declaration = types.FunctionDeclaration(
        name="get_weather", parameters=types.Schema(type=types.Type.OBJECT, properties={"city": types.Schema(type=types.Type.STRING)})
    )
    request.config.tools = [types.Tool(function_declarations=[declaration])]

    with gemini_server(Answer([chunk(call("get_weather", city="Oslo"), call("get_weather", city="Rome"), finish="STOP")])) as server:
        (response,) = await ask(server, request)

    assert response.content and response.content.parts
    assert [part.function_call.args for part in response.content.parts if part.function_call] == [{"city": "Oslo"}, {"city": "Rome"}]
    assert server.requests[0].body["tools"][0]["functionDeclarations"][0]["name"] == "get_weather"


async def test_a_stream_yields_pieces_then_the_complete_answer() -> None:
    answer = Answer(
        [
            chunk({"text": "Which ", "thought": True}),
            chunk({"text": "city?", "thought": True}),
            chunk({"text": "It "}),
            chunk({"text": "rains"}, tokens=5),
            chunk({"text": "."}, call("get_weather", city="Oslo")),
            chunk(finish="STOP", tokens=12, groundingMetadata={"webSearchQueries": ["rain"]}),
        ]
    )
    with gemini_server(answer) as server:
        *pieces, whole = await ask(server, stream=True)

    assert server.requests[0].path.endswith("/models/gemini-test:streamGenerateContent?alt=sse")
    assert [texts(piece) for piece in pieces] == [["Which "], ["city?"], ["It "], ["rains"], [".", None]]
    assert all(piece.partial for piece in pieces)
    assert whole.partial is False
    assert texts(whole) == ["Which city?", "It rains.", None]
    assert whole.content and whole.content.role == "model" and whole.content.parts
    assert [bool(part.thought) for part in whole.content.parts] == [True, False, False]
    assert whole.finish_reason == types.FinishReason.STOP
    assert whole.usage_metadata and whole.usage_metadata.total_token_count == 12
    assert whole.grounding_metadata and whole.grounding_metadata.web_search_queries == ["rain"]
    assert whole.model_version == "gemini-test"


async def test_a_streamed_call_has_the_same_id_in_piece_and_complete_answer() -> None:
    with gemini_server(Answer([chunk(call("stop")), chunk(finish="STOP")])) as server:
        piece, whole = await ask(server, stream=True)

    ids = {part.function_call.id for answer in (piece, whole) for part in answer.content.parts if part.function_call}  # type: ignore[union-attr]
    assert len(ids) == 1
    assert None not in ids


async def test_a_streamed_answer_equals_the_plain_answer() -> None:
    one = chunk(
        {"text": "Think", "thought": True}, {"text": "Say"}, finish="MAX_TOKENS", tokens=4, citationMetadata={"citations": [{"uri": "u"}]}
    )
    with gemini_server(Answer([one])) as server:
        (plain,) = await ask(server)
        _, whole = await ask(server, stream=True)

    assert whole.model_dump(exclude={"partial"}) == plain.model_dump(exclude={"partial"})


async def test_texts_with_a_signature_are_not_joined() -> None:
    signed = {"text": "b", "thoughtSignature": "c2ln"}
    with gemini_server(Answer([chunk({"text": "a"}), chunk(signed), chunk({"text": "c"}), chunk({"text": "d"}, finish="STOP")])) as server:
        *_, whole = await ask(server, stream=True)

    assert texts(whole) == ["a", "b", "cd"]
    assert whole.content and whole.content.parts and whole.content.parts[1].thought_signature == b"sig"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_blocked_prompt_is_an_answer_with_an_error_code(stream: bool) -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"totalTokenCount": 3}}
    with gemini_server(Answer([blocked])) as server:
        (response,) = await ask(server, stream=stream)

    assert (response.content, response.error_code) == (None, "SAFETY")
    assert response.usage_metadata and response.usage_metadata.total_token_count == 3


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_cut_by_a_filter_has_an_error_code(stream: bool) -> None:
    with gemini_server(Answer([chunk(finish="SAFETY", tokens=3)])) as server:
        (response,) = await ask(server, stream=stream)

    assert (response.content, response.error_code) == (None, "SAFETY")
    assert response.usage_metadata and response.usage_metadata.total_token_count == 3


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("failure", "code", "word", "says"),
    [
        (refusal(429, "RESOURCE_EXHAUSTED", "Quota used up."), 429, "RESOURCE_EXHAUSTED", "429 RESOURCE_EXHAUSTED: Quota used up. Wait"),
        (refusal(500, "INTERNAL", "Oops."), 500, "INTERNAL", "500 INTERNAL: Oops. .*try again later"),
        (refusal(403, "PERMISSION_DENIED", "No."), 403, "PERMISSION_DENIED", "Check the key in GOOGLE_API_KEY"),
        (refusal(404, "NOT_FOUND", "No such model."), 404, "NOT_FOUND", "No such model. Check the model's name"),
        (refusal(404, "NOT_FOUND", "No such model"), 404, "NOT_FOUND", r"No such model\. Check the model's name"),
        (refusal(400, "INVALID_ARGUMENT", "Bad field."), 400, "INVALID_ARGUMENT", "Bad field"),
    ],
)
async def test_a_refused_request_is_a_clear_error(stream: bool, failure: Failure, code: int, word: str, says: str) -> None:
    with gemini_server(failure) as server, pytest.raises(LlmError, match=says) as caught:
        await ask(server, stream=stream)

    assert (caught.value.status_code, caught.value.error_code) == (code, word)
    assert str(caught.value).startswith("gemini-test answered")
    assert len(server.requests) == 1, "no retry without retry_options"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_proxys_error_page_is_a_clear_error(stream: bool, http_library: str) -> None:
    with gemini_server(Failure(502, b"<html>Bad gateway</html>")) as server, pytest.raises(LlmError) as caught:
        await ask(server, stream=stream)

    if http_library == "aiohttp":  # google-genai does not report the status
        assert caught.value.error_code == "MALFORMED_RESPONSE" and "Check whether a proxy" in str(caught.value)
    else:
        assert caught.value.status_code == 502 and "Bad gateway" in str(caught.value)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("status", "word"), [(429, "RESOURCE_EXHAUSTED"), (500, "INTERNAL"), (503, "UNAVAILABLE")])
async def test_failures_are_retried_as_configured(stream: bool, status: int, word: str) -> None:
    failure = refusal(status, word, "later")
    retry = types.HttpRetryOptions(attempts=3, initial_delay=0.001, max_delay=0.002, jitter=0.001)
    with gemini_server(failure, failure, Answer([chunk({"text": "Hi."}, finish="STOP")])) as server:
        *_, response = await ask(server, stream=stream, retry_options=retry)
    assert texts(response) == ["Hi."]
    assert len(server.requests) == 3

    with gemini_server(failure) as server, pytest.raises(LlmError, match=word):
        await ask(server, stream=stream, retry_options=retry)
    assert len(server.requests) == 3


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "body", [b"<html>Welcome to the hotel</html>", b'{"candidates": [', b'{"candidates":[{"content":{"parts":[{"text":3}]}}]}']
)
async def test_a_malformed_body_is_a_clear_error(stream: bool, body: bytes) -> None:
    with gemini_server(Failure(200, body)) as server, pytest.raises(LlmError, match="an invalid response") as caught:
        await ask(server, stream=stream)

    assert caught.value.error_code == "MALFORMED_RESPONSE"


# httpx leaves generators that the loop closes when it ends.
@pytest.mark.logs("an error occurred during closing of asynchronous generator")
async def test_an_error_in_the_middle_of_a_stream_is_a_clear_error() -> None:
    late = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}}
    with gemini_server(Answer([chunk({"text": "It "}), late])) as server, pytest.raises(LlmError, match="overloaded") as caught:
        await ask(server, stream=True)

    assert caught.value.status_code == 503


@pytest.mark.parametrize("stream", [False, True])
async def test_a_dropped_connection_is_a_clear_error(stream: bool) -> None:
    with gemini_server(Answer([chunk({"text": "It "})], then="cut")) as server:
        heard = []
        with pytest.raises(LlmError, match="connection to gemini-test failed") as caught:
            async for response in Gemini(base_url=server.url).generate_content_async(PROMPT, stream=stream):
                heard.append(response.partial)

    assert heard == ([True] if stream else [])
    assert caught.value.error_code == "CONNECTION_FAILED"


async def test_a_stream_without_a_finish_reason_is_an_error() -> None:
    with gemini_server(Answer([chunk({"text": "It "})])) as server, pytest.raises(LlmError, match="broke in the middle"):
        await ask(server, stream=True)


async def test_an_unreachable_server_is_a_clear_error() -> None:
    with gemini_server() as server:
        pass

    with pytest.raises(LlmError, match="connection to gemini-test failed"):
        await ask(server)


@pytest.mark.parametrize("stream", [False, True])
async def test_cancelling_closes_the_connection(stream: bool) -> None:
    with gemini_server(Answer([chunk({"text": "It "})], then="wait")) as server:
        got_first = asyncio.Event()

        async def listen() -> None:
            async with aclosing(Gemini(base_url=server.url).generate_content_async(PROMPT, stream=stream)) as responses:
                async for _ in responses:
                    got_first.set()

        listening = asyncio.ensure_future(listen())
        if stream:
            await asyncio.wait_for(got_first.wait(), 10)
        else:
            await run_in_thread(_wait_until, lambda: server.requests != [])
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening

        assert await run_in_thread(server.client_left.wait, 10)


# httpx leaves generators that the loop closes when it ends.
@pytest.mark.logs("an error occurred during closing of asynchronous generator")
async def test_leaving_a_stream_early_closes_the_connection() -> None:
    with gemini_server(Answer([chunk({"text": "It "})], then="wait")) as server:
        async with aclosing(Gemini(base_url=server.url).generate_content_async(PROMPT, stream=True)) as responses:
            await anext(responses)

        assert await run_in_thread(server.client_left.wait, 10)


def test_an_object_can_be_used_in_several_loops_which_close_their_connections() -> None:
    with gemini_server(Answer([chunk({"text": "Hi."}, finish="STOP")])) as server:
        llm = Gemini(base_url=server.url)
        clients = []

        async def twice() -> None:
            for _ in range(2):
                async for response in llm.generate_content_async(PROMPT):
                    assert texts(response) == ["Hi."]
                clients.append(await llm._client())
            assert server.connections == 1, "the second request used the connection of the first"

        for _ in range(2):
            asyncio.run(twice())
            _wait_until(lambda: server.connections == 0)
            assert server.connections == 0

    assert clients[0] is clients[1] and clients[2] is clients[3]
    assert clients[0] is not clients[2]


async def test_concurrent_first_requests_share_a_client() -> None:
    llm = Gemini(base_url="http://127.0.0.1:9")

    one, other = await asyncio.gather(llm._client(), llm._client())

    assert one is other


async def test_a_copy_of_a_used_object_works() -> None:
    with gemini_server(Answer([chunk({"text": "Hi."}, finish="STOP")])) as server:
        llm = Gemini(base_url=server.url)
        for used in (llm, copy.deepcopy(llm), llm.model_copy()):
            assert [texts(response) async for response in used.generate_content_async(PROMPT)] == [["Hi."]]


async def test_a_subclass_may_use_its_own_client() -> None:
    with gemini_server(Answer([chunk({"text": "Hi."}, finish="STOP")])) as server:

        class Mine(Gemini):
            @cached_property
            def api_client(self) -> Client:  # type: ignore[override]
                return Client(api_key="mine", http_options=types.HttpOptions(base_url=server.url))

        llm = Mine()
        for _ in range(2):
            assert [texts(response) async for response in llm.generate_content_async(PROMPT)] == [["Hi."]]
        await llm.api_client.aio.aclose()

    assert {request.headers["x-goog-api-key"] for request in server.requests} == {"mine"}


async def test_a_missing_key_error_names_the_variables_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY")
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))

    with pytest.raises(LlmError, match=r"key is missing.*GOOGLE_API_KEY.*GOOGLE_GENAI_USE_VERTEXAI.*\.env of the agent") as caught:
        await anext(Gemini().generate_content_async(PROMPT))

    assert caught.value.error_code == "NO_CREDENTIALS"
    await asyncio.sleep(0)
    assert reported == []


async def test_vertex_is_chosen_by_google_genais_own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    with gemini_server(Answer([chunk({"text": "Hi."}, finish="STOP")])) as server:
        await ask(server)

    assert "/publishers/google/models/gemini-test:generateContent" in server.requests[0].path


async def test_keys_are_never_shown(google_api_key: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    tells = f"API key {google_api_key} is not valid. Try AIzaSyA1234567890abcdefghijklmnopqrstuv or https://x/?key=abc&b"
    with gemini_server(refusal(400, "INVALID_ARGUMENT", tells)) as server, pytest.raises(LlmError) as caught:
        await ask(server)

    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    for secret in (google_api_key, "AIzaSyA1234567890", "key=abc"):
        assert secret not in shown
    assert "API key *** is not valid" in str(caught.value)


async def test_long_error_bodies_are_shortened() -> None:
    with gemini_server(Failure(500, b"x" * 100_000)) as server, pytest.raises(LlmError) as caught:
        await ask(server)

    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("contents", "last"),
    [
        ([], "Do as the system instruction says."),
        ([types.Content(role="model", parts=[types.Part(text="I did.")])], "Go on with the task, or sum up if nothing is left to do."),
    ],
)
async def test_requests_end_with_a_user_message_and_are_not_changed(contents: list[types.Content], last: str) -> None:
    request = LlmRequest(contents=contents)
    before = request.model_dump()
    with gemini_server(Answer([chunk({"text": "Hi."}, finish="STOP")])) as server:
        await ask(server, request, model="gemini-of-the-object")

    assert server.requests[0].body["contents"][-1] == {"role": "user", "parts": [{"text": last}]}
    assert "gemini-of-the-object" in server.requests[0].path
    assert request.model_dump() == before


def _wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)


@pytest.mark.logs("neither content nor a reason")
async def test_an_answer_without_content_or_reason_is_empty() -> None:
    answer = LlmResponse.create(types.GenerateContentResponse(model_version="v"))
    assert (answer.content, answer.error_code, answer.model_version) == (types.Content(role="model", parts=[]), None, "v")


def test_models_with_the_same_settings_are_equal() -> None:
    assert Gemini(model="gemini-2.5-pro") == Gemini(model="gemini-2.5-pro") != Gemini(model="gemini-2.5-flash")
    assert hash(Gemini()._clients) == hash(Gemini()._clients)
