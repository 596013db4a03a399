"""How the page's events wait: settings that several tabs share."""

from typing import Any

# Writing and scoring share the cores: two visitors at a time, the others wait in line.
TURNS: dict[str, Any] = {"concurrency_id": "models", "concurrency_limit": 2}
# What takes no time and cannot fail does not wait in line.
QUICK: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "undocumented"}
# What may fail goes through the queue, whose errors the page shows in words, but waits for nobody.
CHECKED: dict[str, Any] = {"concurrency_limit": None, "show_progress": "hidden", "api_visibility": "undocumented"}
