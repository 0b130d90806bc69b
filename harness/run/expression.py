"""The language of -k: words of an id or how they begin, with `and`, `or`, `not` and parentheses, as in pytest."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from npu_conformance.specs.documents import DocumentError

Matcher = Callable[[str], object]
"""Says by the truth of its answer whether an id matches."""
_TOKEN = re.compile(r"\s*(?:(?P<bracket>[()])|(?P<word>[\w.\[\],#:+*?/-]+)|(?P<end>$))")
_DEEPEST = 50
OPERATORS = frozenset({"and", "or", "not"})


class _Token(msgspec.Struct, frozen=True):
    text: str
    column: int


def compile_expression(expression: str) -> Callable[[str], bool]:
    """Return a function that says whether an id matches.

    A word matches where a word of the id begins with it, upper or lower case alike: `npu` occurs in cts.npu_manager,
    and not in `input`. What begins with something else than a letter or digit matches where it occurs.

    Raises DocumentError with the column of the first error. An empty expression matches everything.
    """
    if not expression.strip():
        return lambda case_id: True
    parser = _Parser(expression)
    matches = parser.alternatives()
    parser.expect_end()
    return lambda case_id: bool(matches(case_id.lower()))


def words_of(expression: str) -> list[str]:
    """The words of an expression that can be read, each once."""
    texts = (match["word"] for match in _TOKEN.finditer(expression))
    return list(dict.fromkeys(text for text in texts if text and text not in OPERATORS))


class _Parser:
    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens = self._split()
        self._depth = 0

    def alternatives(self) -> Matcher:
        """One or more conjunctions, joined by `or`."""
        parts = [self._conjunction()]
        while self._take("or"):
            parts.append(self._conjunction())
        return lambda case_id: any(part(case_id) for part in parts)

    def expect_end(self) -> None:
        """Refuse anything left over."""
        if self._tokens[0].text:
            raise self._error("'and', 'or' or the end")

    def _conjunction(self) -> Matcher:
        parts = [self._negation()]
        while self._take("and"):
            parts.append(self._negation())
        return lambda case_id: all(part(case_id) for part in parts)

    def _negation(self) -> Matcher:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"at most {_DEEPEST} of '(' and 'not' inside each other")
        matcher = self._negated()
        self._depth -= 1
        return matcher

    def _negated(self) -> Matcher:
        if self._take("not"):
            inner = self._negation()
            return lambda case_id: not inner(case_id)
        if self._take("("):
            inner = self.alternatives()
            if not self._take(")"):
                raise self._error("')'")
            return inner
        return self._word()

    def _word(self) -> Matcher:
        text = self._tokens[0].text
        if not text or text in OPERATORS or text in "()":
            raise self._error("a word, 'not' or '('")
        self._tokens.pop(0)
        begins = r"(?<![a-z0-9])" if text[0].isalnum() else ""
        return re.compile(begins + re.escape(text.lower())).search

    def _take(self, text: str) -> bool:
        if self._tokens[0].text != text:
            return False
        self._tokens.pop(0)
        return True

    def _split(self) -> list[_Token]:
        tokens, position = [], 0
        while True:
            match = _TOKEN.match(self._expression, position)
            if match is None:
                found = self._expression[position:].lstrip()[0]
                raise DocumentError(f"-k {self._expression!r}", f"column {position + 1}", f"unexpected {found!r}")
            text = match["bracket"] or match["word"] or ""
            tokens.append(_Token(text, match.end() - len(text) + 1))
            if not text:
                return tokens
            position = match.end()

    def _error(self, expected: str) -> DocumentError:
        token = self._tokens[0]
        found = repr(token.text) if token.text else "the end"
        return DocumentError(
            f"-k {self._expression!r}", f"column {token.column}", f"expected {expected}, found {found}"
        )
