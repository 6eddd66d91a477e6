"""Access logs: their formats, recognised by content, and SQL that makes requests of their lines.

A log has millions of lines, which DuckDB parses. May import the rest of `reader` and `urls`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

COMMON_LINE = re.compile(r'[^"\[\n]*(?:\[[0-9]{1,9}\]:[^"\[\n]*)?\[[^\]\n]{10,40}\] "(?:[^"\\\n]|\\.)*+" [0-9]{3}\b')
"""A line in the common or combined format, perhaps with the virtual host or a process in front. Its request may be none
of HTTP.

Source: https://httpd.apache.org/docs/current/logs.html#accesslog
"""
VIRTUAL_HOST = "[A-Za-z0-9][A-Za-z0-9.-]*[.][A-Za-z]{2,}(?::[0-9]+)?"
ADDRESS = "[0-9]{1,3}(?:[.][0-9]{1,3}){3}|[0-9a-fA-F]*(?::[0-9a-fA-F]*){3,}[0-9.]*"
"""An address of either family, and no time."""
TIME = "%d/%b/%Y:%H:%M:%S %z"
"""Of the common format: `01/May/2026:10:00:00 +0000`."""
TIME_LENGTH = 26
FIELDS = "#Fields:"
"""Start of the line with the names of columns (W3C extended log file format)."""
MAX_URL = 8192
"""Bytes of a requested URL; CloudFront's limit, and more than servers and crawlers take by default."""
MAX_AGENT = 1000
"""Bytes of a user agent; those of crawlers have at most 300."""


@dataclass(frozen=True, slots=True)
class LogFormat:
    """A format of access logs."""

    name: str
    """For people."""
    requests: str
    """SQL query over the table `lines` with the column `line`: `host`, `scheme`, `target`, `method`, `status`, `asked`
    (in UTC), `agent` (user agent) and `address`; null if unknown, `target` also if the line is damaged."""


def log_format(first: Sequence[str]) -> LogFormat | None:
    """Recognise a log by its first lines. None if they are no log."""
    if any(map(COMMON_LINE.match, first)):
        return COMMON
    fields = next((line[len(FIELDS) :].split() for line in first if line.startswith(FIELDS)), None)
    if fields is not None:
        return with_columns(fields) if {*fields} >= IIS_NAMES else None
    if any(map(BALANCER_LINE.match, first)):
        return BALANCER
    values = [_object(line) for line in first if line.startswith("{")]
    wrapped = (made for value in values for path, made in WRAPPERS.items() if COMMON_LINE.match(_text(value, path)))
    known = (made for value in values for paths, made in JSON_FORMATS if _has(value, paths))
    return next(chain(wrapped, known), None)


def with_columns(names: Sequence[str]) -> LogFormat:
    """Return the W3C format with these columns. What has no column is unknown."""
    return _cloudfront(names) if {*names} >= CLOUDFRONT_NAMES else _iis(names)


