"""Conformal prediction and selective classification for two classes, on arrays.

`ragnb.conformal.sets` has p-values and prediction sets, `ragnb.conformal.control` the control of
the selective risk.
"""
