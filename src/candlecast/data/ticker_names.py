"""Tickers as file names: any ticker has one, and none leads out of its folder."""

from typing import Final
from urllib.parse import quote, unquote

_PLAIN: Final = "^=.-_+$!@~() "  # what tickers use and every file system takes


def file_name(ticker: str) -> str:
    """Return a file name for a ticker, which `ticker_of` turns back; BRK/B gives BRK%2FB."""
    name = quote(ticker, safe=_PLAIN)
    return f"%2E{name[1:]}" if name.startswith(".") else name  # neither hidden nor the folder above


def ticker_of(name: str) -> str:
    """Return the ticker of a file name without its suffix."""
    return unquote(name)
