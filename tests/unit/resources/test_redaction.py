"""Planted secrets of many shapes: none is written, and what is no secret stays readable."""

from __future__ import annotations

import base64
import json
import random
import string
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.recorder import load_recorder
from tests.sweep import count

recorder = load_recorder()
redacted = recorder.redacted
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


def test_a_planted_secret_is_replaced() -> None:
    assert len(CASES) >= 200
    for planted, value in CASES:
        clean = json.dumps(redacted(value), ensure_ascii=False)
        assert planted not in clean and json.dumps(planted)[1:-1] not in clean, value
        assert planted[-20:].strip("-. ") not in clean or planted.startswith("-----"), value
        clean = redacted(f"I called it with {json.dumps(value)} and got an error")
        assert planted not in clean and json.dumps(planted)[1:-1] not in clean, value


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


HIDDEN_IN = [
    {"secretAccessKey": "{}"},
    {"Pass Word": "{}"},
    {"oauth2Token": "{}"},
    {"pass": "{}"},
    {"name": "Authorization", "value": "{}"},
    {"key": "api_key", "value": {"stringValue": "{}"}},
    [["Accept", "text/html"], ["Authorization", "{}"]],
    "Endpoint=sb://bus/;SharedAccessKeyName=Root;SharedAccessKey={}=;EntityPath=orders",
    "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={}==;EndpointSuffix=core",
    "https://files.example.com/a?sv=2020&sr=b&sig={}%3D",
    'the call {{"name": "Authorization", "value": "{}", which was cut',
    '<add key="Password" value="{}"/>',
    "<soap:Password Type='text'>{}</soap:Password>",
    "&lt;secretAccessKey&gt;{}&lt;/secretAccessKey&gt;",
    "<td>Password</td><td>{}</td>",
    "| Password | {} |",
    "Cookie: theme=dark; session={}",
    'Cookie: theme="a b"; session="{}"',
    "(b'cookie', b'theme=dark; session={}')",
    "(b'authorization', b'Bearer {}')",
    "Authorization: Shop {}{}",
    "redis://:{}@cache:6379/0",
    "postgresql://app:p@ss/{}@db.example.com/main",
    "amqp://app:12/{}@queue",
    "https://example.com/?next=https://me:{}@other.example.com/",
    "export SHOP_TOKEN={}",
    "password: |\n  {}",
    "password:\n    {}",
    'password: "correct horse {} battery"',
    "user%5Bpassword%5D={}&a=b",
    "%22password%22%3A%22{}%22",
    "\\u0022password\\u0022:\\u0022{}\\u0022",
    'headers["X-Api-Key"] = "{}"',
    'name="password"\r\n\r\n{}\r\n--end',
    "shop --api-key {} --verbose",
    "curl -u admin:{} https://example.com",
    "The API key: {}",
    "**Password:** {}",
    "session-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{}",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
]
"""One place of a secret for each rule."""


def placed(place: Any, secret: str) -> Any:
    """Return a place with a secret in it."""
    if isinstance(place, str):
        return place.replace("{}", secret).replace("{{", "{")
    if isinstance(place, list):
        return [placed(item, secret) for item in place]
    return {key: placed(item, secret) for key, item in place.items()}


secrets = st.text(WORD, min_size=11, max_size=40).map(lambda text: f"{text[:5]}k7{text[5:]}")


@pytest.mark.sweep
@settings(max_examples=count(300, 20_000), deadline=None)
@given(st.sampled_from(HIDDEN_IN), secrets, st.integers(0, 3))
def test_no_secret_survives_where_a_rule_hides_it(place: Any, secret: str, depth: int) -> None:
    value = placed(place, secret)
    for _ in range(depth):
        value = json.dumps({"answer": value})
    assert secret not in json.dumps(redacted(value)), value


@pytest.mark.sweep
@settings(max_examples=count(200, 20_000), deadline=None)
@given(st.sampled_from(["text/plain", "application/json; charset=utf-8", "application/problem+json"]), secrets, st.booleans())
def test_no_secret_survives_in_the_bytes_of_a_text(kind: str, secret: str, is_url_safe: bool) -> None:
    encoded = (base64.urlsafe_b64encode if is_url_safe else base64.b64encode)(f"é password: {secret}".encode()).decode()
    for name in ("mime_type", "mimeType"):
        clean = redacted({"inline_data": {name: kind, "data": encoded}})["inline_data"]["data"]
        assert base64.urlsafe_b64decode(clean).decode() == "é password: (redacted)"
        assert redacted({name: kind, "data": f"password: {secret}"})["data"] == "password: (redacted)"


