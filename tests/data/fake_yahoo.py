"""A stand-in for Yahoo Finance on loopback: cookie, crumb, consent page and chart, with faults on demand."""

import datetime
import json
import math
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from zoneinfo import ZoneInfo

from candlecast.data.pace import Pace
from candlecast.data.yahoo_session import WatchedSession

CRUMB = "crumb-of-the-fake"


@dataclass
class Reply:
    """What the server sends instead of a chart."""

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0  # seconds
    truncated: bool = False  # promises more bytes than it sends


def not_found(ticker: str) -> Reply:
    error = {"code": "Not Found", "description": f"No data found, symbol may be delisted: {ticker}"}
    return Reply(404, json.dumps({"chart": {"result": None, "error": error}}))


TOO_MANY = Reply(429, "Too Many Requests\r\n")
BROKEN = Reply(500, "")
WEB_PAGE = Reply(200, "<html><body>Will be right back</body></html>")


@dataclass
class Chart:
    """One ticker's history; a row is (date, open, high, low, close, adjusted close, volume)."""

    rows: list[tuple[datetime.date, Any, Any, Any, Any, Any, Any]]
    zone: str = "America/New_York"
    currency: str = "USD"
    splits: dict[datetime.date, tuple[int, int]] = field(default_factory=dict)
    opens: datetime.time = datetime.time(9, 30)
    adjusted: bool = True
    everything: bool = False  # send rows outside the span asked for, too
    changes: dict[str, Any] = field(default_factory=dict)  # of the result, after it is made

    def stamp(self, day: datetime.date) -> int:
        return int(datetime.datetime.combine(day, self.opens, ZoneInfo(self.zone)).timestamp())

    def answer(self, first: float, after_last: float) -> str:
        rows = [row for row in self.rows if self.everything or first <= self.stamp(row[0]) < after_last]
        names = ("open", "high", "low", "close", "volume")
        columns = {
            name: [row[position] for row in rows]
            for position, name in enumerate(("open", "high", "low", "close", "adj", "volume"), start=1)
        }
        indicators: dict[str, Any] = {"quote": [{name: columns[name] for name in names} if rows else {}]}
        if self.adjusted:
            indicators["adjclose"] = [{"adjclose": columns["adj"]}]
        result: dict[str, Any] = {
            "meta": {
                "currency": self.currency,
                "instrumentType": "EQUITY",
                "exchangeTimezoneName": self.zone,
                "symbol": "X",
            },
            "timestamp": [self.stamp(row[0]) for row in rows],
            "indicators": indicators,
        }
        events = {
            str(self.stamp(day)): {
                "date": self.stamp(day),
                "numerator": new,
                "denominator": old,
                "splitRatio": f"{new}:{old}",
            }
            for day, (new, old) in self.splits.items()
            if first <= self.stamp(day) < after_last
        }
        if events:
            result["events"] = {"splits": events}
        if not rows:
            del result["timestamp"]
        result.update(self.changes)
        return json.dumps({"chart": {"result": [result], "error": None}})


def weekdays(start: str, count: int) -> list[datetime.date]:
    first = datetime.date.fromisoformat(start)
    days = (first + datetime.timedelta(days=offset) for offset in range(2 * count + 7))
    return [day for day in days if day.weekday() < 5][:count]


def walk(dates: Iterable[datetime.date], level: float = 50.0) -> Chart:
    """A smooth, ordinary history; every value has few digits, so that nothing is lost on the way."""
    rows = []
    for number, day in enumerate(dates):
        close = round(level * (1 + 0.1 * math.sin(number / 7)) + 0.01 * number, 2)
        opening = round(close * 0.995, 2)
        high, low = round(close * 1.01, 2), round(close * 0.985, 2)
        rows.append((day, opening, high, low, close, close, 1000 + number))
    return Chart(rows)


class FakeYahoo:
    """The server; `requests` lists each chart request as (ticker, query)."""

    def __init__(self) -> None:
        self.charts: dict[str, Chart] = {}
        # Used up one a request for bars, or for the time zone; None, or no more: it answers well.
        self.faults: dict[str, Iterator[Reply | None]] = {}
        self.zone_faults: dict[str, Iterator[Reply | None]] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.paths: list[str] = []
        self._lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 1 << 16  # one packet a reply: two would wait for each other's acknowledgement

            def do_GET(self) -> None:
                fake._handle(self)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                fake._handle(self)

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def asked_for_bars(self, ticker: str | None = None) -> list[dict[str, str]]:
        """The queries for a span of bars, of one ticker or of all."""
        return [query for name, query in self.requests if "period1" in query and ticker in (None, name)]

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        with self._lock:
            self.paths.append(parts.path)
            reply = self._reply(parts.path, query, handler.headers.get("Cookie") or "")
        threading.Event().wait(reply.delay)
        body = reply.body.encode()
        try:
            handler.send_response(reply.status)
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(body) + (50 if reply.truncated else 0)))
            handler.end_headers()
            handler.wfile.write(body)
            handler.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client went away, or was killed
        handler.close_connection = reply.truncated

    def _reply(self, path: str, query: dict[str, str], cookies: str) -> Reply:
        if path == "/":  # fc.yahoo.com
            return Reply(404, "", {"Set-Cookie": "A3=fake-cookie; Path=/"})
        if path == "/v1/test/getcrumb":
            return Reply(200, CRUMB) if "A3=fake-cookie" in cookies else Reply(401, "")
        if not path.startswith("/v8/finance/chart/"):
            return Reply(404, "<html></html>")
        ticker = unquote(path.removeprefix("/v8/finance/chart/"))
        self.requests.append((ticker, query))
        faults = self.faults if "period1" in query else self.zone_faults
        fault = next(faults.get(ticker, iter(())), None)
        if fault is not None:
            return fault
        if ticker not in self.charts:
            return not_found(ticker)
        chart = self.charts[ticker]
        if "period1" in query:
            return Reply(200, chart.answer(float(query["period1"]), float(query["period2"])))
        return Reply(200, chart.answer(0, 0) if not chart.rows else chart.answer(0, math.inf))


class LoopbackSession(WatchedSession):
    """The real session, with every host's name turned into the fake server's address."""

    def __init__(self, port: int, pace: Pace | None = None, timeout: float = 5.0) -> None:
        super().__init__(pace or Pace(1e9), timeout)
        self._port = port

    def request(self, method: Any, url: str, **options: Any) -> Any:
        parts = urlsplit(url)
        here = parts._replace(scheme="http", netloc=f"127.0.0.1:{self._port}", path=parts.path or "/")
        return super().request(method, here.geturl(), **options)
