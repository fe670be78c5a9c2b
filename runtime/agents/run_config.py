"""google-adk's import path of `RunConfig`, `StreamingMode` and `ToolThreadPoolConfig`."""

from runtime.contexts.run_config import RunConfig, StreamingMode, ToolThreadPoolConfig

__all__ = ["RunConfig", "StreamingMode", "ToolThreadPoolConfig"]
