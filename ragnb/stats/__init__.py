"""Statistics of evaluation: arrays in, frozen results out."""
