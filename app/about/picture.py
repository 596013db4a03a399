"""The pictures of the About tab: where the weights at each depth come from, drawn as SVG."""

import html
from collections.abc import Callable

from tipshare.config import ModelConfig
from tipshare.kinds import MIXERS, colour_of, source_title

DEPTH = 6
WIDTH, HEIGHT = 210, 212
BLOCK_WIDTH, BLOCK_HEIGHT, GAP = 84, 20, 10
LEFT, TOP = 100, 22
# Gate openings of the picture: what matters is that they differ from depth to depth.
OPENINGS = (0.9, 0.7, 0.45, 0.6, 0.8, 0.95)


def draw_model(config: ModelConfig) -> str:
    """A block per depth step, and beside them what their weights come from."""
    title = f"Weights: {source_title(config.weights)}. After attention: {MIXERS.get(config.mixer, config.mixer)}"
    arrow = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path class="tipped" d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    beside = _BESIDE.get(config.weights, lambda: "")()
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(title)}" class="drawing" '
        f'style="--model:{colour_of(config.kind)}">{arrow}{_axis()}{_stream()}{beside}{_blocks(config)}</svg>'
    )


def _top(step: int) -> float:
    return TOP + step * (BLOCK_HEIGHT + GAP)


def _axis() -> str:
    """The depth t from 0 to 1, to the left."""
    bottom = _top(DEPTH - 1) + BLOCK_HEIGHT
    marks = ((TOP + 4, "0"), ((TOP + _top(DEPTH)) / 2, "t"), (bottom, "1"))
    texts = "".join(f'<text class="faint" x="10" y="{y}" text-anchor="middle">{text}</text>' for y, text in marks)
    return f'<line class="axis" x1="22" y1="{TOP}" x2="22" y2="{bottom}" marker-end="url(#arrow)"/>{texts}'


def _stream() -> str:
    """The residual stream between the blocks."""
    middle = LEFT + BLOCK_WIDTH / 2
    return "".join(
        f'<line class="stream" x1="{middle}" y1="{_top(step) + BLOCK_HEIGHT}" x2="{middle}" y2="{_top(step + 1)}"/>'
        for step in range(DEPTH - 1)
    )


def _blocks(config: ModelConfig) -> str:
    """A block per depth step with the name of its weights, and the state that runs along the text inside it."""
    has_state = config.mixer == "ssm"
    drawn = ""
    for step in range(DEPTH):
        style, label, opacity = _LOOKS.get(config.weights, _from_time)(step)
        x, y = LEFT + BLOCK_WIDTH * (0.2 if has_state else 0.5), _top(step)
        drawn += (
            f'<rect class="{style}" x="{LEFT}" y="{y}" width="{BLOCK_WIDTH}" height="{BLOCK_HEIGHT}" rx="4" '
            f'style="fill-opacity:{opacity:.2f}"/>'
            f'<text class="{"on-shared" if style == "same" else "on-block"}" x="{x}" y="{y + 14}" '
            f'text-anchor="middle">{label}</text>'
        )
        if has_state:
            drawn += f'<path class="state-path" d="M{LEFT + 30} {y + 10} q 6 -9 12 0 t 12 0 t 12 0 t 12 0"/>'
    return drawn


def _from_time(step: int) -> tuple[str, str, float]:
    return "made", f"W({step + 1}/{DEPTH})", 0.14


def _network() -> str:
    """A hypernetwork that writes each block."""
    middle = (TOP + _top(DEPTH)) / 2 - GAP / 2
    lines = "".join(
        f'<path class="link" d="M74 {middle} C 88 {middle}, 84 {_top(step) + 10}, {LEFT - 2} {_top(step) + 10}"/>'
        for step in range(DEPTH)
    )
    return (
        f'{lines}<circle class="own" cx="56" cy="{middle}" r="18"/>'
        f'<text class="on-block" x="56" y="{middle + 4}" text-anchor="middle">h(t)</text>'
    )


def _bracket() -> str:
    """All blocks are the same one."""
    return f'<path class="link" d="M{LEFT + BLOCK_WIDTH + 4} {_top(0) + 10} h6 V{_top(DEPTH - 1) + 10} h-6"/>'


def _gates() -> str:
    """How far the gate is open at each depth step, beside the one block."""
    dials = "".join(
        f'<rect class="groove" x="44" y="{_top(step) + 5}" width="42" height="10" rx="5"/>'
        f'<rect class="own" x="44" y="{_top(step) + 5}" width="{42 * opening:.0f}" height="10" rx="5"/>'
        for step, opening in enumerate(OPENINGS)
    )
    return dials + _bracket()


# By weight source: class, name and opacity of the block at a depth step. Others are blocks that depend on t somehow.
_LOOKS: dict[str, Callable[[int], tuple[str, str, float]]] = {
    "own": lambda step: ("own", f"W{'₁₂₃₄₅₆'[step]}", 1.0),
    "gated": lambda step: ("same", "W", 0.18 + 0.6 * OPENINGS[step]),
    "tied": lambda step: ("same", "W", 0.6),
}
_BESIDE: dict[str, Callable[[], str]] = {"generated": _network, "gated": _gates, "tied": _bracket}
