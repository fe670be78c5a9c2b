"""JSON parsing at pydantic's speed. Its parser is loaded when it is first used: that takes longer than most commands run."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any


def from_json(text: str | bytes) -> Any:
    """Return the value of JSON text.

    Raises:
        ValueError: it is not JSON, has a lone surrogate or is nested too deeply.
    """
    return _parser()(text)


@cache
def _parser() -> Callable[[str | bytes], Any]:
    parser: Callable[[str | bytes], Any] = importlib.import_module("pydantic_core").from_json
    return parser
