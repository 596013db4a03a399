"""Run under eight virtual CPU devices: the same run on one device and on all, and a sharded run that resumes."""

import io
import json
import sys
from pathlib import Path

import jax

from tests.training.engine.tiny import TINY, StoppingCorpus
from training.data.corpus import load_corpus
from training.engine.loop import train
from training.engine.run import Run
from training.engine.sharding import Placement
from training.engine.state import saved_steps
from training.engine.step import Program


def main(out: Path, model: str) -> None:
    recipe = TINY.change(["num_steps=20", "batch_size=8", "save_every=5", "evaluate_every=20", "full_evaluation=[]"])
    label, config = recipe.configure(model)
    corpus = load_corpus("builtin")

    def run(name: str, placement: Placement, text=corpus) -> list[list[float]]:
        described = Run(
            recipe=recipe,
            model=label,
            config=config,
            seed=0,
            corpus=text,
            folder=out / name,
            collection=out / "runs.jsonl",
            command="none",
        )
        record = train(described, placement=placement, stream=io.StringIO())
        return [*record.train_curve, record.curve[-1]]

    sharded = Placement.over_all_devices(fully_sharded=True)
    curves = {
        "single": run("single", Placement()),
        "data parallel": run("data-parallel", Placement.over_all_devices()),
        "fully sharded": run("fully-sharded", sharded),
    }
    try:
        run("resumed", sharded, StoppingCorpus.before(13, corpus))
    except OSError:
        stopped_after = saved_steps(out / "resumed" / "state")[0]
    curves["resumed"] = run("resumed", sharded)
    program = Program.of(recipe, config, sharded)
    embedding = program.start(0)[0].embedding.array
    facts = {
        "devices": jax.device_count(),
        "stopped_after": stopped_after,
        "piece": embedding.addressable_shards[0].data.shape,
        "curves": curves,
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
