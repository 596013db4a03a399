"""`tipshare inspect`: what a checkpoint does inside while it reads a text."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from tipshare.commands.options import STANDARD_INPUT, AsJson, CheckpointName, DepthSteps, read_argument

if TYPE_CHECKING:
    from tipshare.analysis.inspection import Inspection

LONGEST = 256


@dataclass(frozen=True, kw_only=True)
class Inspect:
    """Print spectra, Lyapunov exponents, lens, updates and sensitivities of a checkpoint at a text."""

    checkpoint: Annotated[CheckpointName, tyro.conf.Positional]
    """A folder, a bundled name, or a Hub id such as organisation/name."""
    text: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TEXT")] = STANDARD_INPUT
    """The text that is read, at most 256 bytes; - reads it from standard input."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Folder for the figures, as PNG, PDF and CSV."""
    place: int = -1
    """The position whose prediction is traced back, from 0; -1 is the last."""
    steps: DepthSteps = None
    """Depth steps, for kinds whose weights are defined at every depth; the trained number if left out."""
    logit_lens: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Use the logit lens although the checkpoint has a tuned one."""
    json: AsJson = False
    """Print one JSON object."""

    def run(self) -> int:
        from tipshare.analysis.inspection import inspect_text, main_numbers
        from tipshare.checkpoint import open_checkpoint
        from tipshare.checkpoint.tuned_lens import has_lens, load_lens
        from tipshare.compilation import use_compilation_cache

        text = read_argument(self.text)
        if len(text) > LONGEST:
            raise ValueError(
                f"the text has {len(text):,} bytes: give at most {LONGEST}, the cost grows with their square"
            )
        if self.out is not None:
            from tipshare.commands.inspect_figures import check_matplotlib

            check_matplotlib()
        use_compilation_cache()
        checkpoint = open_checkpoint(self.checkpoint)
        model = checkpoint.load("float32")
        # A tuned lens is for the depth steps that it was trained at.
        use_tuned = not self.logit_lens and self.steps in (None, model.steps) and has_lens(checkpoint.folder)
        tuned = load_lens(checkpoint) if use_tuned else None
        found = inspect_text(model, text, self.steps, place=self.place, tuned=tuned)
        print(json.dumps(main_numbers(found)) if self.json else "\n".join(_lines(self.checkpoint, found)))
        if self.out is not None:
            from tipshare.commands.inspect_figures import write_figures

            names = write_figures(found, self.out)
            if not self.json:
                print(f"figures     {self.out}: {', '.join(names)} (.png, .pdf, .csv)")
        return 0


def _lines(name: str, found: "Inspection") -> list[str]:
    from tipshare.analysis import inspection as words

    exponents = found.exponents
    kind = found.model.config.kind
    dimension = "" if exponents.dimension is None else f"; Kaplan-Yorke dimension {exponents.dimension:.1f}"
    exact = "all" if exponents.is_complete else f"the {len(exponents.values)} leading"
    lines = [f"model       {name} ({kind}, {found.depth_steps} depth steps)"]
    lines += [f"spectra     {words.spectra_in_words(name, each)}" for name, each in found.spectra.items()]
    if found.poles is not None:
        lines.append(f"states      {words.poles_in_words(found.poles)}")
    lines.append(
        f"lyapunov    largest {exponents.values[0]:.2f} per pass, of {exact}: "
        f"{', '.join(f'{each:.2f}' for each in exponents.values[:4])} ...{dimension}"
    )
    lines.append(f"sensitivity {words.sensitivity_in_words(found.sensitivity)}")
    lines.append(f"lens        {words.lens_in_words(found.lens)}")
    lines.append(f"stream      {words.stream_in_words(found.stream)}")
    back = found.attention.distances.mean(axis=(1, 2))
    lines.append(
        f"attention   looks back {back[0]:.1f} bytes on average at t = {found.attention.t[0]:.2f} and {back[-1]:.1f} "
        f"at t = {found.attention.t[-1]:.2f}; entropy {found.attention.entropies.mean():.2f} bits."
    )
    return lines
