"""Text and token ids: the byte tokenizer and UTF-8."""
