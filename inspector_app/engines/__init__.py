"""What drives an agent."""
