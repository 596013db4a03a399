"""Tables as Markdown and LaTeX; as CSV they write themselves."""

from training.results.views.table import Table

_LATEX = {
    "\\": r"\textbackslash{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
}


def to_markdown(table: Table) -> str:
    """A table in Markdown, numbers set to the right and the best in bold."""
    rule = ["---" if each.is_text else "---:" for each in table.columns]
    lines = [[each.heading for each in table.columns], rule]
    for row in table.cells():
        cells = [cell.text.replace("|", "\\|") for cell in row]
        lines.append([f"**{text}**" if cell.is_best else text for text, cell in zip(cells, row, strict=True)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def to_latex(table: Table) -> str:
    """A table in LaTeX, for booktabs."""
    layout = "".join("l" if each.is_text else "r" for each in table.columns)
    lines = [[_escape(each.heading) for each in table.columns]]
    for row in table.cells():
        cells = [_escape(cell.text) for cell in row]
        lines.append([f"\\textbf{{{text}}}" if cell.is_best else text for text, cell in zip(cells, row, strict=True)])
    heading, *body = (" & ".join(line) + r" \\" for line in lines)
    parts = [f"\\begin{{tabular}}{{{layout}}}", r"\toprule", heading, r"\midrule", *body, r"\bottomrule"]
    return "\n".join([*parts, r"\end{tabular}"]) + "\n"


def _escape(text: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in text)
