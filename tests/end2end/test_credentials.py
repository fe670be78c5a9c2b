"""Credentials that people gave are hidden in outputs and left out of copies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main
from inspector_app.presentation.event_summary import describe
from inspector_app.presentation.strict_json import event_json
from inspector_app.server import json_shapes
from runtime.compare.comparison import compare
from runtime.compare.event_differences import differences_of
from runtime.events.credentials import HIDDEN, json_without_credentials, without_credentials
from runtime.events.event import Event
from runtime.events.marks import CREDENTIAL_CALL
from runtime.events.plain_event import plain_event
from runtime.sessions.session import SessionKey
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase

SECRET = "S3cretMarker"
KEY = SessionKey("app", "user", "s")


def answer(response: dict[str, Any], name: str = CREDENTIAL_CALL) -> Event:
    part = {"function_response": {"id": "c", "name": name, "response": response}}
    return Event.model_validate({"author": "user", "id": "answer", "invocation_id": "e-1", "content": {"role": "user", "parts": [part]}})


def config(credential: dict[str, Any]) -> dict[str, Any]:
    return {"authScheme": {"type": "apiKey", "in": "header", "name": "X"}, "credentialKey": "k", "exchangedAuthCredential": credential}


ANSWERS = {
    "an API key": answer(config({"authType": "apiKey", "apiKey": SECRET})),
    "a password": answer(config({"authType": "http", "http": {"scheme": "basic", "credentials": {"username": "u", "password": SECRET}}})),
    "tokens": answer(config({"authType": "oauth2", "oauth2": {"accessToken": SECRET, "refresh_token": SECRET, "idToken": SECRET}})),
    "a code": answer(config({"authType": "oauth2", "oauth2": {"authResponseUri": f"https://x/?code={SECRET}", "authCode": SECRET}})),
    "a service account": answer(config({"authType": "serviceAccount", "serviceAccount": {"private_key": SECRET}})),
    "another form": answer({"result": SECRET}),
    "a nested form": answer({"a": [{"b": SECRET}]}),
    "an answer to a tool": answer({"api_key": SECRET, "user": "ana"}, name="ask_for_key"),
    "an answer with other spelling": answer({"Access-Token": SECRET}, name="ask_for_key"),
}


@pytest.mark.rule("I9")
@pytest.mark.parametrize("event", ANSWERS.values(), ids=ANSWERS)
def test_a_secret_is_in_no_output(event: Event) -> None:
    assert SECRET in event.model_dump_json(), "the stored event keeps it: a resumed run needs it"
    assert SECRET not in event_json(event)
    assert SECRET not in describe(event).summary
    plain = plain_event(event.model_dump(mode="json", exclude_none=True))
    assert plain is not None
    assert SECRET not in event_json(plain)
    assert SECRET not in describe(plain).summary
    assert HIDDEN in event_json(plain)
    assert SECRET not in json.dumps(json_shapes.event_json(event))
    compared = compare([event], [ANSWERS["an API key"].model_copy(update={"id": "other"})])
    assert SECRET not in str([differences_of(event, None, compared.call_ids), differences_of(event, answer({}), compared.call_ids)])
    assert SECRET in event.model_dump_json(), "the event itself is not changed"


@pytest.mark.parametrize("event", ANSWERS.values(), ids=ANSWERS)
def test_a_copy_has_no_trace_of_it(event: Event) -> None:
    copied = without_credentials(event, shown=None).model_dump_json(exclude_none=True)
    assert SECRET not in copied
    assert HIDDEN not in copied
    for dumped in (event.model_dump(mode="json", exclude_none=True), event.model_dump(mode="json", exclude_none=True, by_alias=True)):
        assert SECRET not in json.dumps(json_without_credentials(dumped))


def test_the_rest_of_an_answer_is_displayed() -> None:
    shown = json.loads(event_json(ANSWERS["an answer to a tool"]))["content"]["parts"][0]["function_response"]["response"]
    assert shown == {"api_key": HIDDEN, "user": "ana"}


def test_a_tools_own_result_is_displayed_as_it_is() -> None:
    event = answer({"token": SECRET}, name="count_tokens").model_copy(update={"author": "agent"})
    assert without_credentials(event) is event


def test_the_clients_secret_in_a_request_is_hidden() -> None:
    args = {"functionCallId": "c", "authConfig": {"rawAuthCredential": {"oauth2": {"clientId": "id", "clientSecret": SECRET}}}}
    part = {"function_call": {"id": "c", "name": CREDENTIAL_CALL, "args": args}}
    actions = {"requested_auth_configs": {"c": args["authConfig"]}}
    event = Event.model_validate({"author": "agent", "content": {"role": "user", "parts": [part]}, "actions": actions})
    assert SECRET not in event_json(event)
    assert '"clientId":"id"' in event_json(event)


@pytest.fixture
async def database(tmp_path: Path) -> str:
    path = str(tmp_path / "sessions.db")
    async with open_session_service(path) as service:
        session = await service.create_session(**dict(zip(("app_name", "user_id", "session_id"), KEY, strict=True)))
        for number, event in enumerate(ANSWERS.values()):
            await service.append_event(session, event.model_copy(update={"id": f"answer-{number}"}))
    return path


def stored(path: str, session: str = "s") -> str:
    with StoredDatabase.open(path) as database:
        return "".join(event.model_dump_json() for event in database.events(KEY._replace(session_id=session)))


@pytest.mark.rule("I9")
@pytest.mark.parametrize(
    "command", [["events"], ["events", "--json"], ["compare", "--session", "s"], ["compare", "--session", "s", "--json"]]
)
def test_commands_print_no_secret(database: str, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    name, *more = command
    main([name, database, "--session", "s", *more])
    out, err = capsys.readouterr()
    assert out
    assert SECRET not in out + err


@pytest.mark.rule("I9")
@pytest.mark.parametrize("asked", [False, True])
def test_a_fork_and_a_conversion_have_credentials_only_if_asked(database: str, tmp_path: Path, asked: bool) -> None:
    option = ["--credentials"] if asked else []
    other, converted = str(tmp_path / "fork.db"), str(tmp_path / "converted.db")
    assert main(["fork", database, "--session", "s", "--new-session", "f", "--into", other, *option]) == 0
    assert main(["convert", database, converted, *option]) == 0
    for copy in (stored(other, "f"), stored(converted)):
        assert (SECRET in copy) == asked
    if not asked:
        assert SECRET.encode() not in Path(other).read_bytes() + Path(converted).read_bytes()
    assert SECRET in stored(database)
