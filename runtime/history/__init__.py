"""A session's history: state at any event, invocations and their checkpoints. The only fold over events is here."""
