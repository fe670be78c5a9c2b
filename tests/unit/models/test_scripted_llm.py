"""The scripted language model."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.errors import LlmError
from runtime.models import LlmRequest, LlmResponse, ScriptedLlm
from runtime.models.scripted_llm import Reply, Rule


def request(*messages: tuple[str, Any], instruction: Any = None) -> LlmRequest:
    contents = [types.Content(role=role, parts=[types.Part(text=part) if isinstance(part, str) else part]) for role, part in messages]
    return LlmRequest(contents=contents, config=types.GenerateContentConfig(system_instruction=instruction))


async def answers(llm: ScriptedLlm, of: LlmRequest, *, stream: bool = False) -> list[LlmResponse]:
    return [response async for response in llm.generate_content_async(of, stream=stream)]


async def answer(llm: ScriptedLlm, of: LlmRequest) -> str:
    (response,) = await answers(llm, of)
    return text(response)


def text(response: LlmResponse) -> str:
    assert response.content and response.content.parts
    return "".join(part.text or "" for part in response.content.parts)


async def test_replies_are_chosen_by_the_number_of_model_messages_and_the_last_repeats() -> None:
    llm = ScriptedLlm(replies=["one", "two"])
    said: list[tuple[str, Any]] = [("user", "go")]

    heard = []
    for _ in range(3):
        heard.append(await answer(llm, request(*said)))
        said += [("model", heard[-1]), ("user", "continue")]

    assert heard == ["one", "two", "two"]
    assert await answer(ScriptedLlm(replies=["one", "two"]), request(("user", "go"), ("model", "one"))) == "two", (
        "a new process gives the same answer"
    )


async def test_replies_can_be_chosen_by_the_number_of_user_messages() -> None:
    llm = ScriptedLlm(replies=["one", "two"], counts="user")

    assert await answer(llm, request(("user", "a"))) == "one"
    assert await answer(llm, request(("user", "a"), ("user", "b"))) == "two"


async def test_the_first_matching_rule_answers() -> None:
    llm = ScriptedLlm(
        rules=[
            Rule(instruction="critic", reply=["too short", "fine"]),
            Rule(when="(?i)REFUND", reply="which order?"),
            Rule(when=lambda r: len(r.contents) > 2, reply="a long talk"),
            Rule(when=r'get_weather .*"rain"', reply="take an umbrella"),
        ],
        replies=["hello"],
    )
    rain = types.Part.from_function_response(name="get_weather", response={"sky": "rain"})

    assert await answer(llm, request(("user", "a refund, please"))) == "which order?"
    assert await answer(llm, request(("user", "a refund, please"), instruction="You are a critic.")) == "too short"
    assert await answer(llm, request(("user", "x"), ("model", "too short"), instruction=types.Part(text="a critic"))) == "fine"
    assert await answer(llm, request(("user", "weather?"), ("user", rain))) == "take an umbrella"
    assert await answer(llm, request(("user", "1"), ("user", "2"), ("user", "3"))) == "a long talk"
    assert await answer(llm, request(("user", "hi"))) == "hello"
    assert await answer(llm, request()) == "hello"


async def test_calls_thoughts_and_usage() -> None:
    llm = ScriptedLlm(replies=[{"thought": "which city?", "text": "One moment.", "calls": [["get_weather", {"city": "Oslo"}]]}])

    (response,) = await answers(llm, request(("user", "12345678"), instruction="1234"))

    assert response.content and response.content.parts and response.usage_metadata
    thought, said, call = response.content.parts
    assert (thought.text, thought.thought, said.text, said.thought) == ("which city?", True, "One moment.", None)
    assert call.function_call and (call.function_call.name, call.function_call.args) == ("get_weather", {"city": "Oslo"})
    usage = response.usage_metadata
    assert usage.prompt_token_count == 3
    assert usage.thoughts_token_count == 3
    assert usage.candidates_token_count and usage.candidates_token_count >= 3
    assert usage.total_token_count == 6 + usage.candidates_token_count


async def test_streams_words_then_the_complete_answer() -> None:
    llm = ScriptedLlm(replies=[Reply(thought="Let me see.", text="  Once upon\n a time. ", calls=[("stop", {})])])

    *pieces, whole = await answers(llm, request(("user", "go")), stream=True)

    assert [text(piece) for piece in pieces] == ["Let", " me", " see.", "  Once", " upon", "\n a", " time. "]
    assert all(piece.partial for piece in pieces)
    assert [bool(piece.content.parts[0].thought) for piece in pieces if piece.content and piece.content.parts] == [True] * 3 + [False] * 4
    assert whole.partial is False
    assert whole.content and whole.content.parts
    assert [part.text for part in whole.content.parts] == ["Let me see.", "  Once upon\n a time. ", None]
    assert whole.usage_metadata is not None
    assert all(piece.usage_metadata is None for piece in pieces)


async def test_streams_in_given_chunks_with_given_usage() -> None:
    usage = {"prompt_token_count": 120, "candidates_token_count": 17, "total_token_count": 137}
    llm = ScriptedLlm(replies=[{"chunks": ["Once ", "upon ", "a time."], "usage": usage}])

    *pieces, whole = await answers(llm, request(("user", "go")), stream=True)

    assert [text(piece) for piece in pieces] == ["Once ", "upon ", "a time."]
    assert text(whole) == "Once upon a time."
    assert whole.usage_metadata and whole.usage_metadata.total_token_count == 137


async def test_waits_before_every_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("runtime.models.scripted_llm.asyncio.sleep", sleep)
    await answers(ScriptedLlm(replies=["one two"], delay=0.5), request(("user", "go")), stream=True)

    assert waits == [0.5, 0.5, 0.5]


async def test_an_error_reply_is_an_answer_without_content() -> None:
    (response,) = await answers(ScriptedLlm(replies=[{"error": ["RESOURCE_EXHAUSTED", "later"]}]), request(("user", "go")))

    assert (response.content, response.error_code, response.error_message) == (None, "RESOURCE_EXHAUSTED", "later")


async def test_a_rule_can_be_limited_to_some_uses() -> None:
    llm = ScriptedLlm(rules=[Rule(when="go", reply=ConnectionError("gone"), times=2)], replies=["fine"])

    for _ in range(2):
        with pytest.raises(ConnectionError, match="gone"):
            await answers(llm, request(("user", "go")))

    assert await answer(llm, request(("user", "go"))) == "fine"


async def test_a_function_may_return_any_kind_of_answer() -> None:
    llm = ScriptedLlm(rules=[Rule(reply=lambda r: f"{len(r.contents)} so far", when="count"), Rule(reply=lambda _: TimeoutError("slow"))])

    assert await answer(llm, request(("user", "count"))) == "1 so far"
    with pytest.raises(TimeoutError, match="slow"):
        await answers(llm, request(("user", "go")))


async def test_a_request_without_a_matching_rule_is_an_error() -> None:
    with pytest.raises(LlmError, match=r"'go'.*last rule"):
        await answers(ScriptedLlm(rules=[Rule(when="stop", reply="ok")]), request(("user", "go")))


async def test_an_unsupported_answer_is_an_error() -> None:
    with pytest.raises(LlmError, match="cannot answer with int"):
        await answers(ScriptedLlm(replies=[3]), request(("user", "go")))


async def test_an_empty_text_is_an_answer() -> None:
    (response,) = await answers(ScriptedLlm(replies=[""]), request(("user", "go")))

    assert text(response) == ""
