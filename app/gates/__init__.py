"""The Gates tab: gates, weights and hidden states along depth."""
