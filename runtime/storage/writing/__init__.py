"""Session services that store in a database; copying, converting and deleting sessions."""
