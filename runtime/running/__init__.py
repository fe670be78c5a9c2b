"""Parts of the Runner: starting an invocation, resume and rewind plans, edits by the user."""
