"""The programs in torch that `training.py` and `generation.py` compare with, run by a Python that has torch.

Reads one JSON line of settings and answers with a line when ready. Then each line it reads is a number, and it answers
with seconds. `program` is one of:

- "gpt2": training steps of GPT-2 in `transformers`; the number is how many, the answer the seconds of one
- "plain": the same for a plain transformer of the same shape with torch's fused attention
- "product": the same for a product of two square matrices instead of a training step
- "generation": GPT-2 generates a batch of texts; the number is the size of the batch, the answer the seconds of all
"""

import json
import sys
import time
from collections.abc import Callable


def main() -> None:
    import torch  # pyright: ignore[reportMissingImports]

    settings = json.loads(sys.stdin.readline())
    torch.set_num_threads(settings["threads"])
    torch.manual_seed(0)
    measure = make_generation(settings) if settings["program"] == "generation" else make_steps(settings)
    answer({"ready": True, "torch": torch.__version__})
    for line in sys.stdin:
        answer({"seconds": measure(int(line))})


def answer(what: dict) -> None:
    print(json.dumps(what), flush=True)


def make_generation(settings: dict) -> Callable[[int], float]:
    """A function that generates a batch of texts and returns the seconds it took."""
    import torch  # pyright: ignore[reportMissingImports]

    length = settings["prompt_bytes"] + settings["new_bytes"]
    model = make_gpt2(settings, length).eval()

    def generate(batch: int) -> float:
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
        if out.shape[1] != length:
            raise RuntimeError(f"generated texts of {out.shape[1]} ids instead of {length}")
        return seconds

    return generate


def make_steps(settings: dict) -> Callable[[int], float]:
    """A function that takes a number of steps and returns the seconds of one."""
    step = make_product(settings["size"]) if settings["program"] == "product" else make_training_step(settings)

    def run(steps: int) -> float:
        began = time.perf_counter()
        for _ in range(steps):
            done = step()
        done.sum().item()
        return (time.perf_counter() - began) / steps

    return run


def make_product(size: int) -> Callable:
    import torch  # pyright: ignore[reportMissingImports]

    matrix, product = torch.ones(size, size), torch.empty(size, size)
    return lambda: torch.matmul(matrix, matrix, out=product)


def make_training_step(settings: dict) -> Callable:
    """A function that takes one step of Adam and returns the loss."""
    import torch  # pyright: ignore[reportMissingImports]

    is_gpt2 = settings["program"] == "gpt2"
    model = make_gpt2(settings, settings["length"]) if is_gpt2 else make_plain(settings)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    ids = torch.randint(0, 256, (settings["batch"], settings["length"] + 1))

    def step():
        logits = model(ids[:, :-1], use_cache=False).logits if is_gpt2 else model(ids[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def make_gpt2(settings: dict, length: int):
    """GPT-2 of the shape in the settings, without dropout."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=256,
        n_positions=length,
        n_embd=settings["hidden_dim"],
        n_layer=settings["num_layers"],
        n_head=settings["num_heads"],
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    return GPT2LMHeadModel(config)


def make_plain(settings: dict):
    """Pre-norm blocks with fused attention, and nothing else around them."""
    import torch  # pyright: ignore[reportMissingImports]
    from torch import nn  # pyright: ignore[reportMissingImports]

    width, heads = settings["hidden_dim"], settings["num_heads"]

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            batch, length, _ = x.shape
            parts = self.qkv(self.norm1(x)).view(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            mixed = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
            return x + self.down(nn.functional.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(256, width)
            self.positions = nn.Parameter(torch.zeros(settings["length"], width))
            self.layers = nn.Sequential(*(Layer() for _ in range(settings["num_layers"])))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 256, bias=False)

        def forward(self, ids):
            return self.head(self.norm(self.layers(self.embedding(ids) + self.positions)))

    return Plain()


if __name__ == "__main__":
    main()
