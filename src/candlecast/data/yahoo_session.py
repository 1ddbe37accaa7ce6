"""The connection that yfinance talks through: paced, with our own time-out, and every answer kept.

yfinance turns what went wrong into exceptions that cannot be told apart (an outage, a block and a delisting
may all read "possibly delisted"), and repairs bars before it returns them. The answers themselves say both.
"""

import json
from dataclasses import dataclass
from typing import Any

from curl_cffi import requests

from candlecast.data.pace import Pace


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request."""

    url: str
    status: int  # of HTTP; 0: nothing came back, and `text` says why
    retry_after: float | None  # seconds, where the server asks for a pause
    text: str

    @property
    def is_chart(self) -> bool:
        """Whether bars were asked for, not a cookie or a crumb."""
        return "/v8/finance/chart/" in self.url

    def json(self) -> Any:
        """Return the body as JSON, None where it is none."""
        try:
            return json.loads(self.text)
        except ValueError:
            return None


class WatchedSession(requests.Session[Any]):
    """A browser-like session, as yfinance's own, that waits its turn and remembers what it got."""

    def __init__(self, pace: Pace, timeout: float) -> None:
        super().__init__(impersonate="chrome")
        self.answers: list[Answer] = []
        self._pace = pace
        self._seconds = timeout

    def request(self, method: Any, url: str, **options: Any) -> Any:  # type: ignore[override]
        """Send a request when its turn has come; yfinance's own time-out is replaced."""
        self._pace.wait()
        try:
            response = super().request(method, url, **{**options, "timeout": self._seconds})
        except Exception as error:
            self.answers.append(Answer(url, 0, None, plain(error)))
            raise
        pause = _seconds(response.headers.get("Retry-After"))
        self.answers.append(Answer(str(response.url), response.status_code, pause, response.text))
        return response


def plain(error: Exception) -> str:
    """Return an error in a line, without curl's pointer to its manual."""
    text = " ".join(str(error).split()).split(" See https://", maxsplit=1)[0]
    return f"{type(error).__name__}: {text[:160]}"


def _seconds(header: str | None) -> float | None:
    """Return the header as seconds; its other form, a date, is not worth a clock's error."""
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None
