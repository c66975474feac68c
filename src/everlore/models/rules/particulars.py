"""Particulars of a person: addresses, birthday, favourites, the names of pets."""

import re
from typing import Final

from everlore.models.rules import english, spanish
from everlore.models.rules.clauses import GRAMMARS, Claim, Scene
from everlore.models.rules.kin import ROLE
from everlore.models.rules.people import FoundPerson
from everlore.models.rules.reading import RuleStatement
from everlore.text.names import Name
from everlore.text.numbers import Numeral

_TITLED: Final = re.compile(
    r"[A-ZÀ-Þ][\w'’-]*(?: (?:(?:of|the|at|in|on|and|to|for|with|a|from|de|la|el|y|los|las|del"
    r"|en) ){0,3}[A-ZÀ-Þ0-9][\w'’-]*){1,8}"
)
_HANDLE_OF_MINE: Final = re.compile(
    r"\b(?:my|mi) (?:\w+ ){0,3}?(?:handle|username|user name|account|github|twitter|instagram|nick|gamertag|usuario"
    r"|telegram|discord|tag|login)\b|\bi'm @|\bfollow me\b|\bsoy @"
)
_PHONE: Final = re.compile(
    r"\b(?:phone|number|cell|mobile|call|text|whatsapp|tel|teléfono|móvil|número|celular|llam)\w*"
)
_MINE: Final = {
    "en": re.compile(r"\b(?:my|mine|me)\b|\bi'm\b"),
    "es": re.compile(r"\b(?:mi|mío|mía|me)\b"),
    "other": re.compile(r"\b(?:mein\w*|mon|ma|meu|minha|mio|mia|min|mijn|mich|mir|moi|my)\b"),
}
_PET_WORD: Final = (
    r"(?:dog|cat|puppy|kitten|rabbit|bunny|hamster|guinea pig|parrot|horse|pony|tortoise|turtle|snake|lizard|goldfish"
    r"|ferret|budgie|canary"
    r"|labrador|retriever|poodle|terrier|beagle|corgi|greyhound|husky|shepherd|gecko|pet|perr[oa]|gat[oa]|conejo|loro"
    r"|caballo|tortuga|mascota|cachorro)"
)
_PET_NAMED: Final = re.compile(
    rf"\b(?:my|our|the|mi|nuestr[oa]) (?:[a-z]+ ){{0,2}}?{_PET_WORD}(?:'s name is|'s called|,? (?:is )?(?:called|named)"
    rf"|,? (?:que )?se llama|,)? "
)
_ITS_NAME: Final = re.compile(
    r"\b(?:(?:his|her|its|their) names? (?:is|are)|(?:he|she|it)(?:'s| is) (?:called|named)|(?:we|i)(?:'ve"
    r"| have)? (?:named|called) (?:him|her|it|them)|se llaman?) "
)
_IS_PET: Final = re.compile(
    rf"(?:,| \(| is| -| –| —|,? es)? (?:my|our|mi|nuestr[oa]) (?:[a-z-]+ ){{0,2}}?{_PET_WORD}\b(?!'s? )"
)
_THEIR_PET: Final = re.compile(rf"'s? (?:[a-z-]+ ){{0,2}}?{_PET_WORD},? ")
_NOT_MINE: Final = re.compile(r"\b(?:his|her|their|its|your|support|su|sus|example)\b")
_OLD: Final = re.compile(r"\b(?:used to be|old|previous|former|was|no longer|antiguo|era|ya no)\b")


def find_particulars(
    statement: RuleStatement, scene: Scene, marks: tuple[Numeral, ...], found: FoundPerson
) -> None:
    """Add what `statement` says of addresses, favourites, birthdays and pets."""
    names_at = scene.at()
    _addresses(statement, scene, marks, found)
    _favourites(statement, scene, names_at, found)
    _birthdays(statement, scene, found)
    _pets(statement, scene, names_at, found)


