"""Who is who: kinship and roles, nicknames, self-introductions."""

import re
from dataclasses import dataclass, field
from typing import Final

from everlore.models.rules.clauses import Claim, Scene, described
from everlore.models.rules.kin import FORMER, PLURALS, ROLE, ROLES, ROLES_PLURAL, predicate_of
from everlore.models.rules.reading import Statement
from everlore.text.names import Name


@dataclass(slots=True)
class Found:
    """Facts, and pairs of a name and another name for the same one. `persons`: names that are people's."""

    claims: list[Claim] = field(default_factory=list[Claim])
    aliases: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    persons: set[str] = field(default_factory=set[str])


_ADJ = r"(?:[a-zà-ÿ-]+ ){0,2}?"
_LINK = (
    r"(?:,? (?:who(?:'s| is) )?(?:is )?(?:called|named)|'s (?:called|named)|'s name is|'s name's"
    r"|,? (?:que )?se llaman?|,? llamad[oa]| is| es|:|,)?"
    r"(?: also| still| actually)? ?\(?"
)
_OWNED: Final = re.compile(
    rf"(?:\b(?P<mine>my|our|mi|nuestr[oa])|(?P<theirs>'s?)) (?P<adj>{_ADJ})(?P<role>{ROLE})(?P<post> mayor| menor"
    rf"| pequeñ[oa])?(?P<link>{_LINK})"
)
_IS_ROLE: Final = re.compile(
    rf"(?:,| is| was|'s| es| era)? (?:also |still |actually |now )?(?P<mine>my|our|mi"
    rf"|nuestr[oa]) (?P<adj>{_ADJ})(?P<role>{ROLE})"
)
_HAVE_ROLE: Final = re.compile(
    rf"\b(?:have|got|had|tengo) (?:an?|una?|one) (?P<adj>{_ADJ})(?P<role>{ROLE})(?: mayor| menor)?,? (?:called |named "
    rf"|whose name is |que se llama |llamad[oa] )"
)
_ROLE_OF: Final = re.compile(rf"(?:,| es| is)? (?:la |el |the )?(?P<role>{ROLE}) (?:de|of) ")
_AND_THEIR: Final = re.compile(rf"(?:,| and|,? with) (?:her|his|su) (?:[a-z-]+ )?(?P<role>{ROLE}),? ")
_MANY: Final = re.compile(
    rf"\b(?:my|our|mis|nuestr[oa]s|(?:have|got|tengo)(?= (?:two|three|four|dos|tres|cuatro))) (?:(?:two|three|four|dos"
    rf"|tres) )?(?P<role>{ROLES_PLURAL})(?:,| are| named| called"
    rf"| se llaman| son|:)? (?:are |called |named )?\(?"
)
_KIN_TITLES: Final = frozenset(
    (
        "grandma",
        "grandpa",
        "granny",
        "grandad",
        "granddad",
        "aunt",
        "auntie",
        "uncle",
        "tía",
        "tío",
        "abuela",
        "abuelo",
    )
)
_NAME_JOINT: Final = re.compile(r"(?:,? and |, | y | e | & )")
# "Our accountant" is a team's, nobody's own.
_OF_A_TEAM: Final = frozenset(
    (
        "accountant",
        "lawyer",
        "manager",
        "boss",
        "client",
        "assistant",
        "secretary",
        "coach",
        "teacher",
        "student",
        "doctor",
    )
)
_PARTED: Final = re.compile(
    r" and i (?:just |have |recently )?(?:broke up|broken up|split up|are no longer together"
    r"|are not together any ?more|separated)\b"
)
_AND_I: Final = re.compile(
    r" and i(?:'re| are|'ve| have| got| were)? (?:just |recently |finally |now |officially |still )?(?:are |got "
    r"|been )?(?P<bond>engaged|married|dating|hitched|tied the knot|together)\b"
)
_AND_OTHER: Final = re.compile(
    r" (?:are|got|just got|have been|were|están|se) (?:just |finally |now )?(?P<bond>engaged|married|dating|casados"
    r"|casaron|prometidos)\b"
)
_FOR_SHORT: Final = re.compile(r",? (?:or |we call (?:her|him) )?")
_I_MEAN: Final = re.compile(
    r"\b(?:when i (?:say|write|mention|talk about|put)|by) (?=\S).{1,50}?(?:,)? i(?:'m| always|'ll)? (?:mean|meaning"
    r"|talking about|refer(?:ring)? to) "
)
_LE_DICEN: Final = re.compile(
    r"(?:,? )?(?:todos |todo el mundo |la gente |en casa |siempre )?(?:le|lo|la) (?:dicen|decimos|llaman|llamamos|digo"
    r"|llamo) "
)
_TITLE: Final = re.compile(r"^(?:Dra?|Mrs?|Ms|Prof|Sra?|Srta)\. ")

