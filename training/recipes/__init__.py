"""What is trained: recipes, the library of named ones, ablations."""
