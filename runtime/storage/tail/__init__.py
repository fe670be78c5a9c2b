"""Follow what other processes commit to a database."""
