"""The About tab: the idea, and how to use the project elsewhere."""
