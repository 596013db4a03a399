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
    shown = table.for_readers()
    rule = ["---" if each.is_text else "---:" for each in shown.headings]
    lines = [[each.text for each in shown.headings], rule]
    for row in shown.rows:
        cells = [cell.text.replace("|", "\\|") for cell in row]
        lines.append([f"**{text}**" if cell.is_best else text for text, cell in zip(cells, row, strict=True)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def to_latex(table: Table) -> str:
    """A table in LaTeX, for booktabs."""
    shown = table.for_readers()
    layout = "".join("l" if each.is_text else "r" for each in shown.headings)
    lines = [[_escape(each.text) for each in shown.headings]]
    for row in shown.rows:
        cells = [_escape(cell.text) for cell in row]
        lines.append([f"\\textbf{{{text}}}" if cell.is_best else text for text, cell in zip(cells, row, strict=True)])
    heading, *body = (" & ".join(line) + r" \\" for line in lines)
    parts = [f"\\begin{{tabular}}{{{layout}}}", r"\toprule", heading, r"\midrule", *body, r"\bottomrule"]
    return "\n".join([*parts, r"\end{tabular}"]) + "\n"


def _escape(text: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in text)
