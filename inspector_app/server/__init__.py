"""The HTTP server of `agent-inspector api_server`: google-adk's endpoints for a folder of agents."""
