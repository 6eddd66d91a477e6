"""Healthy sites as common programs write them, in `tests/data/typical/<program>/`: robots.txt and sitemaps, with `$` for the
origin of the site, and `%3F` in the name of a file for the `?` of its URL.

Each is written like the real output of the program, down to white space, stylesheets and comments. Sections have 24 pages:
enough for the rules that need 20.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

FOLDER = Path(__file__).parent / "data" / "typical"
SITES = {
    "wordpress": "WordPress 6.5: an index without dates, posts with dates, lists of terms and authors without",
    "yoast": "Yoast SEO for WordPress: indented, with images of posts, and a comment at the end",
    "shopify": "Shopify: children with a query, images with titles on its CDN, and a home page without a date",
    "hugo": "Hugo with two languages: an index, and a sitemap in the folder of each with links to the other",
    "nextjs": "Next.js with `sitemap.ts` and `robots.ts`: dates are those of the build, the home page has no slash",
    "docusaurus": "Docusaurus: one line, one frequency and priority for all pages, no dates, namespaces that it does not use",
    "astro": "Astro: an index of a single sitemap, one line each, nothing but URLs",
    "wix": "Wix: days without times, images on its CDN, and crawlers by name in robots.txt",
    "squarespace": "Squarespace: days, a priority for each kind of page, images on its CDN, crawlers of AI switched off",
    "jekyll": "jekyll-sitemap, as on GitHub Pages: dated posts, undated pages",
}
"""{program: what is special about its files}"""


def files_of(name: str, origin: str) -> dict[str, str]:
    """The content of each file of a site at an origin, such as `https://example.com`, by path."""
    texts = {
        f"/{unquote(path.relative_to(FOLDER / name).as_posix())}": path.read_text("utf-8")
        for path in sorted((FOLDER / name).rglob("*.*"))
    }
    return {path: text.replace("$/", f"{origin}/").replace("$<", f"{origin}<") for path, text in texts.items()}
