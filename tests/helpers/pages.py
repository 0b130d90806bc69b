"""Pages as a parser sees them, for tests of what is on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from html.parser import HTMLParser

VOID = {"meta", "br", "input"}


@dataclasses.dataclass
class Element:
    """An element of a page. text: all that is in it."""

    tag: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    text: str = ""


class Page(HTMLParser):
    """The elements of a page, in order; fails where a tag is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs}, tuple(each.tag for each in self._open))
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str) -> Iterator[Element]:
        """The elements of a tag."""
        return (element for element in self.elements if element.tag == tag)

    def rows(self, kind: str) -> list[list[str]]:
        """The texts of the cells of a table of a class, row by row, without the headings of its columns."""
        rows: list[list[str]] = []
        start = next(place for place, each in enumerate(self.elements) if each.attributes.get("class") == kind)
        for element in self.elements[start + 1 :]:
            if element.tag == "table":
                break
            if element.tag == "tr" and "tbody" in element.parents:
                rows.append([])
            elif element.tag in ("th", "td") and "tbody" in element.parents:
                rows[-1].append(element.text)
        return rows


def section(page: Page, name: str) -> str:
    """The text of a section, in words."""
    return " ".join(next(each.text for each in page.all("section") if each.attributes.get("id") == name).split())
