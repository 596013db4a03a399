"""How the page looks: Gradio's theme with system fonts and our neutral colours."""

from pathlib import Path

from gradio import themes

from tipshare.kinds import LOOKS

ASSETS = Path(__file__).parent / "assets"
SANS = ("ui-sans-serif", "system-ui", "-apple-system", "Segoe UI", "Helvetica Neue", "Arial", "sans-serif")
MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")


def theme() -> themes.Base:
    """The theme; fonts are those of the reader's system, so that nothing is fetched."""
    return themes.Base(
        primary_hue=themes.colors.indigo,
        neutral_hue=themes.colors.gray,
        font=SANS,
        font_mono=MONO,
        radius_size=themes.sizes.radius_md,
    )


def css() -> str:
    """The style sheet of the page, and a dot in its colour before each model that is named after its kind."""
    dot = 'content: ""; display: inline-block; width: 10px; height: 10px; margin-right: 6px; border-radius: 50%;'
    rules = [
        f'#models input[name*="{kind}"] + span::before {{ {dot} background: {look.colour}; }}'
        for kind, look in LOOKS.items()
    ]
    sheets = [(ASSETS / name).read_text(encoding="utf-8") for name in ("page.css", "figures.css")]
    return "\n".join([*sheets, *rules])


def script() -> str:
    """What runs in the browser, for the document's head."""
    return f"<script>\n{(ASSETS / 'page.js').read_text(encoding='utf-8')}\n</script>"
