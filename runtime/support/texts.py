"""Texts of objects whose code is not ours: exceptions, tool results, values of a state.

Such an object's `__str__` may raise anything, call itself, or return a gigabyte. Code that turns one into a text calls a function of this
module. The plugins in `resources/plugins`, which import nothing of ours, have the same rule.
"""

from __future__ import annotations

from collections.abc import Callable

MAX_TEXT = 100_000  # characters; the rest of a longer text is left out


class TerminatedError(KeyboardInterrupt):
    """Raised by SIGTERM, so that private copies are deleted and files are closed as after Ctrl-C."""


def text_of(value: object) -> str:
    """Return `str(value)`; a note in its place if the object's code fails."""
    return _made(str, value)


def repr_of(value: object) -> str:
    """Return `repr(value)`; a note in its place if the object's code fails."""
    return _made(repr, value)


def type_name(value: object) -> str:
    """Return the name of an object's type, without code of its metaclass."""
    name = type.__dict__["__name__"].__get__(type(value))
    return str.__getitem__(name, slice(0, 1000))


def error_text(error: BaseException) -> str:
    """Return an exception's type and message. A KeyError's own text is only the key, and some exceptions have no message."""
    said = text_of(error)
    return f"{type_name(error)}: {said}" if said else type_name(error)


def _made(make: Callable[[object], str], value: object) -> str:
    try:
        text = make(value)
        # Methods of `str` itself, as the text may be of a subclass that has its own.
        return str.__getitem__(text, slice(0, MAX_TEXT)) + ("…" if str.__len__(text) > MAX_TEXT else "")
    except TerminatedError:  # this process is to end while the object's code runs
        raise
    except BaseException as error:  # the object's own code
        return f"<{type_name(value)}: its {make.__name__} failed: {type_name(error)}>"
