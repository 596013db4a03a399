"""Writers of parts of documents: words and tables from records, from one group of runs, from benchmark reports."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from training.report.readme_figures import Records, picture, read_reports
from training.report.tables import to_markdown
from training.results.groups import RunGroup
from training.results.views.table import Table

NOT_YET = "Not measured yet."

# The text of a part, from records and a folder of benchmark reports; None if it needs reports and there is no folder.
Write = Callable[[Records, Path | None], str | None]
View = Callable[[Any], str | Table]


def from_records(*views: View) -> Write:
    """A writer of sentences and tables from records."""
    return lambda records, _: tell(*(view(records) for view in views))


def from_group(choose: Callable[[Records], RunGroup | None], *views: View) -> Write:
    """A writer of sentences and tables from one group of the runs."""

    def write(records: Records, _: Path | None) -> str:
        group = choose(records)
        return NOT_YET if group is None else tell(*(view(group) for view in views))

    return write


def from_reports(name: str, *views: View) -> Write:
    """A writer of sentences and tables from every report `NAME*.json` in a folder.

    There may be reports of several machines, since which program is faster depends on the processor.
    """

    def write(_: Records, folder: Path | None) -> str | None:
        if folder is None:
            return None
        texts = [tell(*(view(report) for view in views)) for report in read_reports(folder, name)]
        return join(*(text for text in texts if text != NOT_YET)) or NOT_YET

    return write


def from_both(write: Callable[[Records, Path], str]) -> Write:
    """A writer that needs records and a folder of reports."""
    return lambda records, folder: None if folder is None else write(records, folder)


def pictured(name: str, write: Write) -> Write:
    """A writer with a figure above its text, unless nothing was measured yet."""

    def write_with_picture(records: Records, folder: Path | None) -> str | None:
        text = write(records, folder)
        return text if text in (None, NOT_YET) else join(picture(name, records, folder), text)

    return write_with_picture


def tell(*parts: str | Table) -> str:
    """Paragraphs and tables in Markdown, or that nothing was measured yet if none of the tables has a row."""
    tables = [part for part in parts if isinstance(part, Table)]
    return NOT_YET if tables and not any(table.rows for table in tables) else join(*parts)


def join(*parts: str | Table) -> str:
    """Paragraphs and tables in Markdown; what is empty is left out."""
    texts = [part.strip() if isinstance(part, str) else to_markdown(part) if part.rows else "" for part in parts]
    return "\n\n".join(text for text in texts if text)
