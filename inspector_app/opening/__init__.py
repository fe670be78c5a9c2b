"""Opening agents and databases: the start page, the trust question, problems."""
