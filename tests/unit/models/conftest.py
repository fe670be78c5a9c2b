"""What every test of models cleans up."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.chat_server import close_connections


@pytest.fixture(autouse=True)
async def closed_connections() -> AsyncIterator[None]:
    """Close the connections that litellm keeps."""
    yield
    await close_connections()
