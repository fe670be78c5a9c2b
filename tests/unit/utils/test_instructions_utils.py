"""Placeholders in instructions, and what is not one."""

from __future__ import annotations

import importlib.util
import re
import sys
from typing import Any

import pytest
from google.genai import types
from hypothesis import assume, example, given
from hypothesis import strategies as st

from runtime.agents.readonly_context import ReadonlyContext
from runtime.contexts.context import ServiceMissingError
from runtime.errors.missing_package_error import MissingPackageError
from runtime.history.placeholders import keys_in
from runtime.utils.instructions_utils import MissingStateKeyError, inject_session_state
from tests.unit.tools.tool_contexts import tool_context


class Served:
    """An artifact service that returns one object for every name."""

    def __init__(self, artifact: Any) -> None:
        self.artifact = artifact

    async def load_artifact(self, **_: Any) -> Any:
        return self.artifact


def context(state: dict[str, Any] | None = None, artifact: Any = None) -> ReadonlyContext:
    invocation = tool_context()._invocation_context
    invocation.session.state.update(state or {})
    invocation.artifact_service = Served(artifact)
    return ReadonlyContext(invocation)


@pytest.mark.rule("S10")
@pytest.mark.parametrize(
    "text",
    [
        "token: ${{ secrets.TOKEN }}",
        "{{user.name}} and {{#each items}}{{this.x}}{{/each}}",
        r"\frac{{a+b}}{{2}}",
        "{{no}} {{ no }} {{user:no}} {{app:no}} {{temp:no}} {{é}} {{\nno}}",
        "{{artifact.no}}",
        "${a} ${{a}} \\{a} \\{{a}} $\\{a}",
        "{{}} {} {{ }} { }",
        "{{x:a}} {x:a} {{user:app:a}} {app:} {{user:1}}",
        "{²} {a-b} {a b} {a ?}",
        '{"json": {"a": [{}]}}',
        "{{a",
        "a}}",
        "}{ }}{{",
    ],
)
async def test_braces_around_no_name_are_kept(text: str) -> None:
    assert await inject_session_state(text, context({"a": "filled", "user.name": "u"})) == text
    assert "a" not in keys_in(text)


@pytest.mark.rule("S10")
@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{a}} {{a?}} {{ a }} {{{a}}} {{{{a}}}} {{\na ?}}", "1 1 1 1 1 {{\na ?}}"),
        ("{a}{{a}}{a}", "111"),
        ("{{user:b}} {{app:b}} {{temp:b}} {{é}}", "2 3 4 5"),
        ("[{{no?}}] [{{{no?}}}] [{{ user:no? }}] [{{none}}]", "[] [] [] []"),
        ("{{a} {a}} {{{a} {a}}}", "1 1 1 1"),
        ('{"x": {a}}', '{"x": 1'),
        ('{{"x": {a}}}', '{{"x": 1'),
        ("{{no}} {{a}}", "{{no}} 1"),
        ("{{text}} {text}", "{a} {a}"),
        ("x{a} $ {a} \\ {a}", "x1 $ 1 \\ 1"),
    ],
)
async def test_a_run_of_braces_around_a_key_is_its_value(text: str, filled: str) -> None:
    state = {"a": 1, "user:b": 2, "app:b": 3, "temp:b": 4, "é": 5, "none": None, "text": "{a}"}
    assert await inject_session_state(text, context(state)) == filled


@pytest.mark.rule("S10")
@pytest.mark.parametrize("text", ["{no}", "{{no}} {no}", "{{no}", "{no}}", "{{{no}}}", "{ user:no }", "{{{artifact.no}}}"])
async def test_a_missing_key_is_an_error_except_in_two_pairs_of_braces(text: str) -> None:
    with pytest.raises(MissingStateKeyError):
        await inject_session_state(text, context())


@pytest.mark.rule("S10")
async def test_an_artifact_in_several_braces_is_its_text() -> None:
    text = "[{{artifact.note}}] [{{{ artifact.note }}}] [{{artifact.note?}}]"
    assert await inject_session_state(text, context(artifact=types.Part(text="hi"))) == "[hi] [hi] [hi]"


