"""Origins of web pages that may use the server, as `--allow_origins` names them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runtime.errors import KnownError

_REGEX = "regex:"
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s]+")


class OriginError(KnownError):
    """An origin cannot be allowed; the message says why."""


@dataclass(frozen=True, slots=True)
class AllowedOrigins:
    """Origins that were named.

    Attributes:
        literal: origins such as `http://localhost:4200`.
        pattern: a regular expression that other origins match as a whole; empty for none.
    """

    literal: frozenset[str] = frozenset()
    pattern: str = ""

    @classmethod
    def named(cls, names: Sequence[str]) -> AllowedOrigins:
        """Return the origins that a command line names.

        Args:
            names: origins, or regular expressions after `regex:`.

        Raises:
            OriginError: a name is neither, or matches every page.
        """
        literal, patterns = set(), []
        for name in names:
            if name == "*":
                raise OriginError(
                    "--allow_origins '*' would let every page in your browser run the agents. Name the origins, such as http://localhost:4200."
                )
            if name.startswith(_REGEX):
                patterns.append(_checked(name.removeprefix(_REGEX)))
            elif _ORIGIN.fullmatch(name):
                literal.add(name)
            else:
                raise OriginError(f"--allow_origins {name} is not an origin. Write it like http://localhost:4200, without a path.")
        return cls(frozenset(literal), "|".join(patterns))

    def __contains__(self, origin: str) -> bool:
        """Return whether an origin was named."""
        return origin in self.literal or (bool(self.pattern) and re.fullmatch(self.pattern, origin) is not None)

    def __bool__(self) -> bool:
        """Return whether any origin was named."""
        return bool(self.literal or self.pattern)

    @property
    def cors(self) -> dict[str, Any]:
        """The arguments of starlette's CORS middleware."""
        return {
            "allow_origins": sorted(self.literal),
            "allow_origin_regex": self.pattern or None,
            "allow_credentials": True,
            "allow_methods": ["*"],
            "allow_headers": ["*"],
        }


def _checked(pattern: str) -> str:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise OriginError(f"--allow_origins {_REGEX}{pattern} is not a regular expression: {error}.") from None
    if compiled.fullmatch("http://a.example") and compiled.fullmatch("https://b.example:1"):
        raise OriginError(f"--allow_origins {_REGEX}{pattern} would let every page in your browser run the agents. Make it narrower.")
    return pattern
