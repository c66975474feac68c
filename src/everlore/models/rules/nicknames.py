"""Other names of people: "Barty to everyone", "short for", "de cariño", "when I write JFK I mean ..."."""

import re
from typing import Final

from everlore.models.rules.clauses import Scene
from everlore.models.rules.reading import RuleStatement
from everlore.text.names import NO_NAMES, STARTERS, Name

Pair = tuple[str, str]  # a name, another name for the same one

_FOR_SHORT: Final = re.compile(r",? (?:or |we call (?:her|him|them) )?")
_I_MEAN: Final = re.compile(
    r"\b(?:when i (?:say|write|mention|talk about|put|type)|by|if i (?:say|write)) (?=\S).{1,50}?(?:,)? i(?:'m| always"
    r"|'ll)? (?:mean|meaning"
    r"|talking about|refer(?:ring)? to) |\bcuando (?:digo|pongo|escribo) .{1,40}?,? (?:me refiero a|quiero decir|es) "
)
# "A Francisco le decimos Paco", "Guadalupe, a quien llamamos Lupe".
_LE_DICEN: Final = re.compile(
    r"(?:,? )?(?:a (?:la |el )?(?:que|quien) )?(?:todos |todo el mundo |la gente |en casa |en el curro |siempre "
    r"|sus amigos |los amigos |mis hijos |de cariño )?(?:le|lo|la|l[eoa]s)? ?"
    r"(?:dicen|decimos|llaman|llamamos|digo|llamo|conocen como|conocemos como|apodan|apodamos)(?: todos| siempre"
    r"| de cariño| cariñosamente)? "
)
_CALLED: Final = re.compile(
    r"(?:(?:^|,? )(?:but |and |though )?(?:most )?(?:everyone|everybody|people|friends|we all|we|my (?:friends|family"
    r"|kids|mates)|they|i|(?:his|her|their|all (?:his|her)) (?:friends|mates|family|mum)"
    r"|todos|todo el mundo|mis amigos|la gente|nobody|no one|the (?:kids|whole office|lads|guys|girls)"
    r"|all my friends|most people|the team|colleagues|the family)(?: always| just| usually| all| at work| here| only"
    r"| still)? (?:calls?"
    r"|llaman?|dicen?|le dicen|le decimos|know)(?: (?P<whom>me|him|her|them|[^\W\d_]+))?(?: as| just"
    r"| by)?(?: anything but| el| la)? )"
)
# A name in front of these, another one behind.
_BETWEEN: Final = (
    re.compile(r"(?:,? (?:who )?(?:usually |also |just |always |mostly )?(?:goes by|answers to|likes to be called"
        r"|prefers to be called|is better known as|better known as)"
        r"|,? (?:who(?:'s| is) |is )?(?:also |usually |otherwise |mostly |affectionately )?(?:known (?:to \w+ )?as"
            r"|nicknamed|aka|alias)|,? \(?(?:a\.?k\.?a\.?|alias|aka) ?"
        r"|,? apodad[oa]|,? alias|,? conocid[oa] como|,? también llamad[oa]|,? \(?o|,? or|,? de cariño| \(or"
            r"| \(we call (?:her|him)|,? (?:who(?:m)? )?(?:we|i|they|everyone|everybody|we all) (?:all |always "
            r"|just )?calls?(?: (?:him|her))?)"
        r" (?:just |simply |the |el |la )?"),
)  # fmt: skip
_SHE_GOES_BY: Final = re.compile(
    r"\b(?:she|he|they) (?:usually |also |mostly |just )?(?:goes?|answers?) (?:by|to) (?:just )?"
)
_SHORT_FOR: Final = re.compile(
    r",? \(?(?:is |which is |it's |that's |es |que es )?(?:short for|a nickname for|an abbreviation for|stands for|="
    r"|es el diminutivo de|(?:el )?diminutivo de|abreviatura de|de) "
)
_TO_ALL: Final = re.compile(
    r",? (?:to|for|para) (?:(?:literally|almost|nearly|just about|casi) )?(?:everyone|everybody|friends|his|her|the|us"
    r"|all|most|los (?:amigos|colegas)|las amigas|todos|todo|la familia|sus|nosotros|mí|me)\b|,? (?:for short"
    r"|de cariño|pa los amigos)\b"
)
_BESIDE: Final = re.compile(r"(?:,| -| –| —| \(|,? or|,? o)? ")
_PARENTHESIS: Final = re.compile(r" \((?:or |o |aka |short: |a\.k\.a\. |alias )?")
_QUOTED_NICK: Final = re.compile(r",? [\"“(‘'](?P<nick>[^\W\d_a-z][\w.-]{1,20})[\"”)’']")
_MY_HANDLE: Final = re.compile(
    r"\b(?:my|mi) (?:[\w.]+ ){0,2}?(?:handle|username|user name|user|nick|nickname|gamertag|usuario|login|tag"
    r"|stage name|pen name|alias|apodo|nombre artístico)(?: (?:on|en|at|for) [\w. ]{2,20}?)?"
    r"(?: is| es|'s|:) (?P<nick>@?[\w.][\w.-]{1,38}\w)"
    r"|\b(?:i go by|i'm known as|i'm|soy|me llamo|find me as"
    r"|you'll find me as) (?P<nick2>@?\w[\w.-]*[\d_][\w.-]*\w) (?:on|en|over on)\b"
)
_CALL_ME_SMALL: Final = re.compile(
    r"\b(?:(?:please |just |you can )call me|everyone calls me|everybody calls me|(?:my )?(?:friends|mates|family"
    r"|kids) call me|people call me|i go by|i answer to|my nickname is|llámame|(?:todos )?me (?:llaman|dicen)"
    r"|puedes llamarme) (?:just )?"
    r"(?P<nick>[a-zà-ÿ]{2,14})(?=$|[,.!;)]| (?:btw|please|for short|porfa|at work|here|online|though)\b)"
)
_NO_NICK: Final = frozenset(
    [
        "later",
        "back",
        "when",
        "if",
        "crazy",
        "tomorrow",
        "maybe",
        "old",
        "names",
        "weird",
        "paranoid",
        "lazy",
        "that",
        "this",
        "it",
        "anytime",
        "today",
        "tonight",
        "soon",
        "asap",
        "after",
        "whatever",
        "anything",
        "cuando",
        "luego",
        "mañana",
        "después",
        "a",
        "by",
        "on",
        "names",
        "for",
        "the",
    ]
)


