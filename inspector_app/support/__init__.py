"""The event loop, tasks, worker threads, settings."""
