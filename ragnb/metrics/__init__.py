"""Metrics as pure functions: values of one response in, one float out."""
