"""YAML files with the lines of their fields, for error messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from runtime.errors.known_error import KnownError
from runtime.support.bounded import read_file

MAX_BYTES = 1_000_000  # of a file; an agent's is a few KB
_MAX_FIELDS = 50_000  # with repeated aliases: a small file can repeat itself without end

Place = tuple[str | int, ...]


class AgentConfigError(KnownError, ValueError):
    """A YAML file does not describe an agent; the message names the file, the line and the field."""


class ConfigFile:
    """A YAML file that describes an agent.

    Attributes:
        path: the file.
        data: its content, a dict.

    Args:
        path: see above.
        shown: the file as messages name it.

    Raises:
        FileNotFoundError: there is no such file.
        AgentConfigError: it cannot be read, or is no mapping.
    """

    def __init__(self, path: Path, shown: str) -> None:
        self.path = path
        self._shown = shown
        self._lines: dict[Place, int] = {}
        self._texts: dict[str, Place] = {}
        try:
            content = read_file(path, MAX_BYTES)
        except FileNotFoundError:
            raise FileNotFoundError(f"There is no file {path}.") from None
        except OSError as error:
            raise AgentConfigError(f"{shown} cannot be read: {error.strerror or error}.") from None
        self.data = self._read(content)

    def _read(self, content: bytes) -> dict[str, Any]:
        try:
            loader = yaml.SafeLoader(content)
            try:
                root = loader.get_single_node()
                for count, (place, node) in enumerate(_nodes(root)):
                    if count > _MAX_FIELDS:
                        raise AgentConfigError(f"{self._shown} has more than {_MAX_FIELDS:,} fields.")
                    self._lines.setdefault(place, node.start_mark.line + 1)
                    if isinstance(node, yaml.ScalarNode):
                        self._texts.setdefault(node.value, place)
                data = loader.construct_document(root) if root is not None else None
            finally:
                loader.dispose()
        except yaml.MarkedYAMLError as error:
            line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
            raise AgentConfigError(f"{self._shown}{line}: {error.problem or error.context}.") from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            said = "it is nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
            raise AgentConfigError(f"{self._shown} cannot be read: {said}.") from None
        if not isinstance(data, dict):
            what = "is empty" if data is None else f"has a {type(data).__name__} at its top"
            raise AgentConfigError(f"{self._shown} {what}; an agent is a mapping with `name` and, for an LlmAgent, `instruction`.")
        return data

    def error(self, text: str, place: Sequence[str | int] = ()) -> AgentConfigError:
        """Return an error at a field.

        Args:
            text: what is wrong, without a full stop.
            place: the field's keys and indexes from the top; the nearest field that exists gives the line.
        """
        return AgentConfigError(f"{self._located(tuple(place))}: {text}.")

    def error_of(self, text: str, value: str) -> AgentConfigError:
        """Return an error at the first field with this value, or with the last part of this dotted name."""
        return self.error(text, self._texts.get(value) or self._texts.get(value.rpartition(".")[2], ()))

    def errors(self, failed: ValidationError, place: Sequence[str | int] = ()) -> AgentConfigError:
        """Return pydantic's errors at their fields.

        Args:
            failed: the errors.
            place: the field that was validated.
        """
        texts = []
        for one in failed.errors(include_url=False, include_input=False):
            text = one["msg"].removeprefix("Value error, ")
            texts.append(f"{self._located((*place, *one['loc']))}: {text[:1].lower() + text[1:]}")
        return AgentConfigError("; ".join(dict.fromkeys(texts)) + ".")

    def _located(self, place: Place) -> str:
        known = place
        while known and known not in self._lines:
            known = known[:-1]
        line = self._lines.get(known)
        field = ""
        for part in place:
            field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else part
        where = f"{self._shown}, line {line}" if line else self._shown
        return f"{where}: {field}" if field else where


def _nodes(node: yaml.Node | None, place: Place = ()) -> Iterator[tuple[Place, yaml.Node]]:
    if node is None:
        return
    yield place, node
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield from _nodes(value, (*place, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _nodes(item, (*place, index))
