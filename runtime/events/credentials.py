"""Credentials that people gave to agents, in stored events.

An answer to a credential request is stored as google-adk stores it, because a resumed run needs it. Everything that displays, prints or
copies events replaces the secrets first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from runtime.events.marks import CREDENTIAL_CALL, with_kept_events
from runtime.events.plain_event import PlainEvent, plain_event

if TYPE_CHECKING:  # reading plain events loads neither
    from google.genai import types

    from runtime.events.event import Event

E = TypeVar("E", "Event", PlainEvent)

HIDDEN = "•••"  # what an output has in place of a secret

# google-adk's list, and `serviceAccount` as a whole.
SECRET_KEYS = frozenset(
    {
        "accessToken",
        "additionalHeaders",
        "apiKey",
        "authCode",
        "authResponseUri",
        "clientSecret",
        "codeVerifier",
        "idToken",
        "password",
        "privateKey",
        "privateKeyId",
        "refreshToken",
        "serviceAccount",
        "token",
    }
)


def without_credentials(event: E, *, shown: str | None = HIDDEN) -> E:
    """Return an event without the secrets that a person gave, and without those in requests for them.

    These are the answers to credential requests, and fields named like secrets (`SECRET_KEYS`) in a person's other answers, also in the
    events that it keeps of an inner run.

    Args:
        event: the event; it is not changed, and returned if it has no such secrets.
        shown: the text in place of a secret; None leaves the field out.
    """
    if isinstance(event, PlainEvent):
        data = event.model_dump()
        kept = json_without_credentials(data, shown=shown)
        if kept is data:
            return event
        found = plain_event(kept)
        return without_credentials(event.checked(), shown=shown) if found is None else found
    parts = (event.content.parts if event.content else None) or []
    cleaned = [_without_secrets(part, event.author, shown) for part in parts]
    configs = event.actions.requested_auth_configs
    if configs:
        dumped = {
            key: value.model_dump(mode="json", by_alias=True, exclude_none=True) if hasattr(value, "model_dump") else value
            for key, value in configs.items()
        }
        event = event.model_copy(update={"actions": event.actions.model_copy(update={"requested_auth_configs": hide(dumped, shown)})})
    metadata = with_kept_events(event.custom_metadata, lambda row: json_without_credentials(row, shown=shown))
    if metadata is not event.custom_metadata:
        event = event.model_copy(update={"custom_metadata": metadata})
    if all(new is old for new, old in zip(cleaned, parts, strict=True)):
        return event
    assert event.content is not None
    return event.model_copy(update={"content": event.content.model_copy(update={"parts": cleaned})})


def hide(value: Any, shown: str | None = HIDDEN) -> Any:
    """Return JSON data with the values of secret fields replaced, or left out."""
    if isinstance(value, dict):
        items = ((key, shown if item and _camel(str(key)) in SECRET_KEYS else hide(item, shown)) for key, item in value.items())
        return {key: item for key, item in items if item is not None or value[key] is None}
    return [hide(item, shown) for item in value] if isinstance(value, list) else value


def _without_secrets(part: types.Part, author: str, shown: str | None) -> types.Part:
    call, response = part.function_call, part.function_response
    if call is not None and call.name == CREDENTIAL_CALL:
        args = hide(call.args, shown)
        return part if args == call.args else part.model_copy(update={"function_call": call.model_copy(update={"args": args})})
    if response is None or not (response.name == CREDENTIAL_CALL or author == "user"):
        return part
    if response.name == CREDENTIAL_CALL and not _is_auth_config(response.response):
        answer = _all_hidden(response.response, shown)
    else:
        answer = hide(response.response, shown)
    return (
        part
        if answer == response.response
        else part.model_copy(update={"function_response": response.model_copy(update={"response": answer})})
    )


def _is_auth_config(answer: Any) -> bool:
    return isinstance(answer, dict) and ("authScheme" in answer or "auth_scheme" in answer)


def _all_hidden(value: Any, shown: str | None) -> Any:
    """Hide every value: an answer in another form than google-adk's may have the secret anywhere."""
    if isinstance(value, dict):
        return {key: _all_hidden(item, shown) for key, item in value.items()} if shown is not None else {}
    if isinstance(value, list):
        return [_all_hidden(item, shown) for item in value] if shown is not None else []
    return value if value is None else shown


def _camel(key: str) -> str:
    first, *rest = key.replace("-", "_").split("_")
    return first[:1].lower() + first[1:] + "".join(word.capitalize() for word in rest)


def json_without_credentials(data: dict[str, Any], *, shown: str | None = None) -> dict[str, Any]:
    """Return an event's stored JSON object without the secrets, as `without_credentials` does with an event; `data` is not changed."""
    actions = data.get("actions")
    if isinstance(actions, dict):
        configs = {name: hide(actions[name], shown) for name in ("requested_auth_configs", "requestedAuthConfigs") if actions.get(name)}
        if any(actions[name] != hidden for name, hidden in configs.items()):
            data = {**data, "actions": {**actions, **configs}}
    for name in ("custom_metadata", "customMetadata"):
        metadata = with_kept_events(data.get(name), lambda row: json_without_credentials(row, shown=shown))
        if metadata is not data.get(name):
            data = {**data, name: metadata}
    content, author = data.get("content"), data.get("author")
    if not isinstance(content, dict):
        return data
    parts = content.get("parts")
    if not isinstance(parts, list) or not any(_may_have_secrets(part, author) for part in parts):
        return data
    cleaned = [_json_part(part, author, shown) if _may_have_secrets(part, author) else part for part in parts]
    return {**data, "content": {**content, "parts": cleaned}}


def _may_have_secrets(part: Any, author: Any) -> bool:
    if not isinstance(part, dict):
        return False
    called = [part.get(name) for name in ("function_call", "functionCall", "function_response", "functionResponse")]
    return any(isinstance(one, dict) and (one.get("name") == CREDENTIAL_CALL or author == "user") for one in called)


def _json_part(part: dict[str, Any], author: Any, shown: str | None) -> dict[str, Any]:
    cleaned = dict(part)
    for name in ("function_call", "functionCall", "function_response", "functionResponse"):
        one = part.get(name)
        if not isinstance(one, dict):
            continue
        inner = "args" if name.startswith(("function_call", "functionCall")) else "response"
        whole = one.get("name") == CREDENTIAL_CALL and inner == "response" and not _is_auth_config(one.get(inner))
        if inner in one and (one.get("name") == CREDENTIAL_CALL or (inner == "response" and author == "user")):
            cleaned[name] = {**one, inner: _all_hidden(one[inner], shown) if whole else hide(one[inner], shown)}
    return cleaned
