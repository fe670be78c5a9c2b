"""A tool of the server: its parameters, and the check of a call's arguments."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from runtime.errors import KnownError

Kind = Literal["string", "integer", "object"]
_TYPES: dict[Kind, tuple[type, str]] = {"string": (str, "a text"), "integer": (int, "a whole number"), "object": (dict, "a JSON object")}


class WrongArgumentError(KnownError):
    """An argument of a call is missing, unknown or of a wrong type; the message says which."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool.

    Attributes:
        about: what it means, for the coding agent.
        kind: its JSON type.
        is_needed: whether a call must give it.
        choices: the only values that a text may have; empty: any.
    """

    about: str
    kind: Kind = "string"
    is_needed: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        name: a question or an order.
        about: when to use it.
        parameters: name → parameter.
        answer: takes the checked arguments, with None for those that were left out, and returns JSON data.
        changes: whether it runs an agent.
    """

    name: str
    about: str
    parameters: Mapping[str, Parameter]
    answer: Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
    changes: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        properties = {
            name: {"type": each.kind, "description": each.about, **({"enum": list(each.choices)} if each.choices else {})}
            for name, each in self.parameters.items()
        }
        needed = [name for name, each in self.parameters.items() if each.is_needed]
        return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}

    def checked(self, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the arguments of a call, with None for those that were left out.

        Raises:
            WrongArgumentError: one is missing, unknown or of a wrong type.
        """
        given = dict(arguments or {})
        for name in given:
            if name not in self.parameters:
                near = get_close_matches(name, self.parameters, 1)
                hint = f" Did you mean {near[0]!r}?" if near else f" It takes: {', '.join(self.parameters)}."
                raise WrongArgumentError(f"{self.name} has no argument {name!r}.{hint}")
        for name, each in self.parameters.items():
            value = given.get(name)
            if value is None:
                if each.is_needed:
                    raise WrongArgumentError(f"{self.name} needs {name!r}: {each.about}")
                continue
            kind, words = _TYPES[each.kind]
            if not isinstance(value, kind) or isinstance(value, bool):
                raise WrongArgumentError(f"{name!r} must be {words}, not {type(value).__name__}.")
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError:
                raise WrongArgumentError(f"{name!r} has half a surrogate pair, which cannot be encoded.") from None
            if isinstance(value, int) and not 0 <= value < 2**31:
                raise WrongArgumentError(f"{name!r} must not be negative or larger than {2**31 - 1}.")
            if each.choices and value not in each.choices:
                raise WrongArgumentError(f"{name!r} must be one of {', '.join(each.choices)}.")
        return {name: given.get(name) for name in self.parameters}
