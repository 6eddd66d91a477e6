"""A browser without a network: Chromium, to which a function of ours answers each request of a page.

No request leaves the browser itself. It can resolve no name, and its proxy does not exist, so that what Playwright does
not intercept (WebSockets, WebRTC, prefetching) fails. The answers come from Scrapy's downloader,
with the address guard, delays and limits of all other requests.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import time
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sitemapcrawler.processes import own_memory
from sitemapcrawler.replies.rendered import MAX_HTML, RenderResult
from sitemapcrawler.urls.display import first_line, quoted

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, CDPSession, Page, Request, Route

PACKAGE = "playwright"
VARIABLE = "CHROME_PATH"
"""Environment variable with the browser, as for Lighthouse. No setting: no configuration file may choose a program."""
COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Commands that start Chromium."""
FOLDERS = ("~/.cache/ms-playwright", "~/Library/Caches/ms-playwright", "~/AppData/Local/ms-playwright")
"""Where Playwright installs its own. Source: https://playwright.dev/python/docs/browsers#managing-browser-binaries"""
NO_NETWORK = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://proxy.invalid:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
"""Switches that take the network from Chromium: no name or address is resolved, not even that of the proxy, which
loopback addresses need too; WebRTC sends nothing past it. Source:
https://source.chromium.org/chromium/chromium/src/+/main:net/docs/proxy.md"""
HEAP_MIB = 512
"""MiB that the objects of a page's scripts may take: a page needs some 50, and V8 allows 4,096."""
MEMORY = 2**31
"""Bytes of data that a process of the browser may have, where the system limits it: a page needs some 200 MB."""
WIDTH, HEIGHT = 1024, 10_000
"""Pixels of the window, as high as that of Google's renderer: what loads when it is scrolled to is there."""
SANDBOX = "sandbox allow-scripts allow-same-origin"
"""Content-Security-Policy of rendered pages: no dialogs, windows, forms or downloads.
Source: https://www.w3.org/TR/CSP3/#directive-sandbox"""
ROUNDS, ROUND_MS = 5, 1_000
"""Rounds, and milliseconds of a page's own clock in each: as long as Google's renderer is known to wait. The clock
stands while requests run, and skips the time until the next timer. Source:
https://chromedevtools.github.io/devtools-protocol/tot/Emulation/#method-setVirtualTimePolicy"""
FRAME_S = 1
"""Seconds in which a page must be drawn after a round, for observers of what is in view."""
QUIET_S = 15
"""Seconds without a request after which a page counts as busy: its rounds take less than one on an idle machine."""
PAGE_S = 90
"""Seconds that a page may take at most: requests wait for the delays of their hosts."""
CLOSE_S = 5
"""Seconds in which a page must give its HTML, or be closed; then the browser is ended."""
MAX_INTERCEPTED = 2_000
"""Requests that a page may begin: ten times those of a large one. Each takes a millisecond of ours."""
LOADED = frozenset(("script", "xhr", "fetch"))
"""Types of requests that are made: what may change the elements of a page. Others fail, as documents in frames do."""
WITHOUT_BODY = ("GET", "HEAD")
ENDED = "the browser ended"
EXIT = re.compile(r"process did exit: ([^>]*)")
"""How a process ended, in the messages of Playwright."""
PIXEL = b64decode("R0lGODlhAQABAAAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")
STOOD_IN = {"stylesheet": ("text/css", b""), "image": ("image/gif", PIXEL)}
"""{type of request: media type and body in place of an answer}, so that scripts that wait for these continue."""
READ_HTML = f"(text => text.length > {MAX_HTML} ? null : text)(document.documentElement.outerHTML)"
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))"


class NoBrowser(Exception):
    """There is no browser, or it does not start."""


def lacking() -> str | None:
    """Why no page can be rendered here; None if a browser and its driver are found. Starts neither."""
    if sys.platform == "win32":
        return "does not work on Windows, where Scrapy's event loop starts no other program"
    if find_spec(PACKAGE) is None:
        return "needs another package: pip install 'scrapy-sitemapcrawler[render]'"
    named = os.environ.get(VARIABLE)
    if named and shutil.which(named) is None:
        return f"{VARIABLE} names no program: {named}"
    if named or _command() or _is_installed():
        return None
    return f"needs Chromium: install it, run 'playwright install chromium', or name its program in {VARIABLE}"


def _command() -> str | None:
    return os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, COMMANDS)), None)


