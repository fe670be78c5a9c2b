"""Agents from YAML files."""

from __future__ import annotations

import inspect
import types as python_types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError

from runtime.configs.agent_config import AgentRefConfig, CodeConfig
from runtime.configs.code_references import ADK, UnknownReferenceError, package_of, resolve
from runtime.configs.config_file import AgentConfigError, ConfigFile

_AGENTS = f"{ADK}.agents"


@dataclass(frozen=True)
class _Reading:
    """The file that is being read.

    Attributes:
        file: the file.
        root: the folder that no `config_path` may leave.
        outer: the files that refer to it.
    """

    file: ConfigFile
    root: Path
    outer: tuple[Path, ...]


_reading: ContextVar[_Reading | None] = ContextVar("reading", default=None)


def from_config(config_path: str) -> Any:
    """Return the agent that a YAML file describes. The code that the file names is imported.

    Args:
        config_path: the file.

    Raises:
        FileNotFoundError: there is no such file.
        AgentConfigError: it does not describe an agent; a `ValueError` that names the file, the line and the field.
        Exception: code that the file names failed.
    """
    path = Path(config_path).absolute()
    reading = _reading.get()
    root = reading.root if reading else package_of(path.parent)[1]
    file = ConfigFile(path, str(path.relative_to(root)) if path.is_relative_to(root) else str(path))
    outer = (*reading.outer, reading.file.path) if reading else ()
    token = _reading.set(_Reading(file, root, outer))
    try:
        agent_class = _agent_class(file.data.get("agent_class") or "LlmAgent")
        try:
            config = agent_class.config_type.model_validate(file.data)
        except ValidationError as error:
            raise file.errors(error) from None
        with at_field():
            return agent_class.from_config(config, str(path))
    finally:
        _reading.reset(token)


def resolve_fully_qualified_name(name: str) -> Any:
    """Return the object that a name such as `my_agent.tools.my_tool` or `google.adk.tools.google_search` refers to.

    Args:
        name: its module and name; the module is searched as `runtime.configs.code_references` says.

    Raises:
        AgentConfigError: there is none.
        Exception: its module failed.
    """
    reading = _reading.get()
    try:
        return resolve(name, reading.file.path.parent if reading else Path.cwd())
    except UnknownReferenceError as error:
        if reading is None:
            raise AgentConfigError(f"{error}.") from None
        raise reading.file.error_of(str(error), name) from None


def resolve_code_reference(code_config: CodeConfig) -> Any:
    """Return the object that a reference names, or what it returns for the reference's arguments.

    Args:
        code_config: the reference.

    Raises:
        AgentConfigError: there is no such object.
    """
    found = resolve_fully_qualified_name(code_config.name)
    if not code_config.args or not callable(found):
        return found
    positional = [argument.value for argument in code_config.args if not argument.name]
    named = {argument.name: argument.value for argument in code_config.args if argument.name}
    return found(*positional, **named)


def resolve_callbacks(callbacks_config: Sequence[CodeConfig]) -> list[Any]:
    """Return the functions that references name."""
    return [resolve_code_reference(config) for config in callbacks_config]


def resolve_agent_reference(ref_config: AgentRefConfig, referencing_agent_config_abs_path: str) -> Any:
    """Return the agent that a reference names.

    Args:
        ref_config: the reference.
        referencing_agent_config_abs_path: the file that has it.

    Raises:
        AgentConfigError: there is no such agent, it is outside the agent's folder, or the file refers to itself.
    """
    if ref_config.code is not None:
        return _agent_in_code(ref_config.code)
    written = ref_config.config_path or ""
    folder = Path(referencing_agent_config_abs_path).parent
    reading = _reading.get()
    root = reading.root if reading else package_of(folder)[1]
    path = folder / written
    if Path(written).is_absolute():
        raise _at(written, f"Absolute paths are not allowed in AgentRefConfig config_path: {written}")
    if not path.resolve().is_relative_to(root.resolve()):
        raise _at(written, f"Path traversal detected: {written} is outside the agent's folder {root.name}")
    if reading and path.resolve() in {one.resolve() for one in (*reading.outer, reading.file.path)}:
        raise _at(written, f"{written} refers to itself, directly or through other files")
    if not path.is_file():
        raise _at(written, f"there is no file {written} in {folder}")
    return from_config(str(path.resolve()))


@contextmanager
def at_field(*place: str | int) -> Iterator[None]:
    """Report what a constructor raises as an error of the file at a field.

    Args:
        place: the field's keys and indexes from the top of the file.
    """
    reading = _reading.get()
    try:
        yield
    except AgentConfigError:
        raise
    except ValidationError as error:
        if reading is None:
            raise
        raise reading.file.errors(error, place) from error
    except (TypeError, ValueError) as error:
        if reading is None:
            raise
        raise reading.file.error(str(error).removesuffix("."), place) from error


def arguments_of(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a constructor from those of a YAML file. Where a function is expected, its name is given.

    Args:
        function: the constructor, with annotations.
        given: the values of the file, by parameter.

    Raises:
        ValueError: there is no such parameter.
        ValidationError: a value is of another type.
    """
    parameters = inspect.signature(function).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    unknown = sorted(name for name in given if name not in parameters or name == "self")
    if unknown and not takes_all:
        raise ValueError(f"there is no argument {', '.join(unknown)}")
    try:
        hints = get_type_hints(function)
    except NameError:  # of a class imported for type checkers only
        hints = {}
    return {name: _converted(value, hints.get(name, Any)) for name, value in given.items()}


def _converted(value: Any, hint: Any) -> Any:
    options = get_args(hint) if get_origin(hint) in (Union, python_types.UnionType) else (hint,)
    if isinstance(value, str) and any(_is_function(option) for option in options) and str not in options:
        return resolve_fully_qualified_name(value)
    if isinstance(value, list):
        for option in options:
            if get_origin(option) is list and get_args(option) and _is_function(get_args(option)[0]):
                return [resolve_fully_qualified_name(item) for item in value]
    if any(_is_function(option) for option in options):
        return value
    try:
        return TypeAdapter(hint).validate_python(value)
    except PydanticSchemaGenerationError:
        return value


def _is_function(hint: Any) -> bool:
    return hint is Callable or get_origin(hint) is get_origin(Callable[..., Any])


def _agent_class(name: str) -> Any:
    found = resolve_fully_qualified_name(name if "." in name else f"{_AGENTS}.{name}")
    config_type = getattr(found, "config_type", None)
    if not inspect.isclass(found) or not inspect.isclass(config_type) or not issubclass(config_type, BaseModel):
        raise _at(name, f"{name} is no class of agents")
    return found


def _agent_in_code(code: str) -> Any:
    found = resolve_fully_qualified_name(code)
    if inspect.isclass(found):
        raise _at(code, f"{code} is a class; name an agent, or the class as `agent_class` of a file")
    if not hasattr(type(found), "config_type"):
        raise _at(code, f"{code} is a {type(found).__name__}, not an agent")
    return found


def _at(value: str, text: str) -> AgentConfigError:
    reading = _reading.get()
    return reading.file.error_of(text, value) if reading else AgentConfigError(f"{text}.")
