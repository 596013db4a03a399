"""Tables in Markdown."""

from collections.abc import Sequence


def markdown_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, is_number: Sequence[bool] | None = None
) -> str:
    """Heads and rows, the columns of numbers to the right: all but the first, if nothing else is said."""
    if is_number is None:
        is_number = (False, *(True for _ in heads[1:]))
    rule = ["---:" if each else "---" for each in is_number]
    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *body))
