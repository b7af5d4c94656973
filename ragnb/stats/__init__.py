"""Statistical functions of arrays: intervals, paired tests, corrections, power and agreement.

Import each function from its module, for example ``from ragnb.stats.paired import tost``. Importing
`ragnb.stats` alone does not import its modules.
"""
