"""JSON parsing at pydantic's speed. Its parser is loaded when it is first used: that takes longer than most commands run."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from functools import cache
from typing import Any

_FEW = 2_000  # texts that Python's own parser has read before pydantic's would be loaded


def from_json(text: str | bytes) -> Any:
    """Return the value of JSON text.

    Raises:
        ValueError: it is not JSON, has a lone surrogate or is nested too deeply.
    """
    return _parser()(text)


def parser_of_many() -> Callable[[str], Any]:
    """Return a function as `from_json` that does not load pydantic's parser for a few texts. It may accept lone surrogates.

    The function raises ValueError or RecursionError.
    """
    left = _FEW

    def parse(text: str) -> Any:
        nonlocal left
        if not left:
            return _parser()(text)
        left -= 1
        return json.loads(text)

    return parse


@cache
def _parser() -> Callable[[str | bytes], Any]:
    parser: Callable[[str | bytes], Any] = importlib.import_module("pydantic_core").from_json
    return parser
