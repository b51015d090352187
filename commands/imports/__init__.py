"""Conversations that other programs kept become sessions, with their times, tools and branches."""

from commands.imports.desk import Options
from commands.imports.record import import_file
from commands.imports.report import Imported, Report
from commands.imports.sources import FORMATS, Format

__all__ = ["FORMATS", "Format", "Imported", "Options", "Report", "import_file"]
