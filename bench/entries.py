"""Entries of the generated sets: plain ones, plain ones in unusual form, and rich ones with every namespace."""

from __future__ import annotations

from random import Random

WORDS = (
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty", "kelp", "lagoon", "maple",
    "north", "oasis", "pearl", "quartz", "river", "shore", "tidal", "upland", "valley", "willow", "yarrow",
)  # fmt: skip
PATHS = [f"{first}-{second}" for first in WORDS for second in WORDS]
DATES = [f"20{year}-{month:02}-{day:02}" for year in range(15, 26) for month in range(1, 13) for day in range(1, 29)]
CLOCKS = [f"{minute // 60:02}:{minute % 60:02}:{minute % 59:02}" for minute in range(24 * 60)]
FREQUENCIES = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
PRIORITIES = [f"{tenth / 10}" for tenth in range(11)]
LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt-BR", "ja", "zh-Hans", "x-default")
ANSWERS = ("ok",) * 90 + ("moved",) * 4 + ("missing",) * 3 + ("gone",) * 2 + ("broken",)
"""Folders of pages, named after the server's response."""
IMAGES = 3
VIDEO_EVERY = 4
NEWS_EVERY = 5

CORE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
GOOGLE = " ".join(
    f'xmlns:{name}="http://www.google.com/schemas/sitemap-{name}/{version}"'
    for name, version in (("image", "1.1"), ("video", "1.1"), ("news", "0.9"))
)
ROOTS = {
    "plain": f"<urlset {CORE}>\n",
    "unusual": f"<urlset {CORE}>\n",
    "pages": f"<urlset {CORE}>\n",
    "faulty": f"<urlset {CORE}>\n",
    "rich": f'<urlset {CORE} {GOOGLE} xmlns:xhtml="http://www.w3.org/1999/xhtml">\n',
}
"""Start tag of a file, by kind."""


def plain(chance: Random, host: str, number: int) -> str:
    """One `<url>` with the four elements of the protocol."""
    pick = chance.choice
    return (
        f"  <url>\n    <loc>{host}/{pick(PATHS)}/{number:08}.html</loc>\n"
        f"    <lastmod>{moment(chance)}</lastmod>\n"
        f"    <changefreq>{pick(FREQUENCIES)}</changefreq>\n    <priority>{pick(PRIORITIES)}</priority>\n  </url>\n"
    )


def unusual(chance: Random, host: str, number: int) -> str:
    """One `<url>` with the same elements in another order, and dates as JavaScript writes them."""
    pick = chance.choice
    return (
        f"  <url>\n    <loc>{host}/{pick(PATHS)}/{number:08}.html</loc>\n"
        f"    <priority>{pick(PRIORITIES)}</priority>\n    <changefreq>{pick(FREQUENCIES)}</changefreq>\n"
        f"    <lastmod>{pick(DATES)}T{pick(CLOCKS)}.000Z</lastmod>\n  </url>\n"
    )


def rich(chance: Random, host: str, number: int) -> str:
    """One `<url>` with images and language versions, some with a video or a news article."""
    page = f"{host}/{chance.choice(PATHS)}/{number:08}.html"
    parts = [f"  <url>\n    <loc>{page}</loc>\n    <lastmod>{moment(chance)}</lastmod>\n"]
    for picture in range(IMAGES):
        image = f"{host}/images/{number:08}-{picture}.jpg"
        parts.append(f"    <image:image><image:loc>{image}</image:loc></image:image>\n")
    for language in LANGUAGES:
        href = f"{page}?hl={language}&amp;v=1"
        parts.append(f'    <xhtml:link rel="alternate" hreflang="{language}" href="{href}"/>\n')
    if number % VIDEO_EVERY == 0:
        parts.append(video(chance, host, number))
    if number % NEWS_EVERY == 0:
        parts.append(news(chance, number))
    return "".join(parts) + "  </url>\n"


def multilingual(chance: Random, host: str, number: int) -> str:
    """One `<url>` with the same parts and nothing wrong, in clusters whose pages link to each other."""
    page, language = divmod(number, len(LANGUAGES) - 1)
    urls = [f"{host}/{code.lower()}/{PATHS[page % len(PATHS)]}/{page:08}.html?v=1&amp;p={page}" for code in LANGUAGES]
    parts = [f"  <url>\n    <loc>{urls[language]}</loc>\n    <lastmod>{moment(chance)}</lastmod>\n"]
    for picture in range(IMAGES):
        image = f"{host}/images/{number:08}-{picture}.jpg"
        parts.append(f"    <image:image><image:loc>{image}</image:loc></image:image>\n")
    for code, href in zip(LANGUAGES, urls[:-1] + urls[:1], strict=True):
        parts.append(f'    <xhtml:link rel="alternate" hreflang="{code}" href="{href}"/>\n')
    parts.append(video(chance, host, number) if number % VIDEO_EVERY == 0 else "")
    parts.append(news(chance, number) if number % NEWS_EVERY == 0 else "")
    return "".join(parts) + "  </url>\n"


def faulty(chance: Random, host: str, number: int) -> str:
    """One plain `<url>` with a blank in its date, and without a zone."""
    return plain(chance, host, number).replace("T", " ", 1).replace("+00:00", "", 1)


def video(chance: Random, host: str, number: int) -> str:
    return (
        "    <video:video>\n"
        f"      <video:thumbnail_loc>{host}/images/{number:08}-still.jpg</video:thumbnail_loc>\n"
        f"      <video:title>Video {number} &amp; more</video:title>\n"
        f"      <video:description>What can be seen in video {number}</video:description>\n"
        f"      <video:content_loc>{host}/videos/{number:08}.mp4</video:content_loc>\n"
        f"      <video:duration>{chance.randrange(1, 28_800)}</video:duration>\n"
        f"      <video:publication_date>{moment(chance)}</video:publication_date>\n"
        "    </video:video>\n"
    )


def news(chance: Random, number: int) -> str:
    return (
        "    <news:news>\n      <news:publication>\n        <news:name>The Example Times</news:name>\n"
        "        <news:language>en</news:language>\n      </news:publication>\n"
        f"      <news:publication_date>{chance.choice(DATES)}</news:publication_date>\n"
        f"      <news:title>Story number {number}</news:title>\n    </news:news>\n"
    )


def moment(chance: Random) -> str:
    """Date and time with a zone."""
    return f"{chance.choice(DATES)}T{chance.choice(CLOCKS)}+00:00"


def pages(chance: Random, host: str, number: int) -> str:
    """One `<url>` of a page that `bench.serve` answers; 90 % of them work."""
    folder = ANSWERS[number % len(ANSWERS)]
    return f"  <url><loc>{host}/{folder}/{chance.choice(PATHS)}/{number:08}.html</loc></url>\n"


ROOTS["multilingual"] = ROOTS["rich"]
ENTRIES = {
    "plain": plain, "unusual": unusual, "pages": pages, "rich": rich, "multilingual": multilingual, "faulty": faulty,
}  # fmt: skip
"""Function that creates an entry, by kind."""
