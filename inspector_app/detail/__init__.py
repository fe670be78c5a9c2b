"""The selected event: content, files, model request, JSON."""
