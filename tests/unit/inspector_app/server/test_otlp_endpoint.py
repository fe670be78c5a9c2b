"""The local endpoint for traces."""

from __future__ import annotations

import gzip
import http.client
import json
import queue
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from inspector_app.server.otlp_endpoint import OtlpAddressError, OtlpEndpoint, parsed_address
from inspector_app.support.otlp import OtlpSpan

LINE = (Path(__file__).parents[3] / "data" / "otlp" / "traces.jsonl").read_bytes().splitlines()[0]
Endpoint = tuple[OtlpEndpoint, "queue.Queue[list[OtlpSpan]]"]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    arrived: queue.Queue[list[OtlpSpan]] = queue.Queue()
    made = OtlpEndpoint("127.0.0.1", 0)
    made.start(arrived.put)
    yield made, arrived
    made.close()


def post(endpoint: OtlpEndpoint, body: bytes, path: str = "/v1/traces", **headers: str) -> tuple[int, bytes]:
    address = urlsplit(endpoint.url)
    assert address.hostname and address.port
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request("POST", path, body, sent)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_spans_arrive_plain_and_compressed(endpoint: Endpoint) -> None:
    receiver, arrived = endpoint
    assert post(receiver, LINE) == (200, b"{}")
    assert post(receiver, gzip.compress(LINE), Content_Encoding="gzip") == (200, b"{}")
    assert [arrived.get(timeout=10)[0].name for _ in range(2)] == ["execute_tool price"] * 2


def test_protobuf_is_read_or_its_package_is_named(endpoint: Endpoint) -> None:
    status, body = post(endpoint[0], b"", Content_Type="application/x-protobuf")
    try:
        import opentelemetry.proto  # noqa: F401
    except ImportError:
        assert status == 400 and b"agent-inspector[otlp]" in body
    else:
        assert (status, body) == (200, b"")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 401),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Encoding": "br"}, 415),
        ({"Content_Encoding": "gzip"}, 400),
    ],
)
def test_what_a_page_or_a_wrong_exporter_sends_is_refused(endpoint: Endpoint, headers: dict[str, str], status: int) -> None:
    receiver, arrived = endpoint
    found, body = post(receiver, LINE, **headers)
    assert found == status and json.loads(body)
    assert arrived.empty()


def test_too_much_is_refused(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("body_bytes", "otlp_endpoint"):
        monkeypatch.setattr(f"inspector_app.server.{module}.LONGEST_BODY", 2_000)
    assert post(endpoint[0], b" " * 3_000)[0] == 413
    assert post(endpoint[0], gzip.compress(b" " * 3_000), Content_Encoding="gzip")[0] == 413
    assert post(endpoint[0], b"{}")[0] == 400
    assert post(endpoint[0], LINE, path="/other")[0] == 404


def test_only_addresses_of_this_machine_are_taken(endpoint: Endpoint) -> None:
    assert parsed_address("127.0.0.1:4318") == ("127.0.0.1", 4318)
    assert parsed_address("[::1]:0") == ("::1", 0)
    for wrong in ("0.0.0.0:4318", "example.com:4318", "4318", "127.0.0.1:", "127.0.0.1:99999", "missing.jsonl"):
        with pytest.raises(OtlpAddressError):
            parsed_address(wrong)
    taken = urlsplit(endpoint[0].url).port
    assert taken is not None
    with pytest.raises(OtlpAddressError, match=f"Port {taken} cannot be used"):
        OtlpEndpoint("127.0.0.1", taken)
