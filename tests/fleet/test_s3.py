"""A fleet whose results go to a bucket, on a real server of S3 that fails in the middle."""

from __future__ import annotations

import io
from collections.abc import Iterator

import boto3
import pyarrow.parquet as pq
import pytest
from fsspec.asyn import reset_lock
from s3fs import S3FileSystem

from sitemapcrawler.fleet.domains import domain
from sitemapcrawler.fleet.output import OutputFailed
from sitemapcrawler.fleet.task import crawl_domain
from tests.crawl.crawling import Crawl
from tests.fleet.fleets import TABLES, WITHOUT_RAY, Site, plan, run, sites
from tests.unit.fleet.object_servers import BUCKET, S3_ENVIRONMENT, Fault, Proxy, environment, proxy, s3_server

pytestmark = pytest.mark.slow

PREFIX = "audits/one"
OUT = f"s3://{BUCKET}/{PREFIX}"


@pytest.fixture(scope="module")
def server(alone: None) -> Iterator[Proxy]:
    with s3_server() as url, proxy(url) as state, environment(S3_ENVIRONMENT | {"AWS_ENDPOINT_URL": state.url}):
        yield state


@pytest.fixture(scope="module")
def net(alone: None) -> Iterator[list[Site]]:
    with sites(3) as servers:
        yield servers


def objects(server: Proxy) -> dict[str, bytes]:
    """What is in the data set. By a client without threads: those of another may be in another network."""
    client = boto3.client("s3", endpoint_url=server.url)
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=f"{PREFIX}/")
    keys = [one["Key"] for page in pages for one in page.get("Contents", ())]
    return {key.removeprefix(f"{PREFIX}/"): client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}


def urls_of(server: Proxy) -> dict[str, int]:
    """Rows of each domain in the table of URLs, all files read whole."""
    found: dict[str, int] = {}
    for name, data in objects(server).items():
        if name.startswith("url/"):
            rows = pq.read_table(io.BytesIO(data)).to_pylist()
            assert len({row["loc"] for row in rows}) == len(rows)
            found[rows[0]["domain"]] = found.get(rows[0]["domain"], 0) + len(rows)
    return found


@pytest.fixture(scope="module")
def domains(net: list[Site]) -> list[str]:
    return [site.url() for site in net]


def leave_network() -> None:
    """Forget the thread that stays in the network in which it was started."""
    S3FileSystem.clear_instance_cache()
    reset_lock()


@pytest.fixture(scope="module")
def broken(server: Proxy, domains: list[str]) -> Iterator[set[str]]:
    """The objects after a task of a fleet whose store fails behind the URLs of a domain, before its row."""
    server.faults = [Fault("PUT", "/finding/")]
    leave_network()
    with pytest.raises(OutputFailed):
        crawl_domain(domain(domains[0]), plan(OUT), 1)
    yield {*objects(server)}
    leave_network()


@pytest.fixture(scope="module")
def again(broken: set[str], server: Proxy, domains: list[str], tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """The next run, in which the store fails twice for the row of a domain."""
    server.faults = [Fault("PUT", "/domain/", times=2)]
    return run(tmp_path_factory.mktemp("again"), domains, out=OUT, command=WITHOUT_RAY)


def test_an_error_in_the_middle_leaves_no_row(broken: set[str]) -> None:
    assert broken
    assert all(name.startswith(("url/", "sitemap/", "_")) for name in broken)


def test_the_next_run_completes(again: Crawl, server: Proxy, net: list[Site]) -> None:
    names = {name for name in objects(server) if not name.startswith("_")}
    assert {name.partition("/")[0] for name in names} == {*TABLES, "summary.parquet", "report.html"}
    assert len(names) == len(TABLES) * len(net) + 2
    assert urls_of(server) == {site.url(): site.listed for site in net}


def test_a_domain_is_tried_again_where_the_store_fails_once(again: Crawl, server: Proxy) -> None:
    assert again.code == 0
    assert [fault.times for fault in server.faults] == [0]
    assert "Found credentials" not in again.log
