"""The past of a session: its state at any event, its invocations and their checkpoints. The only fold over events."""
