"""The tokens of an expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from runtime.expressions.errors import ExpressionError

MAX_LENGTH = 2_000

Kind = Literal["name", "string", "number", "sign", "end"]

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<name>[^\W\d][\w-]*)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<sign>==|!=|<=|>=|[=<>~()\[\].,*])""",
    re.VERBOSE | re.DOTALL,
)
_INSTEAD = {
    "&": "write `and`",
    "|": "write `or`",
    "!": "write `not`, or `!=`",
    '"': "this text is not closed",
    "'": "this text is not closed",
}


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        kind: its kind; `end` marks the end of the text.
        text: as written.
        value: the value of a string or number.
        position: the position of its first character.
    """

    kind: Kind
    text: str
    value: Any
    position: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"`{self.text}`"


def tokens(source: str) -> list[Token]:
    """Split an expression into tokens.

    Raises:
        ExpressionError: the text is too long, or a part of it is not a token.
    """
    if len(source) > MAX_LENGTH:
        raise ExpressionError(f"an expression has at most {MAX_LENGTH:,} characters.", MAX_LENGTH)
    found = []
    at = 0
    while at < len(source):
        match = _TOKEN.match(source, at)
        if match is None:
            raise ExpressionError(_INSTEAD.get(source[at], f"`{source[at]}` is not valid here") + ".", at)
        if match.lastgroup != "space":
            found.append(_token(match))
        at = match.end()
    return [*found, Token("end", "", None, len(source))]


def _token(match: re.Match[str]) -> Token:
    kind, text = match.lastgroup, match[0]
    if kind == "string":
        return Token("string", text, _unquoted(text), match.start())
    if kind == "number":
        is_whole = text.lstrip("-").isdecimal()
        if len(text) > 300:
            raise ExpressionError("this number is too long.", match.start())
        return Token("number", text, int(text) if is_whole else float(text), match.start())
    return Token("name" if kind == "name" else "sign", text, text, match.start())


def _unquoted(text: str) -> str:
    """Return the text of a quoted string: `\\"` and `\\\\` become one character; other backslashes are kept, for patterns."""
    quote = text[0]
    return re.sub(r"\\(.)", lambda match: match[1] if match[1] in (quote, "\\") else match[0], text[1:-1], flags=re.DOTALL)


def quoted(text: str) -> str:
    """Return a text as a quoted string of an expression."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
