"""Where an engine's events differ from those that google-adk yields alone. A difference that no longer exists fails the test."""

from __future__ import annotations

from dataclasses import dataclass

EMBEDDED = ("embedded",)


@dataclass(frozen=True)
class Difference:
    """Something in events that is not compared.

    Attributes:
        agent: the agent of `twelve`.
        engines: the engines that differ.
        path: what is not compared: keys of the event's JSON, separated by dots; `*` is any key or index. `order`: the order of the events.
        reason: why it differs.
    """

    agent: str
    engines: tuple[str, ...]
    path: str
    reason: str


_EARLY = "A tool's result is committed before the request to a person, so that a crash between the two loses no result."
_SECRETS = "The embedded runtime stores no client secret, and leaves it to the app to make the address of a login."

DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "cleaner", EMBEDDED, "content.role", "The request for a confirmation is the model's, as in google-adk 2; in 1.x it is the user's."
    ),
    Difference("mailer", EMBEDDED, "order", _EARLY),
    Difference("mailer", EMBEDDED, "actions.requested_auth_configs", _SECRETS),
    Difference("mailer", EMBEDDED, "content.parts.*.function_call.args.authConfig", _SECRETS),
    Difference("desk", EMBEDDED, "actions", "The event of a call of transfer_to_agent names the agent, too: docs/specification.md, E8."),
)
