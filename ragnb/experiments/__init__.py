"""Experiments: examples, prompts and a model become a frame of responses."""