def test_the_keys_of_a_template_are_those_that_are_filled_in() -> None:
    assert keys_in("{a} {{b}} {{{ c? }}} {user:d} ${e} \\{f} {g.h} {{artifact.i}}") == {"a", "b", "c", "user:d"}


braces = st.text(st.sampled_from("{}{}ab.: ?-$²é\n_1"), max_size=40)


@given(braces | st.text(max_size=60))
@example("{{{{{a}}}}}")
@example("{\n}")
async def test_a_text_without_a_name_in_braces_is_unchanged(text: str) -> None:
    inside = [name.strip().removesuffix("?") for name in re.findall(r"\{([^{}]*)\}", text)]
    assume(not any(name.rpartition(":")[2].isidentifier() or name.startswith("artifact.") for name in inside))
    assert await inject_session_state(text, context()) == text


async def test_many_braces_take_no_time() -> None:
    text = "{" * 200_000 + "a" + "}" * 2 + "{a" * 50_000
    assert await inject_session_state(text, context({"a": ""})) == "{a" * 50_000


@pytest.mark.rule("S10")
@pytest.mark.parametrize(
    "artifact",
    [
        types.Part(text="grüße"),
        types.Part.from_bytes(data="grüße".encode(), mime_type="text/plain"),
        types.Part.from_bytes(data="grüße".encode(), mime_type="Text/Markdown; charset=utf-8"),
        types.Part.from_bytes(data="grüße".encode(), mime_type="application/json"),
        types.Part.from_bytes(data="grüße".encode(), mime_type="image/svg+xml"),
        types.Part(inline_data=types.Blob(data="grüße".encode())),
        {"text": "grüße"},
        {"inlineData": {"data": "Z3LDvMOfZQ==", "mimeType": "text/plain"}},
        "grüße",
        "grüße".encode(),
    ],
)
async def test_a_text_artifact_is_filled_in_as_text_in_every_form(artifact: Any) -> None:
    assert await inject_session_state("[{artifact.note}]", context(artifact=artifact)) == "[grüße]"


async def test_bytes_that_are_no_text_are_described() -> None:
    filled = await inject_session_state("{artifact.a}", context(artifact=types.Part.from_bytes(data=b"\xff\x00", mime_type="image/png")))
    assert filled == "[2 bytes of image/png, which cannot be shown]"


async def test_a_missing_artifact_is_an_error_unless_optional() -> None:
    assert await inject_session_state("[{artifact.a.txt?}]", context()) == "[]"
    with pytest.raises(MissingStateKeyError, match=r"Artifact a\.txt not found\..*agent 'agent'.*\{artifact\.a\.txt\?\}"):
        await inject_session_state("{artifact.a.txt}", context())


async def test_an_artifact_without_a_service_is_an_error() -> None:
    without = context()
    without._invocation_context.artifact_service = None
    with pytest.raises(ServiceMissingError, match=r"Artifact service is not initialized\."):
        await inject_session_state("{artifact.a.txt}", without)


async def test_a_jinja_template_sees_the_state_and_artifacts() -> None:
    jinja2 = pytest.importorskip("jinja2")
    state = {"names": ["Ada", "Bo"], "user:tone": "kind", "count": None}
    given = context(state, types.Part(text="read me"))
    template = (
        "{% for name in names %}{{ loop.index }}. {{ name }} {% endfor %}{{ state['user:tone'] }} {{ count }} {{ artifact('a.txt') }}"
    )
    assert await inject_session_state(template, given, use_jinja2=True) == "1. Ada 2. Bo kind None read me"
    assert await inject_session_state("{% raw %}{names}{% endraw %}", given, use_jinja2=True) == "{names}"
    for wrong in ("{{ missing }}", "{% if %}", "{{ names.__class__.__mro__[1].__subclasses__() }}"):
        with pytest.raises(jinja2.TemplateError):
            await inject_session_state(wrong, given, use_jinja2=True)
    with pytest.raises(MissingStateKeyError, match=r"Artifact a\.txt not found"):
        await inject_session_state("{{ artifact('a.txt') }}", context(), use_jinja2=True)


async def test_a_jinja_template_without_jinja_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"install .*jinja2$"):
        await inject_session_state("{{ name }}", context(), use_jinja2=True)