def _is_installed() -> bool:
    folders = (os.environ.get("PLAYWRIGHT_BROWSERS_PATH"), *FOLDERS)
    return any(any(Path(folder).expanduser().glob("chromium*-*")) for folder in folders if folder)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of a page."""

    url: str
    method: str
    headers: Mapping[str, str]
    """Those that the page or the browser has set, names in lower case."""
    body: bytes | None
    is_script: bool


@dataclass(frozen=True, slots=True)
class Loaded:
    """The answer that a page gets."""

    status: int
    headers: dict[str, str]
    body: bytes


Load = Callable[[Asked], Awaitable[Loaded | None]]
"""Answers a request; None lets it fail."""


@dataclass(slots=True)
class Snapshot:
    """A page as its scripts have left it."""

    result: RenderResult
    html: str | None = None
    """Its elements; None if it could not be read, or is longer than `MAX_HTML`."""
    note: str | None = None


@dataclass  # without slots: Playwright adds attributes to the owner of a handler
class Visit:
    """One page in the browser. `document`: the answer to its URL; `load`: answers all other requests."""

    document: Loaded
    load: Load
    ended: asyncio.Future[tuple[RenderResult, str | None]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    begun: int = 0
    """Requests so far."""
    running: int = 0
    """Requests without an answer."""
    active: float = field(default_factory=time.monotonic)
    """When the last one was answered."""

    def end(self, result: RenderResult, note: str | None = None) -> None:
        """End the visit; only the first call counts."""
        if not self.ended.done():
            self.ended.set_result((result, note))

    async def answer(self, route: Route, request: Request) -> None:
        self.begun += 1
        self.running += 1
        if self.begun > MAX_INTERCEPTED:
            self.end(RenderResult.LIMIT, f"more than {MAX_INTERCEPTED:,} requests")
        try:
            loaded = None if self.ended.done() else await self._loaded(request)
            if loaded is None:
                await route.abort("aborted" if request.is_navigation_request() else "failed")
            else:
                await route.fulfill(status=loaded.status, headers=loaded.headers, body=loaded.body)
        except _error():
            pass  # the page has gone
        finally:
            self.running -= 1
            self.active = time.monotonic()

    async def _loaded(self, request: Request) -> Loaded | None:
        kind = request.resource_type
        if request.is_navigation_request():
            if self.begun == 1:
                return self.document
            if request.frame.parent_frame is None:
                self.end(RenderResult.REDIRECTED, f"a script or refresh leads to {quoted(request.url)}")
            return None
        if kind in STOOD_IN:
            media_type, content = STOOD_IN[kind]
            return Loaded(200, {"content-type": media_type, "access-control-allow-origin": "*"}, content)
        if kind not in LOADED:
            return None
        body = request.post_data_buffer if request.method not in WITHOUT_BODY else None
        return await self.load(Asked(request.url, request.method, request.headers, body, kind == "script"))

    async def wait(self) -> tuple[RenderResult, str | None]:
        """Wait for the end of the visit: its result and a note."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PAGE_S):
                while not self.ended.done() and (left := self._quiet_for()) > 0:
                    await asyncio.wait((self.ended,), timeout=left)
        self.end(RenderResult.TIMEOUT, "its scripts did not finish")
        return self.ended.result()

    def _quiet_for(self) -> float:
        """Seconds that the page may still be without a request."""
        return QUIET_S if self.running else self.active + QUIET_S - time.monotonic()


