"""Queue settings of the page's events, shared by several tabs."""

from typing import Any

# Writing and scoring share the cores: two visitors at a time, the others wait in the queue.
TURNS: dict[str, Any] = {"concurrency_id": "models", "concurrency_limit": 2}
# Events of the page itself. Other programs may call them, but the documented endpoints are those that the tabs' files
# `api.py` add: they take and return plain data.
ON_PAGE: dict[str, Any] = {"api_visibility": "undocumented"}
# Drawing again when something was chosen: while one drawing is under way, only the last choice waits.
REDRAW: dict[str, Any] = {"trigger_mode": "always_last", **ON_PAGE}
# Events that take no time and cannot fail bypass the queue.
QUICK: dict[str, Any] = {"queue": False, "show_progress": "hidden", **ON_PAGE}
# Events that may fail go through the queue, so that the page shows their errors, but without a limit on how many run.
CHECKED: dict[str, Any] = {"concurrency_limit": None, "show_progress": "hidden", **ON_PAGE}
