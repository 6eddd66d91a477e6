"""The same XML written in another way: other blanks, quotes, prefixes and comments, CDATA and references for text."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from random import Random

TOKEN = re.compile(r"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<(?:[^"'>]|"[^"]*"|'[^']*')*>|[^<]+""", re.DOTALL)
ATTRIBUTE = re.compile(r"""\s+([^\s=]+)\s*=\s*("[^"]*"|'[^']*')""")
TAG = re.compile(r"""(</?)([^\s/>]+)((?:[^"'>]|"[^"]*"|'[^']*')*?)\s*(/?>)""", re.DOTALL)
PREFIX = re.compile(r"xmlns:([\w.-]+)=")
NEW_PREFIXES = ("a", "ns1", "_b", "C", "d-e", "f.g", "image", "url")
BLANKS = ("", " ", "\n", "\t", "\n\n  ", " \n")
COMMENTS = ("<!---->", "<!-- a -->", "<!-- <url><loc>&x;</loc> -->", "<!--\n]]>\n-->", "<?pi <url>?>")


class Rewriter:
    """Writes one document anew, by chance, so that a parser reads the same from it."""

    def __init__(self, random: Random, text: str) -> None:
        self._random = random
        self._mark = text[: len(text) - len(text.lstrip("\ufeff"))]
        self._tokens: list[str] = TOKEN.findall(text.lstrip("\ufeff"))
        self._prefixes = self._choose(text)

    def _choose(self, text: str) -> dict[str, str]:
        """{prefix: new one}; the empty one stands for the default namespace."""
        known = sorted(set(PREFIX.findall(text)))
        free = self._random.sample([name for name in NEW_PREFIXES if name not in known], len(known) + 1)
        renamed = {prefix: free.pop() for prefix in known if self._chance(2)}
        if text.count("xmlns=") == 1 and " xmlns=" in self._root() and self._chance(2):
            renamed[""] = free.pop()
        return renamed

    def _root(self) -> str:
        return next(token for token in self._tokens if re.match(r"<[^!?]", token))

    def _chance(self, of: int) -> bool:
        return not self._random.randrange(of)

    def written(self) -> str:
        """The document in other words."""
        first = self._tokens[0].startswith("<?xml ")
        start = self._tokens[0] if first else ""
        return self._mark + start + "".join(map(self._rewrite, self._tokens[first:])) + self._between()

    def _rewrite(self, token: str) -> str:
        if token.startswith(("<!", "<?")):
            return token
        if token.startswith("<"):
            return self._between() + TAG.sub(self._tag, token)
        if token.isspace():
            return self._random.choice((token, *BLANKS))
        return "".join(self._text(piece) for piece in self._cut(token))

    def _between(self) -> str:
        return self._random.choice(COMMENTS) if self._chance(8) else ""

    def _tag(self, tag: re.Match[str]) -> str:
        start, name, attributes, end = tag.groups()
        name = self._renamed(name) if ":" in name or "" not in self._prefixes else f"{self._prefixes['']}:{name}"
        blank = self._random.choice(BLANKS) if self._chance(4) else ""
        return start + name + ATTRIBUTE.sub(self._attribute, attributes) + blank + end

    def _attribute(self, attribute: re.Match[str]) -> str:
        name, value = attribute[1], attribute[2]
        if name == "xmlns" and "" in self._prefixes:
            name = f"xmlns:{self._prefixes['']}"
        elif name.startswith("xmlns:"):
            name = f"xmlns:{self._prefixes.get(name[6:], name[6:])}"
        else:
            name = self._renamed(name)
        other = "'" if value[0] == '"' else '"'
        value = other + value[1:-1] + other if other not in value and self._chance(2) else value
        equals = self._random.choice(("=", "=", " = ", "\n="))
        return f"{self._random.choice((' ', '  ', chr(10)))}{name}{equals}{value}"

    def _renamed(self, name: str) -> str:
        prefix, colon, local = name.rpartition(":")
        return f"{self._prefixes.get(prefix, prefix)}:{local}" if colon else name

    def _cut(self, text: str) -> list[str]:
        """A text in one piece or two, neither of which ends within a reference."""
        places = [found.start() for found in re.finditer(r"&[^;]*;|[^&;]", text)]
        place = self._random.choice(places) if places and self._chance(2) else 0
        return [text[:place], text[place:]] if place else [text]

    def _text(self, text: str) -> str:
        ways: tuple[Callable[[str], str], ...] = (str, str, self._comment, _section, self._reference)
        return self._random.choice(ways)(text)

    def _comment(self, text: str) -> str:
        return text + self._random.choice(COMMENTS)

    def _reference(self, text: str) -> str:
        place = self._random.randrange(len(text))
        inside = text[:place].count("&") != text[:place].count(";") or text[place] in "&;"
        return text if inside else f"{text[:place]}&#{ord(text[place])};{text[place + 1 :]}"


def _section(text: str) -> str:
    plain = unescape(text)
    return text if "]]>" in plain else f"<![CDATA[{plain}]]>"
