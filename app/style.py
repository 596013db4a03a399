"""The style of the page: a Gradio theme with system fonts, style sheets and scripts."""

from collections.abc import Iterable
from pathlib import Path

from gradio import themes

from tipshare.kinds import colour_of

HERE = Path(__file__).parent
SANS = ("ui-sans-serif", "system-ui", "-apple-system", "Segoe UI", "Helvetica Neue", "Arial", "sans-serif")
MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")


def theme() -> themes.Base:
    """The theme; its fonts are installed on the reader's system, so that none is downloaded."""
    return themes.Base(
        primary_hue=themes.colors.indigo,
        neutral_hue=themes.colors.gray,
        font=SANS,
        font_mono=MONO,
        radius_size=themes.sizes.radius_md,
    ).set(
        # White on the usual shade has a contrast of 4.46.
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_dark="*primary_600",
        button_primary_background_fill_hover="*primary_700",
        button_primary_background_fill_hover_dark="*primary_700",
    )


def css() -> str:
    """The style sheets of the page and its tabs."""
    return "\n".join(_assets("page.css", "figures.css"))


def script() -> str:
    """The scripts of the page and its tabs, for the head of the document."""
    return "".join(f"<script>\n{each}\n</script>" for each in _assets("page.js"))


def dot_of(kind: str) -> str:
    """A dot in a model's colour, before its name."""
    return f'<span class="dot" style="background:{colour_of(kind)}" aria-hidden="true"></span>'


def finding(*sentences: str) -> str:
    """Sentences, in HTML, as one paragraph of the page."""
    return f'<p class="finding">{" ".join(each for each in sentences if each)}</p>'


def findings(sentences: Iterable[str]) -> str:
    """Sentences, in HTML, as a list; empty without any."""
    items = "".join(f"<li>{each}</li>" for each in sentences)
    return f'<ul class="findings">{items}</ul>' if items else ""


def _assets(*names: str) -> list[str]:
    """Files of the whole page, then those like them that a tab keeps in its folder, as `tab.css` and `tab.js`."""
    files = [HERE / "assets" / name for name in names]
    files += sorted(HERE.glob(f"*/tab{files[0].suffix}"))
    return [file.read_text(encoding="utf-8") for file in files]
