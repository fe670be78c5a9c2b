"""State placeholders in instructions."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

from runtime.artifacts.readable import text_of
from runtime.contexts.context import ServiceMissingError
from runtime.errors.known_error import KnownError
from runtime.errors.missing_package_error import MissingPackageError, install_command, is_installed
from runtime.history.placeholders import _ARTIFACT, PLACEHOLDER, is_state_name

if TYPE_CHECKING:
    from runtime.contexts.readonly_context import ReadonlyContext


class MissingStateKeyError(KnownError, KeyError):
    """Raised when an instruction refers to a state key or artifact that does not exist."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote the text


async def inject_session_state(template: str, readonly_context: ReadonlyContext, use_jinja2: bool = False) -> str:
    """Replace the placeholders in a text.

    `{key}` is replaced by the state's value, None by nothing. `{key?}` is replaced by nothing if the key does not exist.
    `{artifact.name}` is replaced by the artifact's text. As in google-adk, two or more braces mean the same, and braces after `$` or a
    backslash, or around anything else, such as JSON or another template language's `{{user.name}}`, are left unchanged. So is
    `{{key}}` if the key does not exist.

    Args:
        template: the text.
        readonly_context: provides state and artifacts.
        use_jinja2: the text is a Jinja template instead: `{{ key }}`, `{{ state["user:key"] }}`, `{{ artifact("name") }}`. It is rendered
            in Jinja's sandbox, and a name that is not defined is an error.

    Returns:
        The text with all placeholders replaced.

    Raises:
        ServiceMissingError: the text names an artifact, and the Runner has no artifact service.
        MissingStateKeyError: a key or artifact without `?` does not exist, and its braces are not `{{…}}`; the message names it, the
            agent and the instruction.
        MissingPackageError: Jinja is wanted and not installed.
        jinja2.TemplateError: the Jinja template is invalid, or names what does not exist.
    """
    if use_jinja2:
        return await _rendered(template, readonly_context)
    parts: list[str] = []
    end = 0
    for match in PLACEHOLDER.finditer(template):
        parts += template[end : match.start()], await _filled(match, readonly_context)
        end = match.end()
    return "".join(parts) + template[end:]


async def _rendered(template: str, context: ReadonlyContext) -> str:
    if not is_installed("jinja2"):
        raise MissingPackageError(f"Jinja templates in instructions need the package jinja2: {install_command('jinja2')}", name="jinja2")
    jinja = importlib.import_module("jinja2")
    sandbox = importlib.import_module("jinja2.sandbox")

    async def artifact(filename: str) -> str:
        text = await _artifact_text(filename, context)
        if text is None:
            raise MissingStateKeyError(f"Artifact {filename} not found. The instruction of agent {context.agent_name!r} needs it.")
        return text

    environment = sandbox.SandboxedEnvironment(enable_async=True, undefined=jinja.StrictUndefined, autoescape=False)
    names = {**context.state, "state": context.state, "artifact": artifact}
    text: str = await environment.from_string(template).render_async(names)
    return text


async def _filled(match: re.Match[str], context: ReadonlyContext) -> str:
    """Return what replaces a placeholder; its own text if it names nothing."""
    opening, inside, closing = match.groups()
    key = inside.strip().removesuffix("?")
    optional = inside.strip().endswith("?")
    if key.startswith(_ARTIFACT):
        text = await _artifact_text(key.removeprefix(_ARTIFACT), context)
    elif is_state_name(key):
        text = _state_text(key, context.state)
    else:
        return match.group()
    if text is None and not optional:
        if (opening, closing) == ("{{", "}}"):
            return match.group()  # literal braces, which google-adk refuses
        is_artifact = key.startswith(_ARTIFACT)
        problem = f"Artifact {key.removeprefix(_ARTIFACT)} not found." if is_artifact else f"Context variable not found: `{key}`."
        raise MissingStateKeyError(
            f"{problem} The instruction of agent {context.agent_name!r} needs it. {'Save' if is_artifact else 'Set'} it first, or write"
            f" {{{key}?}} if it may be missing. The instruction: {_shortened(match.string)}"
        )
    return text or ""


def _state_text(key: str, state: Any) -> str | None:
    if key not in state:
        return None
    value = state[key]
    return "" if value is None else str(value)


async def _artifact_text(filename: str, context: ReadonlyContext) -> str | None:
    invocation = context._invocation_context
    if invocation.artifact_service is None:
        raise ServiceMissingError(
            f"Artifact service is not initialized. The instruction of agent {context.agent_name!r} refers to the artifact {filename!r}:"
            " give the Runner an artifact_service."
        )
    session = invocation.session
    part = await invocation.artifact_service.load_artifact(
        app_name=session.app_name, user_id=session.user_id, session_id=session.id, filename=filename
    )
    return None if part is None else text_of(part)


def _shortened(template: str) -> str:
    return template if len(template) <= 200 else template[:199] + "…"
