"""The Dynamics tab: what weights do to the stream along depth, and what that does to a text."""
