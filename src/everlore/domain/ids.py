"""Identifiers: UUIDv7 (RFC 9562, section 5.7), made here so that a retry can carry the same id."""

import os
import time
from uuid import UUID

_VERSION_AND_VARIANT = (0x7 << 76) | (0x2 << 62)
_RANDOM_BITS = (1 << 76) - 1 & ~(0xF << 76) & ~(0x3 << 62)
SHORT_ID_LENGTH = 8


def new_id() -> UUID:
    """A new UUIDv7: 48 bits of milliseconds since 1970, then 74 random bits."""
    return new_ids(1)[0]


def new_ids(count: int) -> list[UUID]:
    """`count` new ids of the same millisecond; their order among each other is random."""
    time_part = (time.time_ns() // 1_000_000) << 80 | _VERSION_AND_VARIANT
    noise = os.urandom(10 * count)
    return [
        UUID(int=time_part | int.from_bytes(noise[at : at + 10], "big") & _RANDOM_BITS)
        for at in range(0, 10 * count, 10)
    ]


def short_id(identifier: UUID) -> str:
    """What a person types: the random end of the id, which differs even between ids of one moment."""
    return identifier.hex[-SHORT_ID_LENGTH:]