_CALLED: Final = re.compile(
    r"(?:(?:^|,? )(?:but |and )?(?:most )?(?:everyone|everybody|people|friends|we all|we|my (?:friends|family)|they|i"
    r"|todos|todo el mundo|mis amigos|la gente"
    r"|all my friends|most people|the team|colleagues)(?: always| just| usually| all| at work| here)? (?:calls?"
    r"|llaman?|dicen?|le dicen|le decimos|know)(?: (?P<whom>me|him|her|them|[^\W\d_]+))?(?: as| just| by)? )"
)
_INTRODUCED: Final = re.compile(
    r"(?:\b(?:my (?:full |real |first |given |legal )?name(?:'s| is)|i am called|i'm called|me llamo"
    r"|mi nombre(?: completo)? es)"
    r"|^(?:hi|hello|hey|hola|good (?:morning|evening|afternoon))?[,!. ]*(?:this is|i'm|i am|soy)|\b(?:hi|hello|hey"
    r"|hola)[,!]? (?:there[,!]? )?(?:i'm|i am|soy)) "
)
_CALL_ME: Final = re.compile(
    r"\b(?:(?:please |just |you can |everyone |everybody |people |(?:my )?friends |they |most people |most folks "
    r"|they all |all )?calls? me|i go by|i'm known as|also known as|a\.?k\.?a\.?|(?:me (?:llaman|dicen"
    r"|puedes llamar))|llámame|my nickname is|nicknamed|mi apodo es) (?:just |simply )?"
)
_SHORT_FOR: Final = re.compile(
    r",? (?:is |which is |it's )?(?:short for|a nickname for|stands for|es el diminutivo de|diminutivo de) "
)
_GOES_BY: Final = re.compile(
    r" (?:(?:usually |also |just |always |mostly )?(?:goes by|likes to be called|prefers to be called|prefers)|(?:is "
    r"|, )?(?:also )?(?:known as|called|nicknamed)|\(?,? ?a\.?k\.?a\.?|, or|\(or|,? alias) (?:just |simply )?"
)
_PARENTHESIS: Final = re.compile(r" \((?:or |aka |short: |a\.k\.a\. )?")
# Names in quotation marks or brackets behind a name: Benjamin "Benji" Koch.
_QUOTED_NICK: Final = re.compile(r" [\"“(‘'](?P<nick>[^\W\d_a-z][\w.-]{1,20})[\"”)’']")


def find_people(statement: Statement, scene: Scene) -> Found:
    """Everything that `statement` says about who is who."""
    found = Found()
    names_at = scene.at()
    _roles(statement, scene, names_at, found)
    _nicknames(statement, scene, names_at, found)
    return found


def _add_role(found: Found, statement: Statement, who: Name, role: str, of: str, adjective: str = "") -> None:
    """`who` plays `role` for `of`. The role by itself is another name for `who`, if it is not over."""
    if who.text.lower() == of.lower():
        return
    predicate, over = predicate_of(role)
    over = over or any(word in FORMER - {"old", "late"} for word in adjective.split())
    found.persons.add(who.text)
    found.claims.append(Claim(who.text, predicate, of, who.begin, who.stop, over, 0.85, None, is_name=True))
    if not over:
        found.aliases.append((who.text, described(of, role, statement.language)))


