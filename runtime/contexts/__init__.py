"""What callbacks, tools and instruction providers receive."""
