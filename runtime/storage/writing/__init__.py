"""Session services that store in a database, and copying, converting and deleting of sessions."""
