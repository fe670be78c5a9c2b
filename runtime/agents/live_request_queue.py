"""google-adk's import path of `LiveRequestQueue`."""

from runtime.contexts.live_request_queue import LiveRequest, LiveRequestQueue

__all__ = ["LiveRequest", "LiveRequestQueue"]
