"""A fleet that is told to end, and one that cannot begin."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest

from tests.crawl.site_server import Exchange
from tests.fleet.fleets import Data, run, sites, start
from tests.processes import below, wait_for_end

pytestmark = pytest.mark.exhaustive


def test_sigterm_ends_it_at_once_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))

    with sites(1) as (site,):
        site.routes["/1.xml"] = Exchange.wait_until_client_goes
        with start(tmp_path, [site.url()]) as fleet:
            site.wait_for("/1.xml")
            others = below(fleet.process.pid)
            fleet.process.send_signal(signal.SIGTERM)
            ended = fleet.finish()
    assert ended.code == 3
    assert "0 of 1 domain done" in ended.log
    assert "stopped before the end; run the same command to resume" in ended.log
    assert not list(home.iterdir())
    assert "SIGTERM" not in ended.log
    assert others
    for process in others:
        wait_for_end(process.pid)
    assert not list((Data(tmp_path / "out").folder).rglob("*.parquet"))


def test_a_cluster_where_nobody_listens_is_refused_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"127.0.0.1:{server.getsockname()[1]}"
    refused = run(tmp_path, ["127.0.0.1"], "--address", place)
    assert refused.code == 1
    assert refused.log == f"sitemapcrawler: {place}: [Errno 111] Connection refused\n"
