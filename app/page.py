"""The page as a whole: a header and the tabs."""

import os
from collections.abc import Mapping

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

TABS = {"generate": "Generate", "gates": "Gates", "train": "Train", "results": "Results", "about": "About"}
# Set to 0, it leaves out the tab that trains: for machines with few cores and many visitors.
TRAIN_TAB = "TIPSHARE_TRAIN_TAB"


def build_demo(shelf: ModelShelf | None = None, runs: Runs | None = None) -> gr.Blocks:
    """The demo, ready to launch."""
    shelf, runs = shelf or ModelShelf(), runs or Runs()
    with gr.Blocks(title="tipshare: one block, every depth", analytics_enabled=False, fill_width=True) as demo:
        arrival = build_header(shelf)
        with gr.Tabs(selected="generate", elem_id="tabs") as tabs:
            with gr.Tab(TABS["generate"], id="generate"):
                models = build_generate_tab(demo, shelf, runs)
            with gr.Tab(TABS["gates"], id="gates") as gates:
                build_gates_tab(shelf, gates, arrival)
            if may_train():
                from app.train.tab import build_train_tab

                with gr.Tab(TABS["train"], id="train"):
                    build_train_tab(demo)
            with gr.Tab(TABS["results"], id="results") as results:
                build_results_tab(results)
            with gr.Tab(TABS["about"], id="about"):
                build_about_tab()
        demo.load(open_tab, None, tabs, api_name="open_tab", **QUICK)

        def refresh_models(chosen: list[str]) -> gr.CheckboxGroup:
            return gr.CheckboxGroup(choices=shelf.choices(), value=chosen)

        arrival.success(refresh_models, models, models, api_name="refresh_models", **QUICK)
    return demo.queue(max_size=MOST_WAITING, default_concurrency_limit=AT_ONCE)


def may_train(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the page has the tab that trains."""
    return environment.get(TRAIN_TAB, "") != "0"


def open_tab(request: gr.Request) -> gr.Tabs:
    """Select the tab in the page's address, as in `?tab=gates`."""
    wanted = request.query_params.get("tab", "")
    return gr.Tabs(selected=wanted if wanted in TABS else "generate")
