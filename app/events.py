"""How the page's events wait: settings that several tabs share."""

from typing import Any

# Writing and scoring share the cores: two visitors at a time, the others wait in line.
TURNS: dict[str, Any] = {"concurrency_id": "models", "concurrency_limit": 2}
# Events that only fill the page. They can be called like all others, but what other programs and language models are
# offered is `/write`, `/score`, `/models` and `/load_model`.
ON_PAGE: dict[str, Any] = {"api_visibility": "undocumented"}
# What takes no time and cannot fail does not wait in line.
QUICK: dict[str, Any] = {"queue": False, "show_progress": "hidden", **ON_PAGE}
# What may fail goes through the queue, whose errors the page shows in words, but waits for nobody.
CHECKED: dict[str, Any] = {"concurrency_limit": None, "show_progress": "hidden", **ON_PAGE}