def _object(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _has(value: object, paths: Iterable[str]) -> bool:
    """True if an object has all of these members, each by its JSON pointer, or by several as alternatives."""
    return all(any(_at(value, path) for path in text.split()) for text in paths)


def _at(value: object, path: str) -> bool:
    for part in path.split("/")[1:]:
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return True


def _text(value: object, path: str) -> str:
    """The text of a member of an object; empty if it has none."""
    text = value.get(path.removeprefix("/")) if isinstance(value, Mapping) else None
    return text if isinstance(text, str) else ""


def _number_or_date(text: str) -> str:
    """SQL for a time: ISO 8601, `TIME`, or a number of seconds, milliseconds, microseconds or nanoseconds."""
    number = f"try_cast({text} AS DOUBLE)"
    power = f"3 * greatest(0, floor((log10({number}) - 9) / 3))"
    zoned = f"coalesce(try_cast({text} AS TIMESTAMPTZ), try_strptime(trim({text}, '[]'), '{TIME}'))"
    made = f"TRY(make_timestamp(try_cast({number} / pow(10, {power}) * 1e6 AS BIGINT)))"
    return f"coalesce({made}, {zoned} AT TIME ZONE 'UTC')"


def _client(forwarded: str, sender: str) -> str:
    """SQL for who asked: the addresses in `X-Forwarded-For`, if a proxy has added any, or else who sent the request."""
    has_any = f"{forwarded} <> '-' AND regexp_matches({forwarded}, '^({ADDRESS})(,|$)')"
    return f"CASE WHEN {has_any} THEN {forwarded} ELSE {sender} END"


def _without_port(url: str) -> str:
    """SQL for a URL without the default port."""
    return f"regexp_replace({url}, '^(http://[^/]+):80/|^(https://[^/]+):443/', '\\1\\2/')"


def _common(lines: str) -> LogFormat:
    """The common and combined formats of Apache and nginx, whose own configuration adds `X-Forwarded-For`. `lines`: SQL
    for a table with the column `line`. What carries the lines may write a time and names before them."""
    first = f"regexp_extract(before, '(?:^| )({ADDRESS})(?:[ ,]|$)', 1)"
    sender = f"""CASE WHEN len(lead) = 3 THEN lead[1] WHEN is_virtual THEN lead[2]
                      ELSE coalesce(nullif({first}, ''), lead[1]) END"""
    # Apache and nginx write quotes and backslashes as \" and \\, other bytes as \x22: in a URL these are escapes.
    return LogFormat(
        "access log",
        rf"""
        SELECT CASE WHEN is_virtual THEN split_part(lead[1], ':', 1) END AS host, NULL AS scheme,
               CASE WHEN len(request) IN (2, 3) AND is_method AND contains(quoted[1], '[')
                         AND status IS NOT NULL THEN request[2] END AS target,
               request[1] AS method, status,
               coalesce(try_strptime(left(bracketed, {TIME_LENGTH}), '{TIME}') AT TIME ZONE 'UTC',
                        {_number_or_date("split_part(bracketed, ']', 1)")}) AS asked,
               quoted[6] AS agent, {_client("quoted[8]", sender)} AS address
        FROM (
            SELECT *, string_split(before, ' ') AS lead,
                   CASE WHEN len(lead) = 3 THEN false ELSE regexp_full_match(lead[1], '{VIRTUAL_HOST}') END
                       AS is_virtual,
                   CASE WHEN request[1] = 'GET' THEN true ELSE regexp_full_match(request[1], '[A-Z]+') END AS is_method
            FROM (
                SELECT quoted, string_split(quoted[2], ' ') AS request, split_part(quoted[1], '[', -1) AS bracketed,
                       try_cast(substr(quoted[3], 2, 3) AS USMALLINT) AS status,
                       rtrim(left(quoted[1], -1 - len(bracketed))) AS before
                FROM (
                    SELECT string_split(
                        CASE WHEN contains(line, '\') THEN regexp_replace(
                            replace(replace(line, '\\', '%5C'), '\"', '%22'), '\\x([0-9A-Fa-f]{{2}})', '%\1', 'g')
                        ELSE line END, '"') AS quoted
                    FROM {lines})))""",
    )


COMMON = _common("lines")
WRAPPERS = {
    path: _common(f"(SELECT TRY(json_extract_string(line, '{path}')) AS line FROM lines)")
    for path in ("/log", "/message")
}
"""Formats of the same lines as members of JSON, as Docker and Filebeat write them, by their place."""


BALANCER_LINE = re.compile(r'(?:\w+ )?[0-9-]{10}T[0-9:.]+Z \S+ \S+:[0-9]+ \S+(?: -?[0-9.]+){3}(?: [0-9-]+){4} "')
BALANCER = LogFormat(
    "AWS load balancer log",
    f"""
    SELECT NULL AS host, NULL AS scheme, split_part(quoted[2], ' ', 1) AS method,
           {_without_port("split_part(quoted[2], ' ', 2)")} AS target,
           try_cast(lead[-4] AS USMALLINT) AS status, try_cast(lead[-11] AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS asked,
           quoted[4] AS agent, lead[-9] AS address
    FROM (
        SELECT quoted, string_split(rtrim(quoted[1]), ' ') AS lead
        FROM (SELECT string_split(replace(line, '\\"', '%22'), '"') AS quoted FROM lines))""",
)
"""Of Application Load Balancers, and of classic ones, which have no type in front.

Source: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html
"""


def _json(name: str, **pointers: str) -> LogFormat:
    """JSON lines. `pointers`: to the members, by column; several, separated by blanks, are alternatives. Method and
    target may be in one line, that of the request. Optional: `query` and `forwarded`."""
    paths = list(dict.fromkeys(path for text in pointers.values() for path in text.split()))
    member = {path: f"values[{at}]" for at, path in enumerate(paths, 1)}
    of = {column: f"coalesce({', '.join(member[path] for path in text.split())})" for column, text in pointers.items()}
    query = f"|| coalesce('?' || nullif({of['query']}, ''), '')" if "query" in of else ""
    address = _client(of["forwarded"], of["address"]) if "forwarded" in of else of["address"]
    return LogFormat(
        name,
        f"""
        SELECT {of["host"]} AS host, {of["scheme"]} AS scheme,
               coalesce(nullif(split_part({of["target"]}, ' ', 2), ''), {of["target"]}) {query} AS target,
               split_part({of["method"]}, ' ', 1) AS method, try_cast({of["status"]} AS USMALLINT) AS status,
               {_number_or_date(of["at"])} AS asked, {of["agent"]} AS agent, {address} AS address
        FROM (SELECT TRY(json_extract_string(line, {paths})) AS values FROM lines)""",
    )


CLOUDFLARE = _json(
    "Cloudflare log",
    host="/ClientRequestHost",
    scheme="/ClientRequestScheme",
    target="/ClientRequestURI /ClientRequestPath",
    method="/ClientRequestMethod",
    status="/EdgeResponseStatus",
    at="/EdgeStartTimestamp /EdgeEndTimestamp",
    agent="/ClientRequestUserAgent",
    address="/ClientIP",
)
"""Logpush, data set `http_requests`.

Source: https://developers.cloudflare.com/logs/reference/log-fields/zone/http_requests/
"""
CADDY = _json(
    "Caddy log", host="/request/host", scheme="/request/scheme", target="/request/uri", method="/request/method",
    status="/status", at="/ts", agent="/request/headers/User-Agent/0",
    address="/request/client_ip /request/remote_ip /request/remote_addr",
)  # fmt: skip
"""Source: https://caddyserver.com/docs/logging"""
TRAEFIK = _json(
    "Traefik log", host="/RequestHost", scheme="/RequestScheme", target="/RequestPath", method="/RequestMethod",
    status="/DownstreamStatus", at="/StartUTC /time", agent="/request_User-Agent", address="/ClientHost",
)  # fmt: skip
"""Source: https://doc.traefik.io/traefik/observability/access-logs/"""
GOOGLE = _json(
    "Google Cloud log", host="/httpRequest/host", scheme="/httpRequest/scheme", target="/httpRequest/requestUrl",
    method="/httpRequest/requestMethod", status="/httpRequest/status", at="/timestamp /time /receiveTimestamp",
    agent="/httpRequest/userAgent", address="/httpRequest/remoteIp",
)  # fmt: skip
"""Of load balancers and Cloud Run; the requested URL has the host.

Source: https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry#HttpRequest
"""
_AZURE = _json(
    "Azure log", host="/properties/originalHost /properties/host", scheme="/properties/scheme",
    target="/properties/requestUri", query="/properties/requestQuery", method="/properties/httpMethod",
    status="/properties/httpStatusCode /properties/httpStatus", at="/time /timeStamp",
    agent="/properties/userAgent", address="/properties/clientIp /properties/clientIP",
)  # fmt: skip
AZURE = replace(_AZURE, requests=f"SELECT * REPLACE ({_without_port('target')} AS target) FROM ({_AZURE.requests})")
"""Of Front Door, whose requested URL has host and port, and of Application Gateway.

Source: https://learn.microsoft.com/azure/frontdoor/monitor-front-door-reference,
https://learn.microsoft.com/azure/application-gateway/monitor-application-gateway-reference
"""
VERCEL = _json(
    "Vercel log", host="/proxy/host", scheme="/proxy/scheme", target="/proxy/path", method="/proxy/method",
    status="/proxy/statusCode", at="/proxy/timestamp /timestamp", agent="/proxy/userAgent/0", address="/proxy/clientIp",
)  # fmt: skip
"""Source: https://vercel.com/docs/drains/reference/logs"""
_AKAMAI = _json(
    "Akamai log", host="/reqHost", scheme="/scheme", target="/reqPath", query="/queryStr", method="/reqMethod",
    status="/statusCode", at="/reqTimeSec", agent="/UA", address="/cliIP",
)  # fmt: skip
AKAMAI = replace(
    _AKAMAI, requests=f"SELECT * REPLACE (coalesce(TRY(url_decode(agent)), agent) AS agent) FROM ({_AKAMAI.requests})"
)
"""DataStream 2, which escapes blanks. Source: https://techdocs.akamai.com/datastream2/docs/data-set-parameters"""
REQUESTS = "/request_uri /request /url /uri /path"
METHODS = "/request_method /method /request"
STATUSES = "/status /response_status /status_code /response_code"
AGENTS = "/http_user_agent /user_agent /request_user_agent /userAgent /agent"
CHOSEN = _json(
    "access log in JSON", host="/host /http_host /server_name /vhost /authority", scheme="/scheme", target=REQUESTS,
    method=METHODS, status=STATUSES, at="/time_iso8601 /time_local /msec /@timestamp /timestamp /time /start_time",
    agent=AGENTS, address="/remote_addr /client_ip /remote_ip /remoteIP /downstream_remote_address",
    forwarded="/http_x_forwarded_for /x_forwarded_for",
)  # fmt: skip
"""Members that the administrator has chosen, as in `log_format` of nginx: names of its variables, and usual ones.

Source: https://nginx.org/en/docs/varindex.html
"""
CLOUDFRONT_NAMES = frozenset({"date", "time", "cs-method", "cs-uri-stem", "sc-status", "cs(User-Agent)", "cs-protocol"})
"""Columns that tell CloudFront's logs from others of the W3C format."""
IIS_NAMES = CLOUDFRONT_NAMES - {"cs-protocol"}
"""Columns that a log of IIS has by default."""


def _cloudfront(fields: Sequence[str]) -> LogFormat:
    """Tab-separated standard logs with these columns.

    Source: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html
    """
    cell = {name: f"cells[{at}]" for at, name in enumerate(fields, 1)}
    return _of_cloudfront(cell, "SELECT string_split(line, chr(9)) AS cells FROM lines")


def _cloudfront_json() -> LogFormat:
    names = [*sorted(CLOUDFRONT_NAMES), "cs-uri-query", "x-host-header", "cs(Host)", "c-ip"]
    paths = [f"/{name}" for name in names]
    cell = {name: f"cells[{at}]" for at, name in enumerate(names, 1)}
    return _of_cloudfront(cell, f"SELECT TRY(json_extract_string(line, {paths})) AS cells FROM lines")


def _of_cloudfront(cell: Mapping[str, str], cells: str) -> LogFormat:
    """`cell`: SQL for each column. Values are escaped twice."""
    return _w3c("CloudFront log", cell, cells, "TRY(url_decode({}))".format, "TRY(url_decode({}))".format)


def _iis(fields: Sequence[str]) -> LogFormat:
    """Logs of IIS, separated by blanks, for which user agents have `+`.

    Source: https://learn.microsoft.com/en-us/windows/win32/http/w3c-logging
    """
    cell = {name: f"cells[{at}]" for at, name in enumerate(fields, 1)}
    cells = "SELECT string_split(line, ' ') AS cells FROM lines"
    return _w3c("IIS log", cell, cells, "{}".format, "replace({}, '+', ' ')".format)


def _w3c(
    name: str, cell: Mapping[str, str], cells: str, url: Callable[[str], str], agent: Callable[[str], str]
) -> LogFormat:
    """`cell`: SQL for each column, `-` where a value is missing; `url`, `agent`: SQL that decodes SQL for one."""
    value = defaultdict(lambda: "NULL::VARCHAR", {name: f"nullif({place}, '-')" for name, place in cell.items()})
    host = ", ".join(value[name] for name in ("x-host-header", "cs(Host)", "cs-host") if name in value)
    address = _client(value["X-Forwarded-For"], value["c-ip"])
    return LogFormat(
        name,
        f"""
        SELECT {f"coalesce({host}, NULL)" if host else "NULL"} AS host, {value["cs-protocol"]} AS scheme,
               {url(f"{value['cs-uri-stem']} || coalesce('?' || {value['cs-uri-query']}, '')")} AS target,
               {value["cs-method"]} AS method, try_cast({value["sc-status"]} AS USMALLINT) AS status,
               try_cast({value["date"]} || ' ' || {value["time"]} AS TIMESTAMP) AS asked,
               {agent(value["cs(User-Agent)"])} AS agent, {address} AS address
        FROM ({cells})""",
    )


JSON_FORMATS: Sequence[tuple[Sequence[str], LogFormat]] = (
    (("/ClientRequestURI", "/EdgeResponseStatus"), CLOUDFLARE),
    (("/request/uri", "/request/headers", "/status"), CADDY),
    (("/cs-uri-stem", "/sc-status"), _cloudfront_json()),
    (("/RequestPath", "/DownstreamStatus"), TRAEFIK),
    (("/httpRequest/requestUrl", "/httpRequest/requestMethod"), GOOGLE),
    (("/properties/requestUri", "/properties/httpMethod", "/properties/userAgent"), AZURE),
    (("/proxy/path", "/proxy/statusCode"), VERCEL),
    (("/reqPath", "/statusCode"), AKAMAI),
    ((REQUESTS, METHODS, STATUSES, AGENTS), CHOSEN),  # of lists of pages, not even one of requests has user agents
)
"""Formats of JSON lines, each with the members by which it is recognised."""


def crawler_pattern(names: Iterable[str]) -> str:
    """RE2 expression that finds the first of these product tokens in a user agent, the longest where several begin at
    one place. A token does not continue: `Googlebot` is not found in `Googlebot-Image`."""
    tokens = "|".join(re.escape(name) for name in sorted(names, key=lambda name: -len(name)))
    return f"(?i)(?:^|[^a-z0-9_-])({tokens})(?:$|[^a-z0-9_-])"
