"""Texts of the agent's own objects, whose code may raise anything, call itself, or return a gigabyte; as `runtime/support/texts.py`."""

from __future__ import annotations

from typing import Any

MAX_TEXT = 100_000  # characters; the rest of a longer text is left out


def text_of(value: Any, make: Any = str, most: int = MAX_TEXT) -> str:
    """Return `str(value)`; a note in its place if the object's code fails.

    Args:
        value: any object.
        make: `str` or `repr`.
        most: maximum number of characters.
    """
    try:
        text = make(value)
        # Methods of `str` itself, as the text may be of a subclass that has its own.
        return str.__getitem__(text, slice(0, most)) + ("…" if str.__len__(text) > most else "")
    except BaseException as error:  # the object's own code
        return f"<{type_name(value)}: its {make.__name__} failed: {type_name(error)}>"


def type_name(value: Any) -> str:
    """Return the name of an object's type, without code of its metaclass."""
    return str.__getitem__(type.__dict__["__name__"].__get__(type(value)), slice(0, 1000))
