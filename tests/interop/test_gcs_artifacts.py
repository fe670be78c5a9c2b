"""Both runtimes read and write the same bucket, also at once."""

from __future__ import annotations

import asyncio
import site
from typing import Any

import pytest
from google.genai import types

from runtime.support.worker_threads import run_in_thread
from tests.gcs import BUCKET, failing_in_front_of, storage_server, used_by_clients
from tests.interop.google_adk import run_adk

pytest.importorskip("google.cloud.storage")

from runtime.artifacts import GcsArtifactService  # after the check

NAMES = {"app_name": "a", "user_id": "u", "session_id": "s"}
# The environment of the tests lends the client of Cloud Storage; all that google-adk's environment has comes first.
LENT = """
import sys
sys.path.append(args[0])
import google
google.__path__.append(args[0] + "/google")
from google.adk.artifacts import GcsArtifactService
service = GcsArtifactService("artifacts")
names = {"app_name": "a", "user_id": "u", "session_id": "s"}
"""
READ = """
found = {}
for name in await service.list_artifact_keys(**names):
    versions = await service.list_artifact_versions(**names, filename=name)
    parts = [await service.load_artifact(**names, filename=name, version=one.version) for one in versions]
    found[name] = [[part and part.model_dump(mode="json", exclude_none=True), one.custom_metadata, one.mime_type, one.canonical_uri]
                   for part, one in zip(parts, versions)]
"""
PARTS = {
    "a.txt": types.Part(text="ä"),
    "dir/p.png": types.Part(inline_data=types.Blob(data=b"\x00\xff", mime_type="image/png", display_name="p")),
    "plain.bin": types.Part(inline_data=types.Blob(data=b"x", mime_type="application/octet-stream")),
    "user:card": types.Part(text="c"),
    "link": types.Part(file_data=types.FileData(file_uri="gs://elsewhere/x.png", mime_type="image/png")),
}


def lent() -> str:
    return site.getsitepackages()[0]


async def ours(service: GcsArtifactService) -> dict[str, Any]:
    found = {}
    for name in await service.list_artifact_keys(**NAMES):
        versions = await service.list_artifact_versions(**NAMES, filename=name)
        parts = [await service.load_artifact(**NAMES, filename=name, version=one.version) for one in versions]
        shown = [part and part.model_dump(mode="json", exclude_none=True) for part in parts]
        found[name] = [[part, one.custom_metadata, one.mime_type, one.canonical_uri] for part, one in zip(shown, versions, strict=True)]
    return found


async def test_each_reads_what_the_other_saved() -> None:
    with storage_server() as address, used_by_clients(address):
        service = GcsArtifactService(BUCKET)
        for name, part in PARTS.items():
            await service.save_artifact(**NAMES, filename=name, artifact=part, custom_metadata={"by": "us", "n": 1})
        theirs = await run_in_thread(run_adk, LENT + READ + "return found", lent())
        assert theirs == await ours(service)
        assert sorted(theirs) == sorted(PARTS)
        code = (
            LENT
            + "for name in await service.list_artifact_keys(**names):\n"
            + "    part = await service.load_artifact(**names, filename=name)\n"
            + "    await service.save_artifact(**names, filename=name, artifact=part, custom_metadata={'by': 'them'})\n"
            + "await service.delete_artifact(**names, filename='plain.bin')\n"
            + READ
            + "return found"
        )
        theirs = await run_in_thread(run_adk, code, lent())
        found = await ours(service)
        assert theirs == found
        assert {name: [metadata for _, metadata, *_ in versions] for name, versions in found.items()} == {
            name: [{"by": "us", "n": "1"}, {"by": "them"}] for name in PARTS if name != "plain.bin"
        }
        for name in found:
            assert await service.load_artifact(**NAMES, filename=name) == PARTS[name]


async def test_both_save_at_once_and_no_version_is_lost() -> None:
    save = "return [await service.save_artifact(**names, filename='log', artifact=types.Part(text=f'theirs {n}')) for n in range(15)]"
    # The emulator overwrites objects that must be new; the server in front of it refuses that, as Cloud Storage does.
    with storage_server() as behind, failing_in_front_of(behind, []) as address, used_by_clients(address):
        service = GcsArtifactService(BUCKET)
        running = asyncio.ensure_future(run_in_thread(run_adk, LENT + save, lent()))
        mine = []
        while not running.done() or len(mine) < 5:
            mine.append(await service.save_artifact(**NAMES, filename="log", artifact=types.Part(text=f"ours {len(mine)}")))
        theirs = await running
        assert sorted([*mine, *theirs]) == list(range(len(mine) + 15))
        for number, version in enumerate(mine):
            assert await service.load_artifact(**NAMES, filename="log", version=version) == types.Part(text=f"ours {number}")
