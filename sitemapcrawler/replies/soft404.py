"""Soft-404 detection: compares a page with the site's answer to a made-up path.

Source: https://developers.google.com/search/docs/crawling-indexing/http-network-errors#soft-404-errors

The witness is the site's answer to a path that cannot exist (`nonsense_url`). A page equal to it is a soft 404. Error
phrases alone are not enough: they only support other evidence.

A page whose markup is the same as that answer, and that does not say that nothing was found, is a shell (`is_shell`):
scripts, a login, or a consent or bot wall stand between us and the page. Its HTML proves nothing either way.

False positives, and how they are avoided:

- A site that answers every path alike: its home page then resembles the answer to nonsense, which proves no soft 404
  (`Witness.tells`). If the server renders only the home page, the other pages are empty frames: a page of fewer than
  `MIN_WORDS` words, or with an empty element for a framework to fill, must also say that nothing was found.
- Pages of one template with little text of their own: titles must be equal, what the head says about the content, and
  nine in ten word triples. For a shell, text and markup must be equal.
- The requested path repeated in the page, clocks, counters: the path is removed, and all digits are equal.
- Folders: an application below `/app/` may have a site around it that answers 404. The answer in a folder with pages of
  little content proves no soft 404, only that pages equal to it are shells.
- The home page of a site of one page, whose server gives it for every path: with `MIN_WORDS` of text it is no shell.
- Errors with status 200, lists without entries, and offers that are gone: their text must be a block of its own, and
  all of the content but for a few words; links to other offers may follow a sentence that the offer is gone. A frame of
  an application is not searched: it may hold the text of an error from the start.
- An article about the error 404: the phrase must be a whole part of the title or heading, and the page must be thin,
  have noindex, or resemble the witness. Title and heading that both say that a job or a video has ended suffice: its
  page often lists similar ones.
- Redirects: a redirect to where nonsense leads, usually the home page, is a soft 404. It is not if the home page
  itself redirects there, or if the target is another spelling of the URL (`/index.html`, http, www).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import urljoin

from sitemapcrawler.replies.fingerprint import Fingerprint, about, has_moved, same, title_of
from sitemapcrawler.replies.page.facts import PageFacts
from sitemapcrawler.replies.page.shown_text import THIN, Shown, words
from sitemapcrawler.replies.phrases import says_empty, says_failure, says_gone, says_not_found, says_trace

ALIKE = 0.9
"""Share of common word triples (Jaccard) from which two pages count as equal."""
RESEMBLING = 0.5
"""The same for a page that says that nothing was found."""
MIN_WORDS = 30
"""Words of text below which a page may be a frame for scripts to fill. Header and footer of a real page have more."""
FEW = 40
"""Words of content, without menus, header and footer, below which an error or an empty list is all there is."""
MAX_SHOWN = 100  # characters of a text in a message


@dataclass(frozen=True, slots=True)
class Witness:
    """A site's answer to a made-up path, with status 200."""

    nonsense: Fingerprint
    tells: bool
    """True if a page equal to it is a soft 404: the home page is known, and another one."""


