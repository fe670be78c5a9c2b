"""What SQLite skips before conditions are evaluated: never an event for which a condition holds."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runtime.expressions import parse
from runtime.expressions.tokens import quoted
from runtime.storage.layouts.decode import decode_v1
from runtime.storage.reading.prefilter import _CASELESS, FOLDED_INTO, prefilter
from tests.sweep import count

# Letters with other letter case, with several spellings in JSON, and with a meaning in SQL's patterns.
_LETTERS = 'abSsßſKk%_"\\/\n<é北京😀İ\u212a{}'
texts = st.text(_LETTERS, max_size=4)
keys = st.sampled_from(["k", "city", "é", "a.b", "ſ"])
values = st.recursive(
    texts | st.integers(0, 3) | st.none(), lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2)
)
objects = st.dictionaries(keys, values, max_size=2)
names = st.sampled_from(["pay", "look", "é"])


@st.composite
def parts(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["text", "thought", "function_call", "functionCall", "function_response"]))
    if kind in ("text", "thought"):
        return {"text": draw(texts), "thought": kind == "thought"}
    item = {"id": "c", "name": draw(names)}
    return {kind: {**item, "response": draw(objects)} if kind == "function_response" else {**item, "args": draw(objects)}}


counts = st.sampled_from([None, 0, 1, 2, 3, 5, -4, 3.0, 2.5, True, "5", "x", 2**60, [5], {}])
counted = [
    "total_token_count",
    "totalTokenCount",
    "prompt_token_count",
    "promptTokenCount",
    "candidates_token_count",
    "cachedContentTokenCount",
]
usages = st.none() | st.dictionaries(st.sampled_from([*counted, "thoughts_token_count"]), counts, max_size=3)


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "author": draw(texts),
        "branch": draw(texts),
        "content": {"parts": draw(st.lists(parts(), max_size=3))},
        "actions": {"state_delta": draw(objects), "transfer_to_agent": draw(texts)},
        "custom_metadata": draw(objects),
        draw(st.sampled_from(["usage_metadata", "usageMetadata"])): draw(usages),
        "timestamp": 1.0,
    }


def _all_escaped(data: Any) -> str:
    """Return JSON in which every character of a text is an escape."""
    if isinstance(data, str):
        encoded = data.encode("utf-16-be")
        return '"' + "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(encoded[::2], encoded[1::2], strict=True)) + '"'
    if isinstance(data, dict):
        return "{" + ",".join(f"{_all_escaped(key)}: {_all_escaped(value)}" for key, value in data.items()) + "}"
    return f"[{','.join(map(_all_escaped, data))}]" if isinstance(data, list) else json.dumps(data)


spellings: dict[str, Callable[[Any], str]] = {
    "Python": json.dumps,
    "as it is": lambda data: json.dumps(data, ensure_ascii=False, separators=(",", ":")),
    "upper case": lambda data: json.dumps(data).replace("\\u00e9", "\\u00E9"),
    "Go": lambda data: json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
    "PHP": lambda data: json.dumps(data).replace("/", "\\/"),
    "all escaped": _all_escaped,
}

_TEXTS = ["author", "branch", "text", "thought", "transfer", "id", "invocation", "call", "response", "delta"]


@st.composite
def paths(draw: st.DrawFn) -> str:
    key = quoted(draw(keys))
    name = quoted(draw(names))
    return draw(
        st.sampled_from(
            [
                *_TEXTS,
                f"call.{name}",
                f"call.{name}.args.{key}",
                f"call.*.args.{key}[*]",
                "call.*.name",
                "call.*",
                f"response.{name}.{key}",
                "response.*.*",
                f"delta.{key}",
                f"metadata.{key}.*",
            ]
        )
    )


@st.composite
def comparisons(draw: st.DrawFn) -> str:
    path, text = draw(paths()), quoted(draw(texts))
    is_text = path in ("author", "branch", "text", "thought", "transfer", "id", "invocation")
    other = draw(paths())
    if draw(st.integers(0, 3)) == 0:
        field = draw(st.sampled_from(["tokens", "tokens.total", "tokens.prompt", "tokens.answer", "tokens.thoughts", "tokens.cached"]))
        number = draw(st.sampled_from(["0", "1", "3", "3.5", "6", "-1", "1152921504606846976"]))
        operator = draw(st.sampled_from([">", ">=", "<", "<=", "==", "=", "!="]))
        return draw(st.sampled_from([f"{field} {operator} {number}", f"{number} {operator} {field}"]))
    shapes = [
        path,
        f"{path} == {text}",
        f"{text} = {path}",
        f"{path} != {text}",
        f"{path} contains {text}",
        f"{text} in {path}",
        f"{path} in [{text}, {quoted(draw(texts))}]",
        f"{path} not in [{text}]",
        f"{path} < {text}",
        f"{path} == {other}",
        f"{path} contains {other}",
        f'{path} ~ "s|é|京"',
        f'{path} matches "k."',
        f"state[{quoted(draw(keys))}] changed",
        'kind == "tool call"',
    ]
    return draw(st.sampled_from([*shapes, f"{path} == null"] if not is_text else shapes))


conditions = st.recursive(
    comparisons(),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda three: f"({' '.join(three)})") | inner.map("not {}".format)
    ),
)


def _candidates(source: str, stored: list[str]) -> set[int]:
    found = prefilter(parse(source).required)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE events (id TEXT, invocation_id TEXT, event_data TEXT)")
        connection.executemany("INSERT INTO events VALUES ('Ids', 'Invs', ?)", [(text,) for text in stored])
        where, parameters = (found.sql, found.parameters) if found is not None else ("1", {})
        return {rowid - 1 for (rowid,) in connection.execute(f"SELECT rowid FROM events WHERE {where}", parameters)}


@pytest.mark.sweep
@given(conditions, st.lists(events(), min_size=1, max_size=4))
@settings(max_examples=count(150, 50_000), deadline=None)
@example('text contains "strasse"', [{"author": "a", "content": {"parts": [{"text": "Straße"}]}, "timestamp": 1.0}])
@example('text contains "sk"', [{"author": "a", "content": {"parts": [{"text": "s"}, {"text": "k"}]}, "timestamp": 1.0}])
@example('call.* contains "args"', [{"author": "a", "content": {"parts": [{"function_call": {"name": "pay"}}]}, "timestamp": 1.0}])
@example('author == "北京" and branch contains "京"', [{"author": "北京", "branch": "北京😀", "timestamp": 1.0}])
@example('author == "😀" or text contains "é"', [{"author": "😀", "timestamp": 1.0}])
@example("tokens > 5", [{"author": "a", "usage_metadata": {"promptTokenCount": 3, "candidates_token_count": 3}, "timestamp": 1.0}])
@example("4 < tokens.cached", [{"author": "a", "usageMetadata": {"cachedContentTokenCount": "5"}, "timestamp": 1.0}])
@example('id == "Ids" and invocation contains "invs"', [{"author": "a", "timestamp": 1.0}])
def test_no_event_that_matches_is_skipped(source: str, made: list[dict[str, Any]]) -> None:
    expression = parse(source)
    stored = [spell(event) for event in made for spell in spellings.values()]
    matching = {place for place, text in enumerate(stored) if expression.matches(decode_v1(("Ids", "Invs", None, text)))}
    assert matching <= _candidates(source, stored)


@pytest.mark.parametrize(
    "source",
    [
        'author == "pricing"',
        'text contains "refund"',
        'call.lookup.args.city contains "77777"',
        "call.find_product",
        'text ~ "refund|cancel"',
        'author == "pricing" and tokens.total > 5',
        'author in ["pricing", "stock"]',
        'text contains "返金"',
        'state["cart"] changed',
        "tokens.total > 20000",
        "20000 <= tokens",
        "tokens.answer == 20000 or tokens.cached > 1.5",
    ],
)
def test_events_without_the_required_texts_are_skipped(source: str) -> None:
    usage = {"prompt_token_count": 9_000, "candidates_token_count": 9_000, "total_token_count": 9_999, "cached_content_token_count": None}
    row = {"author": "desk", "content": {"parts": [{"text": "hello, é 北"}]}, "usage_metadata": usage, "timestamp": 1.0}
    assert _candidates(source, [json.dumps(row), json.dumps(row, ensure_ascii=False)]) == set()


@pytest.mark.parametrize(
    "source",
    [
        "tokens.total < 20000",
        "tokens > -1",
        "not tokens > 5",
        'not author == "a"',
        'author == "a" or error',
        'author == ""',
        'json contains "x"',
    ],
)
def test_without_required_texts_every_event_may_match(source: str) -> None:
    assert prefilter(parse(source).required) is None


@pytest.mark.parametrize(
    "stored",
    [
        '{"author": "a", "usage_metadata": {"total_token_count": 1, "total_token_count": 9}}',
        '{"author": "a", "usage_metadata": {"candidatesTokenCount": 1, "candidates_token_count": 9}}',
        '{"author": "a", "usageMetadata": {"total_token_count": 1}, "usage_metadata": {"total_token_count": 9}}',
        '{"author": "a", "usage\\u005fmetadata": {"total_token_count": 9}}',
    ],
)
def test_a_row_that_repeats_or_escapes_a_name_may_always_match(stored: str) -> None:
    assert _candidates("tokens > 5", [stored]) == {0}


def test_a_row_whose_json_is_a_blob_may_always_match() -> None:
    found = prefilter(parse('author == "pricing"').required)
    assert found is not None
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE events (id, invocation_id, event_data)")
        connection.execute("INSERT INTO events VALUES ('i', 'j', x'7b7d')")
        assert connection.execute(f"SELECT count(*) FROM events WHERE {found.sql}", found.parameters).fetchone() == (1,)


def test_letters_that_other_characters_are_folded_into_are_known() -> None:
    folded = {char: char.casefold() for char in map(chr, range(128, 0x110000)) if not 0xD800 <= ord(char) < 0xE000}
    changed = {char: fold for char, fold in folded.items() if fold != char}
    assert {letter for fold in changed.values() for letter in fold if letter.isascii()} == FOLDED_INTO
    assert not any(_CASELESS.search(char + fold) for char, fold in changed.items())
    assert unicodedata.category("京") == "Lo" and _CASELESS.search("京")
