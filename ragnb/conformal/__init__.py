"""Conformal prediction on arrays: ranks, p-values and prediction sets, control of the error among the decided.

Probabilities and labels go in; sets, p-values and frozen results come out. Import from the defining module; importing this
package loads nothing.
"""
