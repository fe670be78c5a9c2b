"""Settings of Gemini's context cache."""

from __future__ import annotations

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field


class ContextCacheConfig(BaseModel):
    """When requests are cached by Gemini. The embedded runtime sends every request whole: only the google-adk engine caches.

    Attributes:
        cache_intervals: number of invocations that use a cache before it is made again.
        ttl_seconds: life of a cache, in seconds.
        min_tokens: size of the preceding request, in tokens, from which on requests are cached.
        create_http_options: options of the call that makes the cache.
    """

    model_config = ConfigDict(extra="forbid")

    cache_intervals: int = Field(default=10, ge=1, le=100)
    ttl_seconds: int = Field(default=1800, gt=0)
    min_tokens: int = Field(default=0, ge=0)
    create_http_options: types.HttpOptions | None = None

    @property
    def ttl_string(self) -> str:
        """The life of a cache as Gemini's API writes it, such as `1800s`."""
        return f"{self.ttl_seconds}s"

    def __str__(self) -> str:
        """Return the settings as one line for logs."""
        return (
            f"ContextCacheConfig(cache_intervals={self.cache_intervals}, ttl={self.ttl_string}, min_tokens={self.min_tokens},"
            f" create_http_options={self.create_http_options})"
        )
