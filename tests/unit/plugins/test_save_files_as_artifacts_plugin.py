"""Files in a user's message as artifacts."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.agents import BaseAgent
from runtime.agents.invocation_context import InvocationContext
from runtime.artifacts import InMemoryArtifactService
from runtime.contexts.context import Context
from runtime.plugins.save_files_as_artifacts_plugin import SaveFilesAsArtifactsPlugin
from runtime.sessions import InMemorySessionService, Session


class AtAnAddress(InMemoryArtifactService):
    """An artifact service whose files have an address, as those of a cloud service have; it refuses files named `bad`."""

    address = "gs://bucket/file"

    async def save_artifact(self, **arguments: Any) -> int:
        if arguments["filename"] == "bad":
            raise OSError("full")
        return await super().save_artifact(**arguments)

    async def get_artifact_version(self, **arguments: Any) -> Any:
        found = await super().get_artifact_version(**arguments)
        return found and found.model_copy(update={"canonical_uri": self.address})


def context(service: Any) -> InvocationContext:
    return InvocationContext(
        invocation_id="i",
        agent=BaseAgent(name="agent"),
        session=Session(id="s", app_name="app", user_id="u"),
        session_service=InMemorySessionService(),
        artifact_service=service,
    )


def upload(*names: str | None, data: bytes = b"data") -> types.Content:
    blobs = [types.Blob(data=data, mime_type="text/plain", display_name=name) for name in names]
    return types.Content(role="user", parts=[types.Part(text="Look."), *(types.Part(inline_data=blob) for blob in blobs)])


async def replaced(plugin: SaveFilesAsArtifactsPlugin, ctx: InvocationContext, message: types.Content) -> list[types.Part]:
    content = await plugin.on_user_message_callback(invocation_context=ctx, user_message=message)
    assert content is not None and content.parts is not None
    return content.parts


async def test_files_are_replaced_by_their_names_and_the_first_agent_records_them() -> None:
    plugin, ctx = SaveFilesAsArtifactsPlugin(), context(InMemoryArtifactService())
    parts = await replaced(plugin, ctx, upload("a.txt", None))

    assert [part.text for part in parts] == ["Look.", '[Uploaded Artifact: "a.txt"]', '[Uploaded Artifact: "artifact_i_2"]']
    first, second = Context(ctx), Context(ctx)
    for callback_context in (first, second):
        await plugin.before_agent_callback(agent=ctx.agent, callback_context=callback_context)
    assert first.actions.artifact_delta == {"a.txt": 0, "artifact_i_2": 0} and second.actions.artifact_delta == {}
    assert await first.load_artifact("a.txt") is not None


@pytest.mark.parametrize(("attach", "address", "has"), [(True, "gs://b/f", True), (True, "memory://f", False), (False, "gs://b/f", False)])
async def test_an_address_that_models_can_read_is_attached(attach: bool, address: str, has: bool) -> None:
    service = AtAnAddress()
    service.address = address
    parts = await replaced(SaveFilesAsArtifactsPlugin(attach_file_reference=attach), context(service), upload("a.txt"))
    assert [part.file_data and part.file_data.file_uri for part in parts[2:]] == ([address] if has else [])


@pytest.mark.logs("could not be saved", "no artifact service", "was not uploaded")
async def test_what_cannot_be_saved_stays() -> None:
    plugin = SaveFilesAsArtifactsPlugin()
    parts = await replaced(plugin, context(AtAnAddress()), upload("good", "bad"))
    assert parts[1].text == '[Uploaded Artifact: "good"]' and parts[-1].inline_data is not None

    message = upload("a.txt")
    assert await plugin.on_user_message_callback(invocation_context=context(None), user_message=message) is message
    too_large = await replaced(plugin, context(AtAnAddress()), upload("big", data=bytes(20 * 1024 * 1024 + 1)))
    assert "20 MB are the most" in (too_large[1].text or "")
    text = types.Content(role="user", parts=[types.Part(text="Hi.")])
    assert await plugin.on_user_message_callback(invocation_context=context(None), user_message=text) is None
