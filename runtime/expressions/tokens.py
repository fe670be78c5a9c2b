"""The words of an expression."""

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
    """One word.

    Attributes:
        kind: what it is; `end` stands behind the last one.
        text: as it is written.
        value: of a string or number, what it stands for.
        position: of its first character.
    """

    kind: Kind
    text: str
    value: Any
    position: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"`{self.text}`"


def tokens(source: str) -> list[Token]:
    """Split an expression into words.

    Raises:
        ExpressionError: it is too long, or something in it is not a word.
    """
    if len(source) > MAX_LENGTH:
        raise ExpressionError(f"an expression has at most {MAX_LENGTH:,} characters.", MAX_LENGTH)
    found = []
    at = 0
    while at < len(source):
        match = _TOKEN.match(source, at)
        if match is None:
            raise ExpressionError(_INSTEAD.get(source[at], f"`{source[at]}` means nothing here") + ".", at)
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
    """Return what a quoted text stands for: `\\"` and `\\\\` are one character, every other backslash is kept, for patterns."""
    quote = text[0]
    return re.sub(r"\\(.)", lambda match: match[1] if match[1] in (quote, "\\") else match[0], text[1:-1], flags=re.DOTALL)


def quoted(text: str) -> str:
    """Return a text as an expression writes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
