"""Many hosts on one server: each is an address of the loopback network, told apart by the Host header."""

from __future__ import annotations

from itertools import count

from tests.crawl.site_server import NOT_FOUND, Exchange, Route, SiteServer, _answer


class Hosts(SiteServer):
    """A server on all addresses of the machine. Its `sites` map (host with port, path) to a reply."""

    def __init__(self) -> None:
        super().__init__(host="0.0.0.0")
        self.sites: dict[tuple[str, str], Route] = {}
        self._numbers = count(1)
        self.otherwise = self._choose

    def new(self, **routes: Route) -> str:
        """Another host; its origin. `robots`, `home` and other routes by name."""
        number = next(self._numbers)
        place = f"127.1.{number // 250}.{number % 250 + 1}:{self.server_address[1]}"
        for name, route in routes.items():
            self.sites[place, {"robots": "/robots.txt", "home": "/"}.get(name, f"/{name}")] = route
        return f"http://{place}"

    def asked(self, origin: str) -> list[str]:
        """The paths that were asked for on a host, in order."""
        return [exchange.path for exchange in self.exchanges if exchange.headers.get("host") == origin[7:]]

    def _choose(self, exchange: Exchange) -> None:
        _answer(exchange, self.sites.get((exchange.headers.get("host", ""), exchange.path), NOT_FOUND))
