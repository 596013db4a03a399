"""The page as a whole: a header, and the tabs of one table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from app.about.tab import build_about_tab
from app.events import QUICK
from app.gates.tab import build_gates_tab
from app.generate.active_runs import Runs
from app.generate.tab import build_generate_tab
from app.header import build_header
from app.results.tab import build_results_tab
from app.shelf import ModelShelf

# Length of the queue; when it is full, visitors are told that the page is busy.
MOST_WAITING = 128
# How often one event runs at the same time; writing and scoring share a limit of their own.
AT_ONCE = 2


@dataclass(frozen=True)
class Place:
    """What a tab may use of the page it is on."""

    demo: gr.Blocks
    tab: gr.Tab
    shelf: ModelShelf
    runs: Runs
    arrival: Any  # the event that puts a model on the shelf; its success brings the model into a tab's lists


# Every tab, in the order of the page: its name in the address, its title, and what lays it out.
TABS: dict[str, tuple[str, Callable[[Place], None]]] = {
    "generate": ("Generate", lambda page: build_generate_tab(page.demo, page.shelf, page.runs, page.arrival)),
    "gates": ("Gates", lambda page: build_gates_tab(page.shelf, page.tab, page.arrival)),
    "results": ("Results", lambda page: build_results_tab(page.tab)),
    "about": ("About", lambda page: build_about_tab()),
}
FIRST_TAB = next(iter(TABS))


def build_demo(shelf: ModelShelf | None = None, runs: Runs | None = None) -> gr.Blocks:
    """The demo, ready to launch."""
    shelf, runs = shelf or ModelShelf(), runs or Runs()
    with gr.Blocks(title="tipshare: one block, every depth", analytics_enabled=False, fill_width=True) as demo:
        arrival = build_header(shelf)
        with gr.Tabs(selected=FIRST_TAB, elem_id="tabs") as tabs:
            for name, (title, build) in TABS.items():
                with gr.Tab(title, id=name) as tab:
                    build(Place(demo, tab, shelf, runs, arrival))
        demo.load(open_tab, None, tabs, api_name="open_tab", **QUICK)
    return demo.queue(max_size=MOST_WAITING, default_concurrency_limit=AT_ONCE)


def open_tab(request: gr.Request) -> gr.Tabs:
    """Select the tab in the page's address, as in `?tab=gates`."""
    wanted = request.query_params.get("tab", "")
    return gr.Tabs(selected=wanted if wanted in TABS else FIRST_TAB)
