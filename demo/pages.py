"""Pages of the demo site; most answer 200."""

from __future__ import annotations

from demo.answer import Answer, moved, page

CATALOGUE_SIZE = 60
ARCHIVE_SIZE = 5
YEARS = (2023, 2024, 2025)

GOOD = {
    "/visit": "Visit the Lantern Museum",
    "/about": "About the museum",
    "/collection": "The collection",
    "/collection/harbour-lamp": "Harbour lamp, about 1870",
    "/exhibitions": "Exhibitions",
    "/tickets": "Tickets",
    "/shop": "Museum shop",
    "/shop/books": "Books",
    "/contact": "Contact",
    "/jobs": "Jobs",
    "/press": "Press",
    "/search": "Search",
    "/en/visit": "Visit us",
    "/de/visit": "Besuchen Sie uns",
    "/films/lamp-lighting": "Lighting a lamp (film)",
    "/films/player": "Film player",
    "/news/night-opening": "The museum opens at night",
    "/private/press-kit": "Press kit",
}
"""Titles by path of the pages that answer 200, except the numbered ones."""


def pages(base: str) -> dict[str, Answer]:
    """Return the pages by path, for a site with this base URL."""
    sitemap_link = '<link rel="sitemap" type="application/xml" href="/sitemap-index.xml">'
    return {
        "/": page("The Lantern Museum", sitemap_link),
        **{path: page(title) for path, title in GOOD.items()},
        **numbered_pages(),
        **media(),
        "/opening-hours": moved(f"{base}/visit"),
        "/catalogue/21": moved(f"{base}/catalogue/20"),
        "/catalogue/13": page("No such object", status=404),
        "/exhibitions/lighthouses": page("No such exhibition", status=404),
        "/exhibitions/old-lamps": page("This exhibition is over", status=410),
        "/guestbook": page("The guest book is broken", status=500),
    }


def numbered_pages() -> dict[str, Answer]:
    titles = {f"/catalogue/{number}": f"Object {number}" for number in range(1, CATALOGUE_SIZE + 1)}
    titles |= {
        f"/archive/{year}/{number}": f"{year}, {number}" for year in YEARS for number in range(1, ARCHIVE_SIZE + 1)
    }
    titles |= {f"/{folder}/{number}": f"{folder} {number}" for folder in ("news", "blog") for number in range(1, 4)}
    titles |= {f"/defects/{number}": f"Defect {number}" for number in range(1, 9)}
    return {path: page(title) for path, title in titles.items()}


def media() -> dict[str, Answer]:
    """Return images, drawn as SVG, and a dummy film."""
    lamp = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="3" fill="gold"/></svg>'
    names = ("harbour-lamp", "harbour-lamp-detail", "lamp-lighting", "night-opening")
    images = {f"/media/{name}.svg": Answer("image/svg+xml", lamp) for name in names}
    return images | {"/media/lamp-lighting.mp4": Answer("video/mp4", b"no film")}