def _owner(statement: RuleStatement, scene: Scene, position: int) -> str | None:
    """Whose address stands at `position`: a name in front of it or right behind, else the speaker's if it says "my"."""
    low = statement.low
    before = [name for name in scene.names if name.stop <= position]
    ahead = low[:position]
    mine = list(_MINE[statement.language].finditer(ahead))
    role = list(re.compile(rf"\b(?:my|our|mi) (?:[a-z-]+ )?(?P<role>{ROLE})").finditer(ahead))
    if before and (not mine or before[-1].begin > mine[-1].start()):
        return before[-1].text
    if role and mine and role[-1].start() == mine[-1].start():
        return None
    if mine:
        return scene.speaker
    if _NOT_MINE.search(ahead):
        return scene.last_person if re.search(r"\b(?:his|her|su)\b", ahead) else None
    return None


def _addresses(
    statement: RuleStatement, scene: Scene, marks: tuple[Numeral, ...], found: FoundPerson
) -> None:
    low = statement.low
    for mark in marks:
        if mark.kind == "email":
            owner = _owner(statement, scene, mark.begin)
            if owner:
                over = bool(_OLD.search(low[max(0, mark.begin - 40) : mark.begin]))
                found.claims.append(Claim(owner, "email", mark.text, mark.begin, mark.stop, over, 0.9))
                if not over:
                    found.aliases.append((owner, mark.text))
        elif mark.kind == "phone" and _PHONE.search(low):
            owner = _owner(statement, scene, mark.begin)
            if owner:
                found.claims.append(Claim(owner, "phone", mark.text, mark.begin, mark.stop, False, 0.9))
        elif mark.kind == "handle":
            owner = scene.speaker if _HANDLE_OF_MINE.search(low) else None
            if owner is None:
                before = [name for name in scene.names if name.stop <= mark.begin]
                linked = before and re.fullmatch(
                    r"(?:'s? (?:\w+ ){0,3}(?:is)?| is| \(|, | goes by| on \w+ is)? ?(?:is )?\(?",
                    low[before[-1].stop : mark.begin],
                )
                owner = before[-1].text if linked else None
            if owner:
                found.aliases.append((owner, mark.text))


def _pets(statement: RuleStatement, scene: Scene, names_at: dict[int, Name], found: FoundPerson) -> None:
    low, speaker = statement.low, scene.speaker
    for match in _PET_NAMED.finditer(low):
        if name := names_at.get(match.end()):
            found.claims.append(
                Claim(speaker, "has_pet", name.text, name.begin, name.stop, False, 0.85, None, is_name=True)
            )
    for name in scene.names:
        match = _IS_PET.match(low, name.stop)
        if match:
            found.claims.append(
                Claim(speaker, "has_pet", name.text, name.begin, name.stop, False, 0.8, None, is_name=True)
            )
        elif (theirs := _THEIR_PET.match(low, name.stop)) and (pet := names_at.get(theirs.end())):
            found.claims.append(
                Claim(name.text, "has_pet", pet.text, pet.begin, pet.stop, False, 0.75, None, is_name=True)
            )
    for match in _ITS_NAME.finditer(low):
        name = names_at.get(match.end())
        if name and (re.search(rf"\b{_PET_WORD}s?\b|\badopt", low[: match.start()]) or scene.pet):
            found.claims.append(
                Claim(speaker, "has_pet", name.text, name.begin, name.stop, False, 0.8, None, is_name=True)
            )


