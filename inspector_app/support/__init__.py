"""The event loop, tasks, worker threads, preferences."""