@pytest.mark.sweep
@settings(max_examples=count(300, 20_000), deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_a_text_without_a_trigger_stays(text: str) -> None:
    assume(not any(hint.lower() in text.lower() for hint in (*recorder._WORD_HINTS, *recorder._SHAPE_HINTS, "://", "eyJ")))
    assert redacted({"note": text, "list": [text]}) == {"note": text, "list": [text]}


@pytest.mark.parametrize(
    "value",
    [
        {"host_signature": "J. Doe, 2024-03-01, Verified", "signature": "Verified"},
        {
            "host_signature": "J.Doe-2026-11-02",
            "digital_signature": "2026-11-02T10:00:00Z",
            "signature": "Signed by A. Ode, Verified: 2026-11-02",
        },
        {
            "guest_token": "A silver coin with an owl, dated 1890",
            "game_token": "top hat",
            "story_token": "She gave him a ring, as a token.",
        },
        {
            "game_tokens": ["top hat", "racing car"],
            "seat_token": {"label": "Jean-Luc O'Brien, row 12"},
            "user:reset_token": "It was mailed to you.",
        },
        {"plot_token": "Anna is the sister of the king, whom all like.", "family_signature": "The soup, the salt and the spoon."},
        {
            "doctor_signature": "M.D., Ph.D. (Harvard, 2004)",
            "cookie": "chocolate chip, two of them",
            "api_key": "not set",
            "token": "missing",
        },
        "Authorization: pending since 2026-11-01. Token: a coin with an owl, 1890.",
        {"reasoning_tokens": 50, "cachedTokens": 3, "totalTokenCount": 5, "eos_token": "</s>", "pageToken": "abc12345"},
        {"required": ["password", "email"]},
        {"name": "password", "type": "string"},
        {"pass": True, "fail": 2},
        "secretary: Jane1990. The password reset guide: step1. See the sig of the file.",
        "sig = inspect.signature(function); other(signature=inspect.signature(function))",
        'password=os.environ["DB_PASSWORD"], token: str, secret: Optional[str] = None, pin=${PIN}',
        "usage: total_tokens=1234567, max_token=12, output tokens: 12345",
        "https://example.com:8080/users/me@example.com, git@github.com:shop/shop.git and ssh://git@github.com/shop",
        "fields: 'password', 'email'; use <password> to log in</b>; <label>Password</label><input> and <th>Token</th><th>Name</th>",
        "Enter your password:\n\nWelcome to the shop. I like cookies: they are great, and a cookie: chocolate. --password is required",
        "keyword: python312, monkey: banana123, design: modern2024, shipping: express24h, cache_key=user12345678",
    ],
)
def test_innocent_texts_stay(value: Any) -> None:
    assert redacted(value) == value


@pytest.mark.parametrize(
    "value",
    [
        {"password": "correct horse battery staple"}, {"pin": "12 34"}, {"wallet_secret": "witch collapse practice feed shame open"},
        {"client_secret": "witch collapse practice feed shame open despair creek road again ice least"}, {"token": "123 456"},
        {"wallet_token": " ".join(["witch", "collapse", "practice", "feed"] * 3)},
        {"client_secret": "The first, and then another."},
        {"token": "Bearer dXNlcjpwYXNzd29yZA"}, {"cookie": "theme=dark; session=abcdefgh"}, {"token": "wxyz qrst bcdf hjkl"},
        {"signature": "2026-11-02:9f86d081884c7d65"}, {"password": "2026-11-02"}, {"token": "2026-11-02-a7Bc9d"},
        "password: correct horse battery", "token: aBcDeFgHiJkL was refused by it",
    ],
)  # fmt: skip
def test_words_that_may_be_a_secret_do_not_stay(value: Any) -> None:
    assert redacted(value) != value


GROWING = [
    "-eyJ", "eyJ.", "eyJaaaaaaaa.a", "a.", "1_", "token_", "sk-", "-AIza", "SG.", "-SG.aaaaaaaaaaaaaaaaaaa", "-----BEGIN A",
    "-----BEGIN PRIVATE KEY-----", "-----END ", "x://", "x://a:b@", "://@", "is 7", "=", "\\", "pass ", '{"token": ', '{"token": 1}', '{"',
    "{    ", "bearer ", "password=", "password='", "password=%22 ", "password: '\"", "password is a", "<password>", "<password ",
    "password</b> <b>", "--password ", 'cookie=a="', "Cookie: a=b;", "curl -u ", "token|", "token\t", "password\r\n", "expires",
    "max_token", "secret: a ", "ididid", "key: ", "auth=a",
]  # fmt: skip
"""Pieces of texts, each of which made a pattern begin again inside what another beginning had read."""


def seconds(text: str) -> float:
    """Return the processor time of a redaction, the least of three if it is short."""
    times: list[float] = []
    while len(times) < 3 and sum(times) < 0.5:
        begin = time.thread_time()
        redacted(text)
        times.append(time.thread_time() - begin)
    return min(times)


@pytest.mark.sweep
@pytest.mark.parametrize("piece", GROWING)
def test_redaction_takes_linear_time(piece: str) -> None:
    size = count(4_000, 1_000_000)
    for text in (piece * (4 * size // len(piece)), f"token: {piece * (4 * size // len(piece))}!"):
        assert seconds(text) < 10 * seconds(text[: len(text) // 4]) + 0.01, "four times the text takes more than linear time"
