"""Formats of files with responses: those of evaluation tools, of benchmarks, and of wide tables."""

from importlib import import_module

from ragnb.datasets.formats.registry import FORMATS, Format, file_format

# If a content matches several formats, the one that was registered first reads it, so that the
# order of these modules counts.
for _module in ("tools", "benchmarks", "wide"):
    import_module(f"ragnb.datasets.formats.{_module}")

__all__ = ["FORMATS", "Format", "file_format"]
