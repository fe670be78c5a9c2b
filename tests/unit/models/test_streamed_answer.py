"""Streamed answers: texts, and function calls whose arguments arrive in pieces."""

from __future__ import annotations

from typing import Any

from google.genai import types

from runtime.models.llm_response import LlmResponse
from runtime.utils.streaming_utils import StreamingResponseAggregator


def chunk(*parts: types.Part, finish_reason: types.FinishReason | None = None) -> types.GenerateContentResponse:
    content = types.Content(role="model", parts=list(parts))
    return types.GenerateContentResponse(candidates=[types.Candidate(content=content, finish_reason=finish_reason)])


def piece(name: str | None = None, going: bool | None = True, signature: bytes | None = None, **args: Any) -> types.Part:
    """Return a piece of a call; `stops__0` means `$.stops[0]`."""
    given = [types.PartialArg(json_path=_path(key), **_typed(value)) for key, value in args.items()]
    call = types.FunctionCall(name=name, partial_args=given or None, will_continue=going)
    return types.Part(function_call=call, thought_signature=signature)


def _path(key: str) -> str:
    first, *rest = key.split("__")
    return f"$.{first}" + "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in rest)


def _typed(value: Any) -> dict[str, Any]:
    kind = {bool: "bool_value", str: "string_value", float: "number_value"}.get(type(value))
    return {kind: value} if kind else {"null_value": "NULL_VALUE"}


async def assembled(*chunks: types.GenerateContentResponse) -> tuple[list[LlmResponse], LlmResponse]:
    aggregator = StreamingResponseAggregator()
    pieces = [response for given in chunks async for response in aggregator.process_response(given)]
    whole = aggregator.close()
    assert whole is not None and whole.partial is False and all(response.partial for response in pieces)
    return pieces, whole


async def test_the_arguments_of_a_call_arrive_in_pieces() -> None:
    pieces, whole = await assembled(
        chunk(types.Part(text="One ")),
        chunk(types.Part(text="moment."), piece("book", signature=b"s")),
        chunk(piece(stops__0__city="New ", fast=True)),
        chunk(piece(stops__0__city="York", stops__1__city="Rome", price=2.5, note=None)),
        chunk(piece(going=False)),
        chunk(types.Part(function_call=types.FunctionCall()), types.Part(text="Done."), finish_reason=types.FinishReason.STOP),
    )
    assert whole.content and whole.content.parts
    text, call, last = whole.content.parts
    assert (text.text, last.text, call.thought_signature) == ("One moment.", "Done.", b"s")
    assert call.function_call and call.function_call.name == "book"
    assert call.function_call.args == {"stops": [{"city": "New York"}, {"city": "Rome"}], "fast": True, "price": 2.5, "note": None}
    ids = {
        part.function_call.id for response in pieces for part in _parts(response) if part.function_call and part.function_call.partial_args
    }
    assert ids == {call.function_call.id}


def _parts(response: LlmResponse) -> list[types.Part]:
    return (response.content and response.content.parts) or []


async def test_two_calls_in_pieces_and_one_whole() -> None:
    whole_call = types.Part(function_call=types.FunctionCall(name="now", args={}))
    _, whole = await assembled(
        chunk(piece("first", going=False, city="Rome")),
        chunk(whole_call),
        chunk(piece("second")),
        chunk(piece(going=False, city="Oslo"), finish_reason=types.FinishReason.STOP),
    )
    calls = whole.get_function_calls()
    assert [(call.name, call.args) for call in calls] == [("first", {"city": "Rome"}), ("now", {}), ("second", {"city": "Oslo"})]
    assert len({call.id for call in calls}) == 3


async def test_a_path_that_does_not_fit_is_ignored() -> None:
    odd = types.FunctionCall(partial_args=[types.PartialArg(json_path="$.a[99999999]", string_value="x")], will_continue=True)
    _, whole = await assembled(chunk(piece("f", a="text")), chunk(types.Part(function_call=odd)), chunk(piece(going=False, a__b="y")))
    assert whole.get_function_calls()[0].args == {"a": "text"}


async def test_no_chunk_is_no_answer() -> None:
    assert StreamingResponseAggregator().close() is None
