"""Training and comparing the models: recipes in, checkpoints and records out."""
