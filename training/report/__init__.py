"""Tables and figures as files: Markdown, LaTeX, CSV, PDF, and the README."""
