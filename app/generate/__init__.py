"""The Generate tab: several models continue one prompt."""
