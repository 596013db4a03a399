"""The demo: `python app.py`, and the entry of the Gradio Space."""

from app.serve import serve

if __name__ == "__main__":
    serve()