def _roles(statement: Statement, scene: Scene, names_at: dict[int, Name], found: Found) -> None:
    low, speaker = statement.low, scene.speaker
    done: set[str] = set()
    for match in _OWNED.finditer(low):
        if match["theirs"]:
            owner = next((name for name in scene.names if name.stop == match.start()), None)
            if owner is None:
                continue
            of = owner.text
            found.persons.add(of)
        else:
            of = speaker
        who = names_at.get(match.end()) or names_at.get(match.start("link") + 1)
        if (
            who
            and who.text not in done
            and who.text.lower() not in ROLES
            and not (match["link"] == "," and _listed_after(low, who))
        ):
            done.add(who.text)
            _add_role(found, statement, who, match["role"], of, match["adj"])
        elif who is None and match["theirs"]:
            owner = next(name for name in scene.names if name.stop == match.start())
            ahead = re.compile(r"(?P<who>[^\W\d_][\w'’ .-]{1,40}?) (?:is|was|es) $").search(
                statement.text[: owner.begin]
            )
            named = next(
                (
                    name
                    for name in scene.names
                    if (ahead and name.stop == owner.begin - 4) or name.stop == owner.begin - 2
                ),
                None,
            )
            if named:
                _add_role(found, statement, named, match["role"], of, match["adj"])
    for name in scene.names:
        if name.text in done:
            continue
        match = _IS_ROLE.match(low, name.stop)
        if match is not None and (
            re.match(r"'s? [^\W\d_]", low[match.end() :])
            or match[0].startswith((" my", " our", " mi", " nuestr"))
        ):
            continue
        if (
            match
            and match["mine"] in {"our", "nuestra", "nuestro"}
            and ROLES.get(match["role"]) in _OF_A_TEAM
        ):
            continue
        if match:
            _add_role(found, statement, name, match["role"], speaker, match["adj"])
        elif (match := _ROLE_OF.match(low, name.stop)) and (other := names_at.get(match.end())):
            _add_role(found, statement, name, match["role"], other.text)
    for name in scene.names:
        match = _AND_THEIR.match(low, name.stop)
        who = names_at.get(match.end()) if match else None
        if match and who and who.text not in done:
            done.add(who.text)
            found.persons.add(name.text)
            _add_role(found, statement, who, match["role"], name.text)
    for name in scene.names:
        title, _, rest = name.text.partition(" ")
        if rest and title.lower() in _KIN_TITLES:
            _add_role(
                found,
                statement,
                Name(rest, name.begin + len(title) + 1, name.stop, False),
                title.lower(),
                speaker,
            )
    for match in _HAVE_ROLE.finditer(low):
        if who := names_at.get(match.end()):
            _add_role(found, statement, who, match["role"], speaker)
    for match in _MANY.finditer(low):
        position = match.end()
        while who := names_at.get(position):
            _add_role(found, statement, who, PLURALS[match["role"]], speaker)
            joint = _NAME_JOINT.match(low, who.stop)
            if joint is None:
                break
            position = joint.end()


def _listed_after(low: str, who: Name) -> bool:
    """ "my brother, Tom and Ann": more likely a list of people than "my brother Tom"."""
    return bool(re.match(r"(?:,| and) [^\W\d_]+ and ", low[who.stop :]))


