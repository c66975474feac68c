"""Times of day in a statement."""

import re

from everlore.text.folding import lowered

_CLOCK = re.compile(
    r"(?<![\w.:/-])(?:(?P<h1>\d{1,2}):(?P<m1>[0-5]\d)\s?(?P<p1>[ap]\.?m|de la (?:tarde|noche))?"
    r"|(?P<h2>\d{1,2})(?:[:.](?P<m2>[0-5]\d))?\s?(?P<p2>[ap]\.?m)"
    r"|a las? (?P<h3>\d{1,2})(?:[:.](?P<m3>[0-5]\d))?(?: (?P<p3>de la (?:tarde|noche|mañana)))?"
    r"|(?P<h4>\d{1,2}) (?:o'clock|uhr))(?!\w)"
)


def clock(text: str) -> tuple[int, int] | None:
    """The hour and minute that a statement names ("at 5pm", "15:30", "a las 7 de la tarde")."""
    match = _CLOCK.search(lowered(text))
    if match is None:
        return None
    hour = int(match["h1"] or match["h2"] or match["h3"] or match["h4"])
    minute = int(match["m1"] or match["m2"] or match["m3"] or 0)
    half = (match["p1"] or match["p2"] or match["p3"] or "").replace(".", "")
    if half in {"pm", "de la tarde", "de la noche"} and hour < 12:
        hour += 12
    if half == "am" and hour == 12:
        hour = 0
    return (hour, minute) if hour < 24 and minute < 60 else None
