"""The mark around what Everlore puts into a prompt, and how any text is made inert inside of it.

What stands between the marks is known again when it comes back in a transcript. Inside, a text cannot end the block, open another
one or look like a turn of somebody else: its brackets that begin a tag are written as `&lt;`, and each of its lines but the first
begins with `| `.
"""

import re
import unicodedata

MARK = "everlore-memory"
OPENING, CLOSING = f"<{MARK}>", f"</{MARK}>"

# Signs that are drawn like `<` and are something else.
_LOOK_ALIKES = "‹〈⟨〈❮❬⧼≺ᐸ˂く⟪《≪"
_SLASHES = "/⁄∕／╱⧸"
# A bracket with what makes a tag of it: a letter, `!` or `?` with nothing that is seen between, or a stroke.
_HIDDEN = "[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]*"
_TAG = re.compile(rf"[<＜﹤](?={_HIDDEN}(?:[^\W\d_]|[!?])|(?:\s|{_HIDDEN[:-1]})*[{_SLASHES}|｜])")
_ALIKE = re.compile(f"[{_LOOK_ALIKES}]")
# Letters of other scripts that are drawn like ours.
_DRAWN_ALIKE = str.maketrans("аеорсухіѕјһԁԛԝѵӏёєταενορυικᴇᴠʀʟᴏᴍʏ", "aeopcyxisjhdqwvleetaevopyikevrlomy")
# What is not seen, or turns the direction of what follows: control characters, marks of direction, tag characters.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


def inert(text: str) -> str:
    """A text as it may stand inside the marks."""
    lines = _UNSEEN.sub("", text).strip().splitlines()
    whole = "\n| ".join(line.rstrip() for line in lines)
    return _ALIKE.sub(lambda found: _plain(found, whole), _TAG.sub("&lt;", whole))


def _plain(found: re.Match[str], whole: str) -> str:
    """A look-alike stays what it is (a quotation mark, say) where no closing tag and no mark of ours follows."""
    after = whole[found.end() : found.end() + 60]
    letters = "".join(
        c for c in unicodedata.normalize("NFKD", after).casefold() if c.isalpha() or c in _SLASHES
    )
    if letters[:1] in set(_SLASHES) or letters.translate(_DRAWN_ALIKE).startswith("everlore"):
        return "&lt;"
    return found[0]