def _nicknames(statement: Statement, scene: Scene, names_at: dict[int, Name], found: Found) -> None:
    low, speaker = statement.low, scene.speaker
    for pattern in (_INTRODUCED, _CALL_ME):
        for match in pattern.finditer(low):
            name = names_at.get(match.end())
            if (
                name is None
                and pattern is _CALL_ME
                and statement.text[match.end() : match.end() + 1].isupper()
            ):
                written = re.compile(r"[\w.'’-]+").match(statement.text, match.end())
                name = (
                    Name(written[0].rstrip("."), match.end(), match.end() + len(written[0]), False)
                    if written
                    else None
                )
            if name is None or (
                pattern is _INTRODUCED
                and "i'm" in match[0]
                and re.match(r" (?:fan|lover|user|mom|dad|person)\b", low[name.stop :])
            ):
                continue
            said = _TITLE.sub("", name.text)
            if said.lower() != speaker.lower():
                found.persons.add(said)
                found.aliases.append((speaker, said))
    last = scene.last_person
    for match in _I_MEAN.finditer(low):
        meant = names_at.get(match.end())
        short = next((name for name in scene.names if match.start() <= name.begin < match.end()), None)
        if meant and short and meant is not short:
            found.aliases.append((meant.text, short.text))
    for name in scene.names:
        match = _LE_DICEN.match(low, name.stop) if statement.language == "es" else None
        if match and (other := names_at.get(match.end())):
            found.aliases.append((name.text, other.text))
        if _PARTED.match(low, name.stop) or low.endswith(("broke up with ", "split up with "), 0, name.begin):
            found.claims.append(
                Claim(speaker, "partner_of", name.text, name.begin, name.stop, True, 0.75, None, is_name=True)
            )
            found.persons.add(name.text)
        match = _AND_I.match(low, name.stop)
        if match:
            predicate = {"engaged": "engaged_to", "dating": "partner_of", "together": "partner_of"}.get(
                match["bond"], "married_to"
            )
            found.claims.append(
                Claim(speaker, predicate, name.text, name.begin, name.stop, False, 0.8, None, is_name=True)
            )
            found.persons.add(name.text)
    for name in scene.names:
        nick = _QUOTED_NICK.match(statement.text, name.stop)
        if nick and (nick[0][1] != "(" or _is_short_of(nick["nick"], name.text)):
            found.aliases.append((name.text, nick["nick"]))
    for first, other in zip(scene.names, scene.names[1:], strict=False):
        bond = (
            _AND_OTHER.match(low, other.stop) if low[first.stop : other.begin] in {" and ", " y "} else None
        )
        if bond:
            predicate = (
                "engaged_to"
                if bond["bond"] in {"engaged", "prometidos"}
                else "partner_of"
                if bond["bond"] == "dating"
                else "married_to"
            )
            found.claims.append(
                Claim(
                    first.text, predicate, other.text, other.begin, other.stop, False, 0.8, None, is_name=True
                )
            )
        if low.startswith(" for short", other.stop) and _FOR_SHORT.fullmatch(low, first.stop, other.begin):
            found.aliases.append((first.text, other.text))
    for match in _CALLED.finditer(low):
        called = names_at.get(match.end())
        whom = match["whom"]
        if called is None or whom == "me" or whom is None:
            continue
        before = [name for name in scene.names if name.stop <= match.start()]
        who = before[-1].text if before else last
        if who and who != called.text:
            found.aliases.append((who, called.text))
    for first in scene.names:
        for pattern in (_GOES_BY, _SHORT_FOR, _PARENTHESIS):
            match = pattern.match(low, first.stop)
            other = names_at.get(match.end()) if match else None
            if match is None or other is None:
                continue
            if (
                pattern is _PARENTHESIS
                and not _is_short_of(other.text, first.text)
                and "or " not in match[0]
                and "aka" not in match[0]
            ):
                continue
            if pattern is _GOES_BY and match[0].strip() in {"called", "prefers", "known as"}:
                continue
            pair = (other.text, first.text) if pattern is _SHORT_FOR else (first.text, other.text)
            found.aliases.append(pair)


def _is_short_of(short: str, name: str) -> bool:
    """Whether the one is the other's initials or beginning ("WHO", "Ali", "Bob" not)."""
    initials = "".join(part[0] for part in name.split() if part[0].isupper())
    bare = short.replace(".", "")
    return bare.upper() == initials.upper() or (len(bare) > 1 and name.lower().startswith(bare.lower()))
