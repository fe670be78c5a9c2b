"""The selected event: content, files, model request, JSON, the timeline of its invocation."""
