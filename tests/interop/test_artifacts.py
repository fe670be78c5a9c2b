"""Both runtimes read and write the same artifact folders, also concurrently."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from google.genai import types

from runtime.artifacts import FileArtifactService
from runtime.support.worker_threads import run_in_thread
from tests.interop.google_adk import run_adk

NAMES = {"app_name": "a", "user_id": "u", "session_id": "s"}
READ = """
from google.adk.artifacts import FileArtifactService
service = FileArtifactService(root_dir=args[0])
names = {"app_name": "a", "user_id": "u", "session_id": "s"}
found = {}
for name in await service.list_artifact_keys(**names):
    versions = await service.list_artifact_versions(**names, filename=name)
    parts = [await service.load_artifact(**names, filename=name, version=one.version) for one in versions]
    found[name] = [[part and part.model_dump(mode="json", exclude_none=True), one.custom_metadata] for part, one in zip(parts, versions)]
return found
"""
SAVE = """
from google.adk.artifacts import FileArtifactService
service = FileArtifactService(root_dir=args[0])
names = {"app_name": "a", "user_id": "u", "session_id": "s"}
return [await service.save_artifact(**names, filename="log", artifact=types.Part(text=f"theirs {number}")) for number in range(20)]
"""


async def ours(folder: Path) -> dict[str, Any]:
    service = FileArtifactService(folder)
    found = {}
    for name in await service.list_artifact_keys(**NAMES):
        versions = await service.list_artifact_versions(**NAMES, filename=name)
        parts = [await service.load_artifact(**NAMES, filename=name, version=one.version) for one in versions]
        shown = [part and part.model_dump(mode="json", exclude_none=True) for part in parts]
        found[name] = [[part, one.custom_metadata] for part, one in zip(shown, versions, strict=True)]
    return found


async def test_google_adk_reads_what_we_saved(tmp_path: Path) -> None:
    service = FileArtifactService(tmp_path)
    picture = types.Part(inline_data=types.Blob(data=b"\x00\xff", mime_type="image/png", display_name="p"))
    for name, part in {
        "a.txt": types.Part(text="ä"),
        "user:x/y.png": picture,
        "doc": types.Part(text="1"),
        "doc/in": types.Part(text="2"),
    }.items():
        await service.save_artifact(**NAMES, filename=name, artifact=part, custom_metadata={"snake_key": 1})
    await service.save_artifact(**NAMES, filename="a.txt", artifact=types.Part(text="second"))
    assert run_adk(READ, str(tmp_path)) == await ours(tmp_path)


async def test_concurrent_saves_lose_nothing(tmp_path: Path) -> None:
    service = FileArtifactService(tmp_path)

    async def save() -> list[int]:
        return [await service.save_artifact(**NAMES, filename="log", artifact=types.Part(text=f"ours {number}")) for number in range(200)]

    async with asyncio.TaskGroup() as group:
        theirs = group.create_task(run_in_thread(run_adk, SAVE, str(tmp_path)))
        own = group.create_task(save())
    found = await ours(tmp_path)
    assert sorted(theirs.result() + own.result()) == await service.list_versions(**NAMES, filename="log")
    texts = [part["text"] for part, _ in found["log"]]
    assert sorted(texts) == sorted([f"ours {number}" for number in range(200)] + [f"theirs {number}" for number in range(20)])
    assert found == run_adk(READ, str(tmp_path))
