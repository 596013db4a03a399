"""The demo: `python app.py`, and the entry of the Gradio Space."""

from app import build_demo

if __name__ == "__main__":
    build_demo().launch()
