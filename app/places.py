"""The places in a block that gates act on, in words."""

# Places that gates act on, as readers see them.
NAMES = {
    "attention_in": "attention input",
    "attention_out": "attention output",
    "up": "MLP up",
    "down": "MLP down",
    "A": "A (decay)",
    "B": "B (into the state)",
    "C": "C (out of the state)",
    "D": "D (skip)",
    "delta": "delta (step size)",
}
# What they act on, in plain words.
MEANINGS = {
    "attention_in": "what queries, keys and values read of each unit of the hidden state",
    "attention_out": "what attention adds to each unit of the hidden state",
    "up": "each unit of the MLP's wide layer, on the way in",
    "down": "what the MLP adds to each unit of the hidden state",
    "A": "how fast each state of a channel forgets",
    "B": "what each state takes in from the text",
    "C": "what is read out of each state",
    "D": "what goes past the states of each channel",
    "delta": "how large a step each channel makes from one byte to the next",
}
