"""Pages shaped like those of five JavaScript frameworks, with small scripts that act like theirs.

Each says how it is planned to be rendered, and what its scripts change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.crawl.site_server import Reply, Route
from tests.crawl.verified import own_words

JSON, SCRIPT, CSS = "application/json", "text/javascript", "text/css"


@dataclass(frozen=True)
class Planned:
    """One page, and its record."""

    html: str
    changed: str = ""
    """What its scripts change, in the order of records."""
    result: str = "rendered"
    rules: str = ""
    """Ids of the rules on it without their family."""


def typed(body: str, kind: str) -> Reply:
    return Reply(body, headers={"Content-Type": kind, "Cache-Control": "max-age=60"})


def document(body: str, *head: str, title: str = "Museum", path: str = "") -> str:
    canonical = f'<link rel="canonical" href="{path}">' if path else ""
    return f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title>{canonical}{''.join(head)}</head><body>{body}</body></html>"


def article(path: str, more: str = "") -> str:
    """The text of a page, as a server renders it."""
    return f"<main><h1>Hall {path}</h1><p>{own_words(path)}.</p>{more}</main>"


def shell(root: str, script: str, *head: str, kind: str = "") -> str:
    notice = "<noscript>You need to enable JavaScript to run this app.</noscript>"
    return document(f"{notice}{root}<script {kind} src={script}></script>", *head)


def content(path: str) -> str:
    """What an application asks its server for."""
    return json.dumps(
        {"title": f"Hall {path}", "text": f"{own_words(path)}.", "next": ["/next/article", "/astro/static"]}
    )


DRAW = """
const draw = (root, data) => {
    root.innerHTML = `<main><h1>${data.title}</h1><p>${data.text}</p></main>`;
    for (const href of data.next) {
        const link = document.createElement("a");
        link.href = href;
        link.textContent = href;
        link.addEventListener("click", event => event.preventDefault());
        root.append(link);
    }
};
const head = (tag, attributes) => document.head.append(Object.assign(document.createElement(tag), attributes));
"""
REACT = (
    DRAW
    + """
const path = location.pathname, root = document.getElementById("root");
fetch("/api" + path).then(answer => answer.ok ? answer.json() : Promise.reject(answer.status)).then(data => {
    document.title = data.title;
    head("link", {rel: "canonical", href: location.origin + path});
    draw(root, data);
}).catch(status => {
    head("meta", {name: "robots", content: "noindex"});
    root.innerHTML = "<h1>Page not found</h1>";
});
"""
)
REACT_LAZY = """
const style = document.createElement("link");
style.rel = "stylesheet";
style.href = "/react/chunk.css";
const ready = new Promise((resolve, reject) => { style.onload = resolve; style.onerror = reject; });
document.head.append(style);
ready.then(() => import("/react/chunk.js")).then(chunk => chunk.show(document.getElementById("root")));
"""
HYDRATE = """
const state = JSON.parse(document.getElementById("STATE").textContent);
const main = document.querySelector("main");
main.dataset.hydrated = state.page;
main.addEventListener("click", () => history.pushState({}, "", "/elsewhere"));
performance.mark("hydrated");
"""
VUE = (
    DRAW
    + """
history.replaceState({}, "", location.pathname + "#/");
queueMicrotask(() => fetch("/api" + location.pathname).then(answer => answer.json()).then(data => {
    const app = document.getElementById("app");
    app.removeAttribute("v-cloak");
    requestAnimationFrame(() => draw(app, data));
}));
"""
)
ANGULAR = (
    DRAW
    + """
const tick = rounds => rounds ? setTimeout(tick, 500, rounds - 1) : fetch("/api" + location.pathname)
    .then(answer => answer.json()).then(data => draw(document.querySelector("app-root"), data));
