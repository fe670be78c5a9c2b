"""google-adk's endpoints by topic. Each class adds its routes to a router."""
