"""The page as a whole: a header, and the tabs of one table."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from app.about.tab import build_about_tab
from app.door import TRAINED
from app.dynamics.tab import build_dynamics_tab
from app.gates.tab import build_gates_tab
from app.generate.active_runs import Runs
from app.generate.tab import build_generate_tab
from app.header import build_header
from app.preview import TITLE
from app.results.tab import build_results_tab
from app.results.uploads import Uploads
from app.shelf import ModelShelf
from app.turns import use_fair_queue

# Seconds between two looks for files that were made or uploaded, and the age at which one is deleted.
DELETE_FILES = (600, 7_200)
# How often one event runs at the same time; writing and scoring share a limit of their own.
AT_ONCE = 2


@dataclass(frozen=True)
class Place:
    """What a tab may use of the page it is on."""

    demo: gr.Blocks
    tab: gr.Tab
    shelf: ModelShelf
    runs: Runs
    uploads: Uploads
    arrival: Any  # the event that puts a model on the shelf; its success brings the model into a tab's lists


def _build_train_tab(page: Place) -> None:
    # Optax takes a while to import, and a page without this tab does not need it.
    from app.train.tab import build_train_tab

    build_train_tab(page.demo, page.shelf, Path(get_upload_folder()) / TRAINED)


# Every tab, in the order of the page: its name in the address, its title, and what lays it out.
TABS: dict[str, tuple[str, Callable[[Place], None]]] = {
    "generate": ("Generate", lambda page: build_generate_tab(page.demo, page.tab, page.shelf, page.runs, page.arrival)),
    "gates": ("Gates", lambda page: build_gates_tab(page.shelf, page.tab, page.arrival)),
    "dynamics": ("Dynamics", lambda page: build_dynamics_tab(page.demo, page.shelf, page.tab, page.arrival)),
    "train": ("Train", _build_train_tab),
    "results": ("Results", lambda page: build_results_tab(page.tab, page.uploads)),
    "about": ("About", lambda page: build_about_tab(page.shelf)),
}
FIRST_TAB = next(iter(TABS))
# Set to 0, it leaves out the tab that trains: for machines with few cores and many visitors.
TRAIN_TAB = "TIPSHARE_TRAIN_TAB"


def build_demo(shelf: ModelShelf | None = None, runs: Runs | None = None, uploads: Uploads | None = None) -> gr.Blocks:
    """The demo, ready to launch."""
    shelf, runs, uploads = shelf or ModelShelf(), runs or Runs(), uploads or Uploads()

    def forget(request: gr.Request) -> None:
        """A visitor left: what was theirs alone goes."""
        visitor = str(request.session_hash)
        shelf.of(visitor).forget()
        uploads.forget(visitor)
        runs.stop(visitor)

    with gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True, delete_cache=DELETE_FILES) as demo:
        arrival = build_header(shelf)
        with gr.Tabs(selected=FIRST_TAB, elem_id="tabs"):
            for name in tab_names():
                title, build = TABS[name]
                with gr.Tab(title, id=name) as tab:
                    build(Place(demo, tab, shelf, runs, uploads, arrival))
        demo.unload(forget)
    return use_fair_queue(demo, at_once=AT_ONCE)


def tab_names(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Names of the page's tabs in addresses, as in `?tab=gates`; the first one is open where none is named."""
    return [name for name in TABS if name != "train" or environment.get(TRAIN_TAB, "") != "0"]
