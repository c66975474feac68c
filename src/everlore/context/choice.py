"""Which items go in: whole ones by what they are worth per token, as long as there is room. Pure."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from everlore.domain.context import WhyLeftOut


@dataclass(frozen=True, slots=True)
class Offer:
    """`tokens` is what it costs by itself; `heading` stands once above all items that share it, and costs `heading_tokens`."""

    slot: str
    value: float
    tokens: int
    first: bool = False
    heading: Hashable = None
    heading_tokens: int = 0

    @property
    def density(self) -> float:
        return self.value / max(self.tokens, 1)


@dataclass(frozen=True, slots=True)
class Choice:
    """Places of the offers that go in, in the order of the offers, and of the others with the reason."""

    chosen: tuple[int, ...]
    left_out: Mapping[int, WhyLeftOut]


def choose(offers: Sequence[Offer], budget: int, most: Mapping[str, int]) -> Choice:
    """The densest first, and what comes first before all others; what does not fit makes room for what does."""
    open_headings: set[Hashable] = set()
    held: dict[str, int] = {}
    chosen: list[int] = []
    left_out: dict[int, WhyLeftOut] = {}
    for place in order(offers):
        offer = offers[place]
        heading = 0 if offer.heading in open_headings else offer.heading_tokens
        if held.get(offer.slot, 0) >= most.get(offer.slot, 0):
            left_out[place] = "slot is full"
        elif offer.tokens + heading > budget:
            left_out[place] = "over the budget"
        else:
            budget -= offer.tokens + heading
            held[offer.slot] = held.get(offer.slot, 0) + 1
            open_headings.add(offer.heading)
            chosen.append(place)
    return Choice(tuple(sorted(chosen)), left_out)


def order(offers: Sequence[Offer]) -> list[int]:
    """Places of the offers, the most wanted first."""
    return sorted(
        range(len(offers)), key=lambda place: (not offers[place].first, -offers[place].density, place)
    )