def nonsense_url(url: str, seed: str) -> str:
    """Return a URL in the folder of `url` that cannot exist: one word of letters, reproducible by `seed`."""
    letters = blake2b(f"{seed} {url}".encode("utf-8", "replace"), digest_size=10).hexdigest()
    return urljoin(url, letters.translate(str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")))


def witness(nonsense: Fingerprint, home: Fingerprint | None) -> Witness:
    """Return what the answer to nonsense proves. `home`: the home page; None if it is unknown."""
    if home is None:
        return Witness(nonsense, tells=False)
    if nonsense.moved:
        return Witness(nonsense, not (same(nonsense.url, home.url) and has_moved(home.asked, home.url)))
    return Witness(nonsense, not (nonsense.title == home.title and nonsense.likeness(home) >= ALIKE))


EMPTY = frozenset((204, 205))
"""Statuses without content. Source: RFC 9110, 15.3.5 and 15.3.6"""
NO_CONTENT = "an answer without content"


def is_soft_404(page: PageFacts, asked: str, seen: Witness | None = None) -> str | None:
    """Return why a page with status 200 is a soft 404, in one sentence, or None.

    `page`: with what it shows. `seen`: the witness of its site, None if the site correctly answers 404.
    """
    if (misled := misled_by(page.url, asked, seen)) is not None:
        return misled
    nonsense = seen.nonsense if seen is not None and seen.tells and not seen.nonsense.moved else None
    if page.shown is None:
        return None
    if (page.complete and page.shown.blank and page.refresh is None) or page.shown.empty:
        return NO_CONTENT
    if (error := _error_in(page, page.shown)) is not None:
        return f"{error!r}, and nothing else"
    said = next(filter(says_not_found, (page.title, page.h1)), None)
    same_head = nonsense is not None and _is_head_of(nonsense, page, asked)
    if said is None and not same_head:  # the usual case, without a fingerprint
        return None
    own = Fingerprint.of_page(page, asked)
    likeness = own.likeness(nonsense) if nonsense is not None else 0.0
    is_page = own.words >= MIN_WORDS and not own.is_frame
    if same_head and likeness >= ALIKE and (said or is_page or _says_not_found(page.shown)):
        return "the same page as for a path that does not exist"
    return None if said is None else _supported(page, own, said, likeness)


def misled_by(url: str, asked: str, seen: Witness | None) -> str | None:
    """Return why a redirect from `asked` to `url` is a soft 404, or None."""
    if seen is None or not seen.tells or not seen.nonsense.moved:
        return None
    misled = has_moved(asked, url) and same(url, seen.nonsense.url)
    return f"redirected to {url}, like a path that does not exist" if misled else None


def is_shell(page: PageFacts, asked: str, seen: Witness | None) -> bool:
    """True if a page that is no soft 404 has the markup that the site gives for a made-up path. A page with
    noindex does not count: search engines do not run its scripts. Source:
    https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics"""
    if seen is None or seen.nonsense.moved or page.denials or page.shown is None or not page.shown.sampled:
        return False
    if not _is_head_of(seen.nonsense, page, asked):
        return False
    own = Fingerprint.of_page(page, asked)
    return own.equals(seen.nonsense) and not (own.is_home and own.words >= MIN_WORDS)


def may_be_shell(page: PageFacts) -> bool:
    """True if a page with status 200 shows so little that it is worth asking what a made-up URL beside it gives."""
    shown = page.shown
    if shown is None or not shown.sampled or page.denials:
        return False
    return shown.is_frame or (shown.blocks is not None and _content(shown.blocks) < FEW)


def _is_head_of(nonsense: Fingerprint, page: PageFacts, asked: str) -> bool:
    return nonsense.title == title_of(page, asked) and nonsense.about == about(page, asked)


def _supported(page: PageFacts, own: Fingerprint, said: str, likeness: float) -> str | None:
    if likeness >= RESEMBLING:
        return f"{said!r}, on a page much like that of a path that does not exist"
    if page.noindex:
        return f"{said!r}, on a noindex page"
    if says_gone(page.title) and says_gone(page.h1):
        return f"{said!r}, in title and heading"
    blocks = page.shown.blocks if page.shown is not None else None
    size = THIN if blocks is None else _content(blocks)
    return f"{said!r}, and nothing else: {size} words" if size < THIN else None


def _error_in(page: PageFacts, shown: Shown) -> str | None:
    """The text that a page has in place of content: an error, that its list is empty, or that its subject is gone. None
    for a usual page."""
    if shown.blocks is None or shown.is_frame:
        return None
    size = _content(shown.blocks)
    tests: tuple[Callable[[str], bool], ...] = (says_trace,) if size < THIN else ()
    if size < FEW:
        tests = (says_failure, says_empty, says_not_found)
    found = next((text for text in shown.blocks if any(test(text) for test in tests)), None)
    if found is None and page.content is not None and page.content.words < FEW:
        found = next(filter(says_gone, _begin(shown.blocks)), None)  # then follow links to similar offers
        if found is not None and shown.blocks.count(found) > 1:  # in a list of offers that are gone
            return None
    return None if found is None else found[:MAX_SHOWN]


def _begin(blocks: Sequence[str]) -> Iterator[str]:
    """The blocks up to `FEW` words."""
    count = 0
    for text in blocks:
        count += len(words(text))
        if count > FEW:
            return
        yield text


def _says_not_found(shown: Shown) -> bool:
    return not shown.is_frame and any(map(says_not_found, shown.blocks or ()))


def _content(texts: Iterable[str]) -> int:
    """Number of words in the blocks of a page."""
    return sum(len(words(text)) for text in texts)
