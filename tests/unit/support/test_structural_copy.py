"""Copies share nothing that can change with their originals."""

from __future__ import annotations

from typing import Any

from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from runtime.support.structural_copy import copy_with, structural_copy


class Inner(BaseModel):
    """An object with an unset list."""

    notes: list[str] = Field(default_factory=list)


class Outer(BaseModel):
    """An object whose unset fields can change too."""

    model_config = ConfigDict(extra="allow")

    name: str = ""
    id: str = Field(default_factory=lambda: "new")
    seen: dict[str, Any] = Field(default_factory=dict)
    inner: Inner = Field(default_factory=Inner)

    _origin: str | None = PrivateAttr(default=None)


VALUES = st.recursive(
    st.none() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


@st.composite
def outers(draw: st.DrawFn) -> Outer:
    """Return an object of which any fields are set, one of them perhaps to a value of another type."""
    given = draw(
        st.fixed_dictionaries({}, optional={"name": st.text(), "seen": st.dictionaries(st.text(), VALUES, max_size=3), "more": VALUES})
    )
    made = Outer(**given)
    made._origin = draw(st.none() | st.text())
    if draw(st.booleans()):
        made.id = draw(VALUES)  # not validated
    if draw(st.booleans()):
        made.inner.notes.append("in place")
    return made


def test_lists_and_dicts_are_copied_at_every_depth() -> None:
    original = {"a": [1, {"b": [2, {}]}, []], "part": types.Part(text="said")}
    copy: Any = structural_copy(original)
    assert copy == original
    copy["a"][1]["b"][1]["c"] = 3
    copy["a"][2].append(4)
    copy["part"].text = "changed"
    copy["added"] = 5
    assert original == {"a": [1, {"b": [2, {}]}, []], "part": types.Part(text="said")}


def test_sets_are_copied_with_the_objects_in_them() -> None:
    class Counter:
        """An object that can change, in a set by its identity."""

        count = 0

    original = {"ids": {"a", "b"}, "counters": {Counter()}}
    copy: Any = structural_copy(original)
    assert copy["ids"] == original["ids"]
    copy["ids"].add("c")
    next(iter(copy["counters"])).count = 1
    assert original["ids"] == {"a", "b"}
    assert next(iter(original["counters"])).count == 0


def test_containers_that_were_never_set_are_copied() -> None:
    original = Outer()
    for copy in (structural_copy(original), copy_with(original, {"name": "other"})):
        copy.seen["added"] = 1
        copy.inner.notes.append("added")
        assert copy.model_extra is not None
        copy.model_extra["added"] = 1
        copy.name = "set"
    assert original == Outer()
    assert original.model_fields_set == set()


def test_replaced_values_are_not_copied_and_the_others_are() -> None:
    seen = {"a": [1]}
    original = Outer(seen=seen, inner=Inner(notes=["first"]))
    copy = copy_with(original, {"seen": seen})
    assert copy.seen is seen
    copy.inner.notes.append("second")
    assert original.inner.notes == ["first"]


@settings(max_examples=50, deadline=None)
@given(outers(), st.none() | VALUES)
def test_a_copy_is_what_pydantic_copies(original: Outer, name: Any) -> None:
    for copy, expected in (
        (structural_copy(original), original.model_copy(deep=True)),
        (copy_with(original, {"name": name}), original.model_copy(deep=True, update={"name": name})),
    ):
        assert _content(copy) == _content(expected)
        assert all(mine is not theirs for mine, theirs in zip(_containers(copy), _containers(original), strict=True))


def _content(model: Outer) -> tuple[Any, ...]:
    return list(model.__dict__.items()), model.model_fields_set, model.model_extra, model.__pydantic_private__


def _containers(model: Outer) -> list[Any]:
    return [
        model.__dict__,
        model.model_fields_set,
        model.model_extra,
        model.__pydantic_private__,
        model.seen,
        model.inner,
        model.inner.notes,
    ]
