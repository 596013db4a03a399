"""Launch the page."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Gradio and the Hub client read these when they are imported.
QUIET = {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    # Of these, which nobody looks at, Gradio keeps 10,000.
    "GRADIO_ANALYTICS_MAX_EVENTS": "100",
}

# Set to 1, it lends the Hub login of this machine to every visitor.
HUB_LOGIN = "TIPSHARE_PAGE_HUB_LOGIN"


def is_space(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this runs as a Space on the Hub, open to everyone."""
    return "SPACE_ID" in environment


def lends_login(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether visitors may fetch what the Hub login of this machine can read: only if the operator says so."""
    return environment.get(HUB_LOGIN, "") == "1"


def launch_settings() -> dict[str, Any]:
    """Arguments of `launch`: no outside requests, and reachable from this machine only unless it is a Space."""
    from gradio.utils import get_upload_folder
    from starlette.middleware import Middleware

    from app.document import PICTURE_ROUTE, OwnHead
    from app.door import LARGEST_BODY, Door, fetch_nothing
    from app.leaving import EndWithReader
    from app.page import tab_names
    from app.style import css, script, theme

    fetch_nothing()
    door, head = Middleware(Door, folder=Path(get_upload_folder())), Middleware(OwnHead, tabs=tab_names())
    return {
        "app_kwargs": {"middleware": [door, head, Middleware(EndWithReader)], "routes": [PICTURE_ROUTE]},
        "max_file_size": LARGEST_BODY,
        # What components hold, all that is drawn with it, is kept for so many visitors.
        "state_session_capacity": 100,
        "run_history": False,
        "enable_monitoring": False,
        "server_name": "0.0.0.0" if is_space() else "127.0.0.1",
        "theme": theme(),
        "css": css(),
        "head": script(),
        "ssr_mode": False,
        "share": False,
        "footer_links": ["api", "settings"],
        "show_error": False,
        "quiet": True,
    }


def say(text: str) -> None:
    """Print a line on the server's terminal."""
    print(text, flush=True)


def serve() -> None:
    """Build the page, serve it, warm up in the background, and run until interrupted."""
    began = time.perf_counter()
    os.environ.update({name: value for name, value in QUIET.items() if name not in os.environ})
    from app.generate.active_runs import Runs
    from app.page import build_demo
    from app.shelf import ModelShelf
    from app.warm_up import warm_up_in_background
    from tipshare.compilation import use_compilation_cache

    use_compilation_cache()
    shelf = ModelShelf(use_login=lends_login())
    runs = Runs()
    demo = build_demo(shelf, runs)
    # Without the last argument Gradio gives up on a busy machine, where its own page takes over 3 s to answer it.
    _, address, _ = demo.launch(prevent_thread_lock=True, **launch_settings(), _frontend=False)
    say(f"tipshare is at {address} after {time.perf_counter() - began:.1f} s")
    warm_up_in_background(shelf, say, runs.measured)
    try:
        demo.block_thread()
    except KeyboardInterrupt:
        sys.exit(0)
