"""google-adk's import path of `RunConfig` and `StreamingMode`."""

from runtime.contexts.run_config import RunConfig, StreamingMode

__all__ = ["RunConfig", "StreamingMode"]