class Browser:
    """Renders one page at a time; to be used as a context. A page that does not end in order takes the browser with it,
    and the next page gets another one."""

    def __init__(self) -> None:
        self._visit: Visit | None = None
        self._driver: Any = None  # Any: Playwright, which is imported late
        self._chromium: Chromium | None = None

    async def __aenter__(self) -> Self:
        """Start the browser. Raises NoBrowser."""
        try:
            await self._start()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """End all processes of the browser."""
        driver, self._driver, self._chromium = self._driver, None, None
        if driver is not None:
            await driver.stop()

    def stop(self) -> None:
        self._end(RenderResult.STOPPED)

    def _end(self, result: RenderResult, note: str | None = None) -> None:
        if self._visit is not None:
            self._visit.end(result, note)

    async def render(self, url: str, user_agent: str, document: Loaded, load: Load) -> Snapshot:
        """Render a page. Raises NoBrowser if another browser is needed, and does not start.

        `document`: the answer to `url`; `user_agent`: what scripts of the page are told.
        """
        if self._chromium is None or not self._chromium.is_connected():
            await self.__aexit__()
            await self._start()
        assert self._chromium is not None
        visit = self._visit = Visit(document, load)
        snapshot = Snapshot(RenderResult.CRASHED, note=ENDED)
        try:
            async with asyncio.timeout(PAGE_S + 2 * CLOSE_S):
                context = await self._chromium.new_context(
                    user_agent=user_agent,
                    viewport={"width": WIDTH, "height": HEIGHT},
                    service_workers="block",
                    accept_downloads=False,
                )
                snapshot = await self._snapshot(url, visit, context)
                if snapshot.result in (RenderResult.RENDERED, RenderResult.REDIRECTED):
                    await context.close()
                    return snapshot
        except (TimeoutError, _error()):
            pass
        finally:
            self._visit = None
        await self.__aexit__()
        return snapshot

    async def _snapshot(self, url: str, visit: Visit, context: BrowserContext) -> Snapshot:
        await context.route("**/*", visit.answer)
        page = await context.new_page()
        page.on("crash", lambda _: visit.end(RenderResult.CRASHED, "out of memory, or a fault of the browser"))
        script = Script(page, await context.new_cdp_session(page))
        opening = asyncio.ensure_future(script.run(url, visit))
        result, note = await visit.wait()
        opening.cancel()
        if result in (RenderResult.REDIRECTED, RenderResult.CRASHED, RenderResult.STOPPED):
            return Snapshot(result, None, note)
        with suppress(TimeoutError, _error()):
            async with asyncio.timeout(CLOSE_S):
                html = await script.evaluate(READ_HTML)
                if html is not None:
                    return Snapshot(result, html, note)
                return Snapshot(RenderResult.LIMIT, None, f"more than {MAX_HTML:,} characters of HTML")
        return Snapshot(result if note else RenderResult.TIMEOUT, None, note or "it did not give its HTML")

    async def _start(self) -> None:
        from playwright.async_api import async_playwright

        try:
            with limited_memory():
                self._driver = await async_playwright().start()
                self._chromium = await self._driver.chromium.launch(
                    executable_path=_command(),
                    chromium_sandbox=not _is_root(),
                    args=[*NO_NETWORK, f"--js-flags=--max-old-space-size={HEAP_MIB}"],
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
            self._chromium.on("disconnected", lambda _: self._end(RenderResult.CRASHED, ENDED))
        except (OSError, _error()) as error:
            raise NoBrowser(_why_not(error)) from None


class Script:
    """Our own script in a page, with which those of the page cannot interfere, and the page's clock."""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self._page, self._session = page, session
        self._over = asyncio.Event()
        session.on("Emulation.virtualTimeBudgetExpired", lambda _: self._over.set())

    async def run(self, url: str, visit: Visit) -> None:
        """Open a page, give it its time, and end the visit."""
        try:
            await self._page.goto(url, wait_until="commit", timeout=0)
            for _ in range(ROUNDS):
                self._over.clear()
                policy = {"policy": "pauseIfNetworkFetchesPending", "budget": ROUND_MS}
                await self._session.send("Emulation.setVirtualTimePolicy", policy)
                await self._over.wait()
                with suppress(TimeoutError):
                    async with asyncio.timeout(FRAME_S):
                        await self.evaluate(DRAWN)
            visit.end(RenderResult.RENDERED)
        except _error() as error:
            visit.end(RenderResult.CRASHED, first_line(error))

    async def evaluate(self, expression: str) -> str | None:
        """The value of an expression, a text or null."""
        frames = await self._session.send("Page.getFrameTree")
        world = await self._session.send("Page.createIsolatedWorld", {"frameId": frames["frameTree"]["frame"]["id"]})
        found = await self._session.send(
            "Runtime.evaluate",
            {
                "expression": expression,
                "contextId": world["executionContextId"],
                "returnByValue": True,
                "awaitPromise": True,
            },
        )
        value: str | None = found["result"].get("value")
        return value


@contextmanager
def limited_memory() -> Iterator[None]:
    """Give `MEMORY` to the processes that are started meanwhile: they take over our limit, which is back afterwards.

    Until then it is our own too, so a large crawl gives a multiple that leaves it half as much: with other numbers
    Chromium ends."""
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    given = MEMORY * ((own_memory("VmData") + MEMORY // 2) // MEMORY + 1)
    if soft != resource.RLIM_INFINITY:
        given = min(given, soft)
    resource.setrlimit(resource.RLIMIT_DATA, (given, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _is_root() -> bool:
    """True for the superuser, as in a container, whom Chromium gives no sandbox."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _error() -> type[Exception]:
    """What Playwright raises."""
    from playwright.async_api import Error

    error: type[Exception] = Error  # of any type, where Playwright is not installed
    return error


def _why_not(error: Exception) -> str:
    """Why a browser did not start, in one line."""
    text = str(error)
    if "sandboxing failed" in text:
        return "its sandbox needs user namespaces, which this machine or container does not allow"
    ended = EXIT.search(text)
    return f"{_command()} ended with {ended[1]}" if ended else first_line(error)