tick(6);
"""
)
SCROLL = """
const list = document.querySelector("ul"), end = document.querySelector("#end");
let number = 0;
new IntersectionObserver(entries => {
    if (entries[0].isIntersecting && number < 5)
        list.insertAdjacentHTML("beforeend", `<li><a href="/vue/spa">Hall ${++number}</a> with paintings`);
    end.textContent = "more".repeat(number);
}).observe(end);
"""
ISLAND = """
customElements.define("astro-island", class extends HTMLElement {
    connectedCallback() {
        import(this.getAttribute("component-url")).then(component => component.default(this));
    }
});
"""
FILES: dict[str, Route] = {
    "/react/main.js": typed(REACT, SCRIPT),
    "/react/lazy.js": typed(REACT_LAZY, SCRIPT),
    "/react/chunk.js": typed(
        f"export const show = root => {{ root.innerHTML = {json.dumps(article('/react/lazy'))}; }}", SCRIPT
    ),
    "/hydrate.js": typed(HYDRATE, SCRIPT),
    "/vue/app.js": typed(VUE, SCRIPT),
    "/angular/main.js": typed(ANGULAR, SCRIPT),
    "/svelte/page.js": typed(
        f"export const mount = target => {{ target.innerHTML = {json.dumps(article('/svelte/csr'))}; }}", SCRIPT
    ),
    "/astro/counter.js": typed(
        "export default root => { root.innerHTML = '<button>Add to list</button><a href=\"/react/shop\">Shop</a>'; }",
        SCRIPT,
    ),
    **{f"/api{path}": typed(content(path), JSON) for path in ("/react/shop", "/vue/spa", "/angular/spa")},
}
"""What the scripts load."""


def hydrated(path: str, *head: str) -> str:
    data = f'<script id=STATE type="application/json">{json.dumps({"page": path})}</script>'
    body = f"<div>{article(path)}</div>{data}<script defer src=/hydrate.js></script>"
    return document(body, *head, title=f"Hall {path}", path=path)


def inline(path: str, script: str, *head: str, more: str = "") -> str:
    return document(f"{article(path, more)}<script>{DRAW}{script}</script>", *head, title=f"Hall {path}", path=path)


EMPTY = "empty-without-javascript"
NOINDEX = '<meta name="robots" content="noindex">'
PAGES: dict[str, Planned] = {
    "/react/shop": Planned(
        shell("<div id=root></div>", "/react/main.js"),
        "title h1 canonical links text",
        rules=f"{EMPTY} canonical-changed links-added title-changed",
    ),
    "/react/lost": Planned(shell("<div id=root></div>", "/react/main.js"), "h1 noindex text", rules="noindex-set"),
    "/react/lazy": Planned(
        shell(
            "<div id=root></div>", "/react/lazy.js", "<link rel=modulepreload href=/react/chunk.js>", kind="type=module"
        ),
        "h1 text",
        rules=EMPTY,
    ),
    "/react/hydrated": Planned(hydrated("/react/hydrated", "<link rel=stylesheet href=/react/chunk.css>")),
    "/next/article": Planned(hydrated("/next/article")),
    "/next/canonical": Planned(
        inline("/next/canonical", 'document.querySelector("link[rel=canonical]").href = "/next/article";'),
        "canonical",
        rules="canonical-changed",
    ),
    "/next/noindex": Planned(
        inline("/next/noindex", 'document.querySelector("meta[name=robots]").remove();', NOINDEX),
        "noindex",
        rules="noindex-removed",
    ),
    "/vue/spa": Planned(
        shell("<div id=app v-cloak></div>", "/vue/app.js"), "h1 links text", rules=f"{EMPTY} links-added"
    ),
    "/nuxt/title": Planned(
        inline("/nuxt/title", 'setTimeout(() => { document.title = "Opening hours"; }, 50);'),
        "title",
        rules="title-changed",
    ),
    "/nuxt/languages": Planned(
        inline(
            "/nuxt/languages",
            'for (const code of ["en", "de"]) head("link", {rel: "alternate", hreflang: code, href: "/nuxt/languages?" + code});',
        ),
        "hreflang",
    ),
    "/angular/spa": Planned(
        shell("<app-root></app-root>", "/angular/main.js"), "h1 links text", rules=f"{EMPTY} links-added"
    ),
    "/angular/scroll": Planned(
        inline("/angular/scroll", SCROLL, more="<ul></ul><div id=end>more</div>"), "links text", rules="links-added"
    ),
    "/angular/guard": Planned(
        inline("/angular/guard", 'location.replace("/angular/login");'), result="redirected", rules="failed"
    ),
    "/svelte/csr": Planned(
        document(
            '<div id=svelte></div><script type=module>import("/svelte/page.js").then(page => page.mount(svelte));</script>',
            path="/svelte/csr",
        ),
        "h1 text",
        rules=EMPTY,
    ),
    "/astro/island": Planned(
        inline("/astro/island", ISLAND, more='<astro-island component-url="/astro/counter.js"></astro-island>'),
        "links",
        rules="links-added",
    ),
    "/astro/static": Planned(document(article("/astro/static"), title="Hall", path="/astro/static")),
}
