"""Ids are UUIDv7: of this moment, random enough, and short at their random end."""

import time
from uuid import RFC_4122

from everlore.domain.ids import SHORT_ID_LENGTH, new_id, new_ids, short_id


def test_version_variant_and_moment() -> None:
    before = time.time_ns() // 1_000_000
    ids = [new_id(), *new_ids(1000)]
    after = time.time_ns() // 1_000_000
    for one in ids:
        assert one.version == 7
        assert one.variant == RFC_4122
        assert before <= one.int >> 80 <= after


def test_all_other_bits_are_random() -> None:
    ids = [one.int for one in new_ids(2000)]
    assert len(set(ids)) == 2000
    fixed = (0xF << 76) | (0x3 << 62) | (0xFFFFFFFFFFFF << 80)
    for bit in range(80):
        if not fixed >> bit & 1:
            ones = sum(one >> bit & 1 for one in ids)
            assert 800 < ones < 1200, f"bit {bit} is set in {ones} of 2000"


def test_a_later_id_sorts_later() -> None:
    earlier = new_id()
    until = time.time_ns() // 1_000_000 + 1
    while time.time_ns() // 1_000_000 < until:
        pass
    assert new_id() > earlier


def test_none_are_made_of_none() -> None:
    assert new_ids(0) == []


def test_the_short_id_is_the_random_end() -> None:
    one = new_id()
    assert str(one).endswith(short_id(one))
    assert len(short_id(one)) == SHORT_ID_LENGTH