def find_nicknames(statement: RuleStatement, scene: Scene) -> list[Pair]:
    """The pairs that `statement` says, other than introductions of the speaker."""
    found = [*_of_speaker(statement, scene), *_between(statement, scene), *_by_others(statement, scene)]
    return [pair for pair in found if pair[0].lower() != pair[1].lower()]


def _of_speaker(statement: RuleStatement, scene: Scene) -> list[Pair]:
    low, found = statement.low, list[Pair]()
    for match in _MY_HANDLE.finditer(low):
        begin, stop = match.span("nick" if match["nick"] else "nick2")
        nick = statement.text[begin:stop]
        if nick.lower() not in STARTERS and "@" not in nick[1:]:
            found.append((scene.speaker, nick))
    for match in _CALL_ME_SMALL.finditer(low):
        if match["nick"] not in _NO_NICK and match["nick"] not in NO_NAMES:
            found.append((scene.speaker, statement.text[match.start("nick") : match.end("nick")]))
    return found


def _between(statement: RuleStatement, scene: Scene) -> list[Pair]:
    low, found, names_at = statement.low, list[Pair](), scene.at()
    for match in _I_MEAN.finditer(low):
        meant = names_at.get(match.end())
        short = next((name for name in scene.names if match.start() <= name.begin < match.end()), None)
        if meant and short and meant is not short:
            found.append((meant.text, short.text))
    for first in scene.names:
        for pattern in _BETWEEN:
            match = pattern.match(low, first.stop)
            other = names_at.get(match.end()) if match else None
            # "Ana or Eva" are two people, unless the one is short for the other or stands in brackets.
            if (
                match
                and other
                and (match[0].strip(" ,(") not in {"or", "o"} or is_short_of(other.text, first.text))
            ):
                found.append((first.text, other.text))
        match = _SHORT_FOR.match(low, first.stop)
        other = names_at.get(match.end()) if match else None
        # "X de Y" and "X = Y" say it only of what looks short.
        if match and other and (not match[0].endswith((" de ", "= ")) or is_short_of(first.text, other.text)):
            found.append((other.text, first.text))
        match = _PARENTHESIS.match(low, first.stop)
        other = names_at.get(match.end()) if match else None
        if match and other and (is_short_of(other.text, first.text) or len(match[0]) > 2):
            found.append((first.text, other.text))
        nick = _QUOTED_NICK.match(statement.text, first.stop)
        if nick and ("(" not in nick[0] or is_short_of(nick["nick"], first.text)):
            found.append((first.text, nick["nick"]))
    for first, other in zip(scene.names, scene.names[1:], strict=False):
        if (
            _FOR_SHORT.fullmatch(low, first.stop, other.begin) and low.startswith(" for short", other.stop)
        ) or (_BESIDE.fullmatch(low, first.stop, other.begin) and _TO_ALL.match(low, other.stop)):
            found.append((first.text, other.text))
    return found


def _by_others(statement: RuleStatement, scene: Scene) -> list[Pair]:
    low, found, names_at = statement.low, list[Pair](), scene.at()
    for name in scene.names if statement.language == "es" else ():
        if (match := _LE_DICEN.match(low, name.stop)) and (other := names_at.get(match.end())):
            found.append((name.text, other.text))
    for match in _SHE_GOES_BY.finditer(low):
        who = next((name.text for name in scene.names if name.stop <= match.start()), scene.last_person)
        if who and (other := names_at.get(match.end())):
            found.append((who, other.text))
    for match in _CALLED.finditer(low):
        called, whom = names_at.get(match.end()), match["whom"]
        if called is None or whom in {"me", None}:
            continue
        before: list[Name] = [name for name in scene.names if name.stop <= match.start()]
        named = names_at.get(match.start("whom"))
        who = named.text if named else before[-1].text if before else scene.last_person
        if who:
            found.append((who, called.text))
    return found


def is_short_of(short: str, name: str) -> bool:
    """Whether the one is the other's initials or beginning ("WHO", "Ali", "Bob" not)."""
    initials = "".join(part[0] for part in name.split() if part[0].isupper())
    bare = short.replace(".", "")
    return bare.upper() == initials.upper() or (len(bare) > 1 and name.lower()[:3] == bare.lower()[:3])