def _favourites(
    statement: RuleStatement, scene: Scene, names_at: dict[int, Name], found: FoundPerson
) -> None:
    low = statement.low
    grammar = GRAMMARS.get(statement.language)
    if grammar is None:
        return
    pattern = english.FAVOURITE if statement.language == "en" else spanish.FAVOURITE
    for match in pattern.finditer(low):
        owner = scene.speaker
        if match.groupdict().get("name"):
            owner = next((name.text for name in scene.names if name.stop == match.end("name")), "")
        begin, stop = _thing(statement, grammar.article, match.end(), names_at)
        if owner and stop > begin:
            found.claims.append(
                _favourite(owner, match["thing"], statement.text[begin:stop], begin, stop, bool(match["was"]))
            )
    for match in english.IS_FAVOURITE.finditer(low) if statement.language == "en" else ():
        begin = max(
            (
                low.rfind(mark, 0, match.start()) + len(mark)
                for mark in (", ", "; ", " and ", " but ")
                if mark in low[: match.start()]
            ),
            default=0,
        )
        article = grammar.article.match(low, begin)
        begin = article.end() if article else begin
        if 0 < len(low[begin : match.start()].split()) <= 5 and not re.match(
            r"(?:it|this|that|which|he|she|they)\b", low[begin:]
        ):
            found.claims.append(
                _favourite(
                    scene.speaker,
                    match["thing"],
                    statement.text[begin : match.start()],
                    begin,
                    match.start(),
                    False,
                )
            )


def _thing(
    statement: RuleStatement, article: re.Pattern[str], position: int, names_at: dict[int, Name]
) -> tuple[int, int]:
    """What is the favourite: a quoted title, a name, or the words up to the next mark."""
    low = statement.low
    match = article.match(low, position)
    begin = match.end() if match else position
    for first in (position, begin):
        if title := _TITLED.match(statement.text, first):
            return title.start(), title.start() + len(
                re.sub(r" (?:and|but|y) (?:I|We|Yo|It)\b.*$", "", title[0])
            )
    if name := names_at.get(begin) or names_at.get(position):
        return name.begin, name.stop
    if statement.text[begin : begin + 1] in tuple("\"“«'‘*"):
        close = re.compile(r"[\"”»'’*]").search(statement.text, begin + 1)
        return (begin + 1, close.start()) if close else (begin, begin)
    end = re.compile(
        r"[,.;:!?()\n]|\s(?:and|but|because|since|so|which|though|although|with|y|pero|porque|aunque|by|from|when|even"
        r"|i|now|these days|ever|right now|too|also|again|still|anyway|once more)\b|$"
    ).search(low, begin)
    stop = end.start() if end else len(low)
    if len(low[begin:stop].split()) > 6 or re.match(
        r"(?:when|that|how|to be|it|this|not|cuando|que|hard)\b", low[begin:]
    ):
        return begin, begin
    return begin, stop


def _favourite(owner: str, thing: str, chosen: str, begin: int, stop: int, over: bool) -> Claim:
    stem = thing.strip().split(" de ")[0].removeprefix("kind of ").removeprefix("type of ")
    stem = spanish.THINGS.get(stem, stem).replace("color", "colour").replace("colouur", "colour")
    if stem == "movie":
        stem = "film"
    return Claim(
        owner, "favourite_" + re.sub(r"[^\w]+", "_", stem), chosen.strip(" *_\"'"), begin, stop, over, 0.9
    )


def _birthdays(statement: RuleStatement, scene: Scene, found: FoundPerson) -> None:
    low = statement.low
    pattern = english.BIRTHDAY if statement.language == "en" else spanish.BIRTHDAY
    for match in pattern.finditer(low):
        owner = (
            scene.speaker
            if not match["name"]
            else next((n.text for n in scene.names if n.stop == match.end("name")), None)
        )
        date = next(
            (
                one
                for one in scene.dates
                if match.end() - 1 <= one.begin <= match.end() + 12 and one.grain == "day"
            ),
            None,
        )
        written = statement.text[date.begin : date.stop] if date else ""
        if owner and date and re.search(r"\d", written) and re.search(r"(?:19|20)\d\d", written):
            found.claims.append(
                Claim(owner, "born_on", date.start.date().isoformat(), date.begin, date.stop, False, 0.9)
            )
