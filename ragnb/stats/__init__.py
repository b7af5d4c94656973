"""Statistics on arrays: intervals, paired tests, multiplicity, power, agreement.

Arrays go in, frozen results come out. Import from the defining module; importing this package loads nothing.
"""
