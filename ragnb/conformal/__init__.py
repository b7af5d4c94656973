"""Conformal prediction and selective classification for two classes, on arrays.

`ragnb.conformal.sets` computes conformal p-values and prediction sets. `ragnb.conformal.control`
controls the selective risk, which is the error rate among accepted labels.
"""
