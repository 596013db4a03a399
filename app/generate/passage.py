"""A byte on its way through depth, drawn for three kinds; the gates are those of a bundled model."""

from dataclasses import dataclass

import numpy as np

from app.generate.tinted import escape
from app.shelf import Entry
from tipshare.kinds import colour_of
from tipshare.model.depth import depths

WIDTH, HEIGHT = 560, 246
LEFT, BLOCK, STRIDE, TALL = 78, 66, 80, 40
TOPS = (26, 104, 182)
STEPS = 6
# Gates that are drawn, of the hundreds that a model has.
SHOWN = 10
SECONDS = 9


@dataclass(frozen=True)
class DrawnGates:
    """The gates of a model that change most along depth: {depth step, unit}, as parts of what a gate can be."""

    label: str
    total: int
    values: np.ndarray


def gates_of(entry: Entry) -> DrawnGates | None:
    """The gates at the depth steps of the picture; None for a model without."""
    rows = [
        np.concatenate([np.asarray(gate.array, np.float64).ravel() for gate in entry.model.gates(float(t)).values()])
        for t in depths(STEPS)
        if entry.config.is_continuous and entry.model.gates(float(t))
    ]
    if not rows:
        return None
    values = np.stack(rows)
    moving = np.sort(np.argsort(np.ptp(values, axis=0), kind="stable")[-SHOWN:])
    return DrawnGates(entry.label, values.shape[1], values[:, moving] / max(1.0, values.max()))


def show_passage(gates: DrawnGates | None) -> str:
    """The picture, with what it shows in words below it."""
    told = (
        "A byte passes six depth steps. A standard transformer owns a block for each, a neural ODE has a network "
        "write one for each, and a time-indexed model uses one block six times while gates open and close in it."
    )
    source = ""
    if gates is not None:
        source = (
            f"Bars: of the {gates.total:,} gates of {escape(gates.label)}, the {gates.values.shape[1]} that "
            "change most along depth, as trained. A full bar lets its unit pass, an empty one mutes it."
        )
    return (
        f'<figure class="passage"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{told}">'
        f"<style>{_keyframes(gates)}</style>{_standard()}{_ode()}{_shared(gates)}</svg>"
        f"<figcaption>{source}</figcaption></figure>"
    )


def _x(step: int) -> float:
    return LEFT + STRIDE * step


def _row(number: int, kind: str, title: str, inside: str) -> str:
    """A row with its title, the line of t between the blocks, and the byte that runs along it."""
    middle = TOPS[number] + TALL / 2
    letter = f'<text x="{LEFT - 14}" y="{middle + 5}">e</text>'
    byte = f'<g class="byte"><circle cx="{LEFT - 14}" cy="{middle}" r="9"/>{letter}</g>'
    ends = [LEFT - 14, *(end for step in range(STEPS) for end in (_x(step), _x(step) + BLOCK)), WIDTH]
    way = "".join(f"M{begin} {middle}H{end}" for begin, end in zip(ends[::2], ends[1::2], strict=True))
    return (
        f'<g style="--model:{colour_of(kind)}"><text class="title" x="0" y="{TOPS[number] - 9}">{title}</text>'
        f'<path class="way" d="{way}"/>{inside}{byte}</g>'
    )


def _block(step: int, top: float, names: str, inside: str = "") -> str:
    """A block at a depth step, lit while the byte is in it."""
    delay = f"animation-delay:{SECONDS * (step / STEPS - 1):.2f}s"
    rect = f'<rect x="{_x(step)}" y="{top}" width="{BLOCK}" height="{TALL}" rx="5"/>'
    return f'<g class="step {names}" style="{delay}">{rect}{inside}</g>'


def _label(step: int, top: float, text: str) -> str:
    return f'<text class="name" x="{_x(step) + BLOCK / 2}" y="{top + TALL / 2 + 5}">{text}</text>'


def _standard() -> str:
    blocks = "".join(_block(i, TOPS[0], "own", _label(i, TOPS[0], f"W{'₁₂₃₄₅₆'[i]}")) for i in range(STEPS))
    return _row(0, "standard", "Standard: six blocks, each used once in a pass", blocks)


def _ode() -> str:
    top = TOPS[1]
    blocks = "".join(
        _block(
            i,
            top,
            "made",
            _link(_x(i) + BLOCK / 2, top + TALL) + _label(i, top, f"W({i + 1}/{STEPS})" if i + 1 < STEPS else "W(1)"),
        )
        for i in range(STEPS)
    )
    network = (
        f'<circle class="network" cx="26" cy="{top + 20}" r="17"/><text class="name" x="26" y="{top + 25}">h(t)</text>'
    )
    return _row(1, "neural-ode", "Neural ODE: a network h writes a new block for each depth t", blocks + network)


def _link(x: float, bottom: float) -> str:
    """From the network, below the blocks before it, to the lower edge of a block."""
    return f'<path class="link" d="M30 {bottom - 6} Q {(x - 36) / 2} {bottom + 20} {x} {bottom}"/>'


def _shared(gates: DrawnGates | None) -> str:
    """The places of the one block, with its gates there; and the block itself, which moves from one to the next."""
    top = TOPS[2]
    count = 0 if gates is None else gates.values.shape[1]
    places = "".join(
        _block(i, top, "place", "".join(_bar(u, top, _x(i), gates.values[i, u]) for u in range(count)) if gates else "")
        for i in range(STEPS)
    )
    bars = "".join(_bar(u, top, _x(0), 1.0, f"tipshare-gate-{u}") for u in range(count))
    block = (
        f'<g class="mover"><rect x="{_x(0)}" y="{top}" width="{BLOCK}" height="{TALL}" rx="5"/>{bars}'
        f'<text class="name" x="{_x(0) + BLOCK / 2}" y="{top + TALL + 17}">the one W</text></g>'
    )
    title = "Time-indexed: one block, six times; its gates open and close"
    return _row(2, "time-indexed-ssm", title, places + block)


def _bar(unit: int, top: float, left: float, value: float, animation: str = "") -> str:
    """A gate, open from the floor of the block up to its value."""
    width = (BLOCK - 10) / SHOWN
    style = f' style="animation-name:{animation}"' if animation else ""
    high = 0.5 + (TALL - 8) * value
    return (
        f'<rect class="gate" x="{left + 5 + unit * width + 0.6:.1f}" y="{top + TALL - 4 - high:.1f}" '
        f'width="{width - 1.2:.1f}" height="{high:.1f}"{style}/>'
    )


def _keyframes(gates: DrawnGates | None) -> str:
    """How far each gate is open while the byte is at each depth step, and the way of byte and block."""
    frames = [
        f"@keyframes tipshare-byte{{from{{transform:translateX(0)}}to{{transform:translateX({STRIDE * STEPS}px)}}}}",
        f"@keyframes tipshare-block{{from{{transform:translateX(0)}}to{{transform:translateX({STRIDE * STEPS}px)}}}}",
        "@keyframes tipshare-step{0%,16.6%{opacity:1}16.7%,100%{opacity:0.45}}",
    ]
    if gates is not None:
        for unit, along in enumerate(gates.values.T):
            stops = "".join(
                f"{100 * (i + start) / STEPS:.1f}%{{transform:scaleY({value:.3f})}}"
                for i, value in enumerate(along)
                for start in (0.25, 0.9)
            )
            frames.append(f"@keyframes tipshare-gate-{unit}{{{stops}}}")
    return "".join(frames)
