"""The state and the delta at an event: manual edits, pins, writers of a key."""
