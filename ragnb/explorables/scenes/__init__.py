"""The explorables, one per module. Every module in this folder is loaded, so it only has to be added."""

from importlib import import_module
from pkgutil import iter_modules

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")
