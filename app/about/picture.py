"""The picture of the About tab: four ways of owning weights along depth, drawn as SVG."""

from collections.abc import Callable

from tipshare.kinds import colour_of

DEPTH = 6
WIDTH, HEIGHT = 210, 212
BLOCK_WIDTH, BLOCK_HEIGHT, GAP = 84, 20, 10
LEFT, TOP = 100, 22
# Gate openings of the picture: what matters is that they differ from depth to depth.
OPENINGS = (0.9, 0.7, 0.45, 0.6, 0.8, 0.95)


def draw_kind(kind: str) -> str:
    """How the weights of a kind come about at each depth, as an SVG; what the words around it say, it shows."""
    title, draw = _DRAWINGS[kind]
    axis = (
        f'<line class="axis" x1="22" y1="{TOP}" x2="22" y2="{_top(DEPTH - 1) + BLOCK_HEIGHT}" '
        'marker-end="url(#arrow)"/>'
        f'<text class="faint" x="10" y="{TOP + 4}" text-anchor="middle">0</text>'
        f'<text class="faint" x="10" y="{_top(DEPTH - 1) + BLOCK_HEIGHT}" text-anchor="middle">1</text>'
        f'<text class="faint" x="10" y="{(TOP + _top(DEPTH)) / 2}" text-anchor="middle">t</text>'
    )
    arrow = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path class="tipped" d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}" class="drawing" '
        f'style="--model:{colour_of(kind)}">{arrow}{axis}{draw()}</svg>'
    )


def _top(step: int) -> float:
    return TOP + step * (BLOCK_HEIGHT + GAP)


def _block(step: int, *, label: str = "", style: str = "own", opacity: float = 1.0) -> str:
    """A block of the residual stream at a depth step."""
    y = _top(step)
    text = f'<text class="on-block" x="{LEFT + BLOCK_WIDTH / 2}" y="{y + 14}" text-anchor="middle">{label}</text>'
    return (
        f'<rect class="{style}" x="{LEFT}" y="{y}" width="{BLOCK_WIDTH}" height="{BLOCK_HEIGHT}" rx="4" '
        f'style="fill-opacity:{opacity}"/>{text if label else ""}'
    )


def _stream() -> str:
    """The residual stream between the blocks."""
    middle = LEFT + BLOCK_WIDTH / 2
    return "".join(
        f'<line class="stream" x1="{middle}" y1="{_top(step) + BLOCK_HEIGHT}" x2="{middle}" y2="{_top(step + 1)}"/>'
        for step in range(DEPTH - 1)
    )


def _own() -> str:
    blocks = "".join(_block(step, label=f"W{'₁₂₃₄₅₆'[step]}") for step in range(DEPTH))
    return _stream() + blocks


def _generated() -> str:
    """A hypernetwork to the left that writes each block."""
    middle = (TOP + _top(DEPTH)) / 2 - GAP / 2
    network = (
        f'<circle class="own" cx="56" cy="{middle}" r="18"/>'
        f'<text class="on-block" x="56" y="{middle + 4}" text-anchor="middle">h(t)</text>'
    )
    lines = "".join(
        f'<path class="link" d="M74 {middle} C 88 {middle}, 84 {_top(step) + 10}, {LEFT - 2} {_top(step) + 10}"/>'
        for step in range(DEPTH)
    )
    blocks = "".join(_block(step, label=f"W({step + 1}/6)", style="made", opacity=0.14) for step in range(DEPTH))
    return _stream() + lines + blocks + network


def _gates() -> str:
    """A small dial per depth step: how far the gate is open."""
    dials = ""
    for step, opening in enumerate(OPENINGS):
        y = _top(step) + 5
        dials += (
            f'<rect class="groove" x="44" y="{y}" width="42" height="10" rx="5"/>'
            f'<rect class="own" x="44" y="{y}" width="{42 * opening:.0f}" height="10" rx="5"/>'
        )
    return dials


def _gated(name_at: float = 0.5) -> str:
    """The same block at every depth, each time seen through a gate."""
    blocks = "".join(_block(step, style="same", opacity=0.18 + 0.6 * OPENINGS[step]) for step in range(DEPTH))
    middle = LEFT + BLOCK_WIDTH * name_at
    names = "".join(
        f'<text class="on-shared" x="{middle}" y="{_top(step) + 14}" text-anchor="middle">W</text>'
        for step in range(DEPTH)
    )
    bracket = f'<path class="link" d="M{LEFT + BLOCK_WIDTH + 4} {_top(0) + 10} h6 V{_top(DEPTH - 1) + 10} h-6"/>'
    return _stream() + _gates() + blocks + names + bracket


def _gated_with_state() -> str:
    """Gated, with a state that runs along the text inside every block."""
    states = "".join(
        f'<path class="state-path" d="M{LEFT + 30} {_top(step) + 10} q 6 -9 12 0 t 12 0 t 12 0 t 12 0"/>'
        for step in range(DEPTH)
    )
    return _gated(name_at=0.2) + states


_DRAWINGS: dict[str, tuple[str, Callable[[], str]]] = {
    "standard": ("Six blocks, each with weights of its own", _own),
    "neural-ode": ("A network of the time t writes the weights of each of six blocks", _generated),
    "time-indexed-mlp": ("One block used six times, each time through gates of another opening", _gated),
    "time-indexed-ssm": ("One gated block used six times, with a state inside it", _gated_with_state),
}
