"""State placeholders in instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.errors.known_error import KnownError
from runtime.history.placeholders import _ARTIFACT, _BRACES, _SCOPED_NAME

if TYPE_CHECKING:
    from runtime.contexts.readonly_context import ReadonlyContext


class MissingStateKeyError(KnownError, KeyError):
    """Raised when an instruction refers to a state key or artifact that does not exist."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote the text


async def inject_session_state(template: str, readonly_context: ReadonlyContext) -> str:
    """Replace the placeholders in a text.

    `{key}` is replaced by the state's value, None by nothing. `{key?}` is replaced by nothing if the key does not exist.
    `{artifact.name}` is replaced by the artifact's text. `{{x}}` gives a literal `{x}`. Braces around anything else, such as JSON,
    are left unchanged.

    Args:
        template: the text.
        readonly_context: provides state and artifacts.

    Returns:
        The text with all placeholders replaced.

    Raises:
        MissingStateKeyError: a key or artifact without `?` does not exist; the message names it, the agent and the instruction.
    """
    parts: list[str] = []
    end = 0
    for match in _BRACES.finditer(template):
        parts.append(template[end : match.start()])
        end = match.end()
        escaped, name = match.groups()
        parts.append("{" + escaped + "}" if escaped is not None else await _filled(name, match.group(), template, readonly_context))
    return "".join(parts) + template[end:]


async def _filled(name: str, braces: str, template: str, context: ReadonlyContext) -> str:
    key = name.strip().removesuffix("?")
    optional = name.strip().endswith("?")
    if key.startswith(_ARTIFACT):
        text = await _artifact_text(key.removeprefix(_ARTIFACT), context)
    elif _SCOPED_NAME.fullmatch(key):
        text = _state_text(key, context.state)
    else:
        return braces
    if text is None and not optional:
        what = f"artifact {key.removeprefix(_ARTIFACT)!r}" if key.startswith(_ARTIFACT) else f"state key {key!r}"
        raise MissingStateKeyError(
            f"Context variable not found: `{key}`. The instruction of agent {context.agent_name!r} needs the {what}, which does not"
            f" exist. Set it first, or write {{{key}?}} if it may be missing. The instruction: {_shortened(template)}"
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
        raise MissingStateKeyError(f"An instruction refers to the artifact {filename!r}, but the Runner has no artifact service.")
    session = invocation.session
    part = await invocation.artifact_service.load_artifact(
        app_name=session.app_name, user_id=session.user_id, session_id=session.id, filename=filename
    )
    return None if part is None else part.text if part.text is not None else str(part)


def _shortened(template: str) -> str:
    return template if len(template) <= 200 else template[:199] + "…"
