"""Statistics on arrays: intervals, paired tests, multiplicity, power and agreement.

The functions take arrays and return immutable results. Import them from the modules that define
them, because importing this package does not import its modules.
"""
