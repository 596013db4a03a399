"""GPT-2 of the same shape in `transformers`, run by the Python that has torch; started by `generation.py`.

Reads one JSON line with the settings, answers a line when ready, then generates once per line it is sent and answers
with the seconds it took.
"""

import json
import sys
import time


def main() -> None:
    import torch  # pyright: ignore[reportMissingImports]
    from transformers import GPT2Config, GPT2LMHeadModel

    settings = json.loads(sys.stdin.readline())
    torch.set_num_threads(settings["threads"])
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=256,
        n_positions=settings["prompt_bytes"] + settings["new_bytes"],
        n_embd=settings["hidden_dim"],
        n_layer=settings["num_layers"],
        n_head=settings["num_heads"],
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    model = GPT2LMHeadModel(config).eval()
    answer({"ready": True, "torch": torch.__version__})
    for line in sys.stdin:
        batch = int(line)
        ids = torch.randint(0, 256, (batch, settings["prompt_bytes"]))
        began = time.perf_counter()
        out = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=settings["new_bytes"],
            min_new_tokens=settings["new_bytes"],
            do_sample=True,
            top_k=settings["top_k"],
            use_cache=True,
        )
        seconds = time.perf_counter() - began
        if out.shape[1] != settings["prompt_bytes"] + settings["new_bytes"]:
            raise RuntimeError(f"generated {out.shape[1]} ids in all")
        answer({"seconds": seconds})


def answer(what: dict) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
