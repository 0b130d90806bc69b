"""The sorted collection of the manager's policies, against a plain list."""

from __future__ import annotations

import random

import pytest

from npu_conformance.reference.manager.sorted_keys import SortedKeys


def test_it_agrees_with_a_sorted_list_over_many_splits() -> None:
    chance, keys, plain = random.Random(3), SortedKeys[tuple[int, int]](), list[tuple[int, int]]()
    for step in range(20_000):
        if plain and chance.random() < (0.3 if step < 10_000 else 0.7):
            item = plain.pop(chance.randrange(len(plain)))
            keys.remove(item)
        else:
            item = (chance.randrange(100), step)
            plain.append(item)
            keys.add(item)
        if step % 997 == 0:
            plain.sort()
            assert [*keys] == plain
            assert [*reversed(keys)] == plain[::-1]
            assert keys.first() == min(plain, default=None)
            assert len(keys) == len(plain)
            for bound in ((-1,), (40,), (40, 5000), (99, 10**9)):
                assert [*keys.after(bound)] == [each for each in plain if each > bound]


def test_the_last_of_many_that_came_in_order_can_be_removed() -> None:
    keys = SortedKeys[tuple[int]]()
    for number in range(3000):
        keys.add((number,))
        keys.remove((number,))
        keys.add((number,))
    assert [*keys] == [(number,) for number in range(3000)]


def test_what_is_not_there_can_not_be_removed() -> None:
    keys = SortedKeys[tuple[int, int]]()
    with pytest.raises(KeyError):
        keys.remove((1, 1))
    keys.add((1, 1))
    for missing in ((0, 0), (1, 2)):
        with pytest.raises(KeyError):
            keys.remove(missing)
    keys.remove((1, 1))
    assert (keys.first(), [*keys]) == (None, [])
