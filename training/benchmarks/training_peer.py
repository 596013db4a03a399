"""Training steps in torch, run by the Python that has it; started by `training.py`.

Reads one JSON line with the settings, answers a line when ready, then takes as many steps as each line says and
answers with the seconds a step took. `model` is "gpt2" (transformers), "plain" (a bare transformer of the same shape
with torch's fused attention), or "product": no model, one square matrix product a step.
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
    step = make_product(settings["size"]) if settings["model"] == "product" else make_training_step(settings)
    answer({"ready": True, "torch": torch.__version__})
    for line in sys.stdin:
        steps = int(line)
        began = time.perf_counter()
        for _ in range(steps):
            done = step()
        done.sum().item()
        answer({"seconds": (time.perf_counter() - began) / steps})


def make_product(size: int) -> Callable:
    import torch  # pyright: ignore[reportMissingImports]

    matrix, product = torch.ones(size, size), torch.empty(size, size)
    return lambda: torch.matmul(matrix, matrix, out=product)


def make_training_step(settings: dict) -> Callable:
    """A function that trains one step of Adam and returns the loss."""
    import torch  # pyright: ignore[reportMissingImports]

    model = make_gpt2(settings) if settings["model"] == "gpt2" else make_plain(settings)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    ids = torch.randint(0, 256, (settings["batch"], settings["length"] + 1))

    def step():
        logits = model(ids[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def make_gpt2(settings: dict):
    """GPT-2 of the shape, without dropout."""
    import torch  # pyright: ignore[reportMissingImports]
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=256,
        n_positions=settings["length"],
        n_embd=settings["hidden_dim"],
        n_layer=settings["num_layers"],
        n_head=settings["num_heads"],
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
    )
    gpt2 = GPT2LMHeadModel(config)

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gpt2 = gpt2

        def forward(self, ids):
            return self.gpt2(input_ids=ids, use_cache=False).logits

    return Logits()


def make_plain(settings: dict):
    """Pre-norm blocks with fused attention and nothing else around them."""
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


def answer(what: dict) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
