"""Planted secrets of many shapes: none is written, and what is no secret stays readable."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.recorder import load_recorder

redacted = load_recorder().redacted
WORD = string.ascii_letters + string.digits


def secret(chance: random.Random, length: int, letters: str = WORD) -> str:
    return "".join(chance.choice(letters) for _ in range(length - 2)) + "7x"


SHAPES: list[Callable[[random.Random], str]] = [
    lambda chance: "sk-" + secret(chance, 48),
    lambda chance: "sk-proj-" + secret(chance, 60, WORD + "_-"),
    lambda chance: "sk-ant-api03-" + secret(chance, 80, WORD + "_-"),
    lambda chance: "sk-or-v1-" + secret(chance, 64, "0123456789abcdef"),
    lambda chance: "sk_live_" + secret(chance, 24),
    lambda chance: "rk_test_" + secret(chance, 24),
    lambda chance: "AIza" + secret(chance, 35, WORD + "_-"),
    lambda chance: "ya29." + secret(chance, 60, WORD + "_-"),
    lambda chance: "1//0" + secret(chance, 40, WORD + "_-"),
    lambda chance: "GOCSPX-" + secret(chance, 28, WORD + "_-"),
    lambda chance: "ghp_" + secret(chance, 36),
    lambda chance: "github_pat_" + secret(chance, 50, WORD + "_"),
    lambda chance: "glpat-" + secret(chance, 20, WORD + "_-"),
    lambda chance: "xoxb-" + secret(chance, 40, WORD + "-"),
    lambda chance: "AKIA" + secret(chance, 18, string.ascii_uppercase + string.digits).upper(),
    lambda chance: "hf_" + secret(chance, 34),
    lambda chance: "npm_" + secret(chance, 36),
    lambda chance: "pypi-" + secret(chance, 60, WORD + "_-"),
    lambda chance: "SG." + secret(chance, 22, WORD + "_-") + "." + secret(chance, 43, WORD + "_-"),
    lambda chance: "gsk_" + secret(chance, 50),
    lambda chance: "eyJ" + secret(chance, 30) + ".eyJ" + secret(chance, 60) + "." + secret(chance, 43, WORD + "_-"),
    lambda chance: f"-----BEGIN RSA PRIVATE KEY-----\n{secret(chance, 300)}\n-----END RSA PRIVATE KEY-----",
]
"""Recognised wherever they are."""

NAMES = [
    "password", "passwd", "PASSWORD", "db_password", "userPassword", "passphrase", "pwd", "secret", "client_secret", "clientSecret",
    "api_key", "apiKey", "API-KEY", "x-api-key", "OPENAI_API_KEY", "GOOGLE_API_KEY", "access_token", "accessToken", "refresh_token",
    "id_token", "token", "auth_token", "bearer_token", "Authorization", "Proxy-Authorization", "cookie", "Set-Cookie", "private_key",
    "aws_secret_access_key", "session_key", "credential", "credentials", "otp", "pin", "connection_string", "signature",
]  # fmt: skip
"""Names of fields that hold a secret of no shape of its own."""


def shaped() -> Iterator[tuple[str, Any]]:
    """Return secrets with a shape, in places without a name: (secret, value that holds it)."""
    for number, shape in enumerate(SHAPES):
        made = [shape(random.Random(f"{number} {place}")) for place in range(5)]
        yield made[0], made[0]
        yield made[1], {"parts": [{"text": f"use {made[1]} for this, please"}]}
        yield made[2], [{"response": {"output": f"curl -H 'X-Key: {made[2]}' https://example.com"}}]
        yield made[3], {made[3]: "as a key"}
        yield made[4], json.dumps({"nested": {"json": made[4]}})


def named() -> Iterator[tuple[str, Any]]:
    """Return secrets without a shape, in places that say what they are."""
    for number, name in enumerate(NAMES):
        made = ["horse" + secret(random.Random(f"{number} {place}"), 9) for place in range(5)]
        yield made[0], {"args": {name: made[0]}}
        yield made[1], {name: {"value": made[1], "kept": True}}
        yield made[2], {name: [made[2]]}
        yield made[3], f"set {name}={made[3]} and go"
        yield made[4], json.dumps({"body": json.dumps({name: made[4]})})


def elsewhere() -> Iterator[tuple[str, Any]]:
    """Return secrets in addresses, headers and sentences."""
    chance = random.Random(5)
    for template in (
        "postgresql://app:{}@db.example.com/main",
        "https://me:{}@example.com/path?x=1",
        "redis://:{}@localhost:6379/0",
        "https://example.com/search?q=cats&api_key={}&page=2",
        "https://example.com/?access_token={}",
        "Authorization: Bearer {}",
        "authorization: Basic {}=",
        "-H 'Authorization: token {}'",
        "my password is {}.",
        "The API key is `{}`",
        "password => '{}'",
        'password: "{}"',
        "export SECRET_KEY='{}'",
    ):
        made = base64.b64encode(secret(chance, 12).encode()).decode().rstrip("=")
        yield made, {"text": template.format(made)}


CASES = [*shaped(), *named(), *elsewhere()]


def test_there_are_many() -> None:
    assert len(CASES) >= 200


@pytest.mark.parametrize(("planted", "value"), CASES, ids=[f"{number}" for number in range(len(CASES))])
def test_a_planted_secret_is_replaced(planted: str, value: Any) -> None:
    clean = json.dumps(redacted(value), ensure_ascii=False)
    assert planted not in clean and json.dumps(planted)[1:-1] not in clean
    assert planted[-20:].strip("-. ") not in clean or planted.startswith("-----")


@pytest.mark.parametrize(("planted", "value"), CASES, ids=[f"{number}" for number in range(len(CASES))])
def test_a_planted_secret_is_replaced_in_json_inside_a_text(planted: str, value: Any) -> None:
    clean = redacted(f"I called it with {json.dumps(value)} and got an error")
    assert planted not in clean and json.dumps(planted)[1:-1] not in clean


@pytest.mark.parametrize(
    "value",
    [
        {"prompt_token_count": 21, "total_token_count": 28, "max_output_tokens": 100, "tokens": 5, "next_page_token": "abcdefgh"},
        {"name": "login", "parameters": {"properties": {"password": {"type": "STRING", "description": "the user's"}}}},
        {"passenger": "Ada Lovelace", "passed": True, "pinned": "yes", "signatures_needed": 2, "secretary": "Grace", "tokenizer": "bpe"},
        {"text": "The token is expired. Max tokens: 4096. A password is required; the secret of cooking is salt."},
        {"text": "https://example.com/a/b?page=2&sort=name and user@example.com at 10:30"},
        {"password": "", "api_key": None, "token": False},
        {"inline_data": {"mime_type": "image/png", "data": "AIza" + "A" * 60}},
        'It said {"ok":  true,"token_count": 5} about the token.',
        "Tokenize the pass-through in keyboard mode: monkey see.",
    ],
    ids=["token counts", "schema", "similar names", "sentences", "addresses", "empty", "picture", "json", "words"],
)
def test_what_is_no_secret_stays(value: Any) -> None:
    assert redacted(value) == value


@pytest.mark.parametrize(
    "piece",
    [
        "1_",
        "a.",
        "token_",
        "sk-",
        "pass ",
        "-----BEGIN PRIVATE KEY-----",
        "eyJ.",
        "x://",
        "a:",
        "is 7",
        "=",
        "\\",
        '{"token": ',
        '{"token": 1}',
    ],
)
def test_redaction_takes_linear_time(piece: str) -> None:
    """With quadratic time, this test would not end before its time limit."""
    redacted({"text": piece * 50_000})
    redacted({"text": f"token{piece * 50_000}"})
