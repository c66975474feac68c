"""Who is who: kinship and roles, nicknames, self-introductions."""

import re
from dataclasses import dataclass, field
from typing import Final

from everlore.models.rules.clauses import Claim, Scene, described
from everlore.models.rules.kin import FORMER, PLURALS, ROLE, ROLES, ROLES_PLURAL, predicate_of
from everlore.models.rules.nicknames import find_nicknames
from everlore.models.rules.objects import is_profession
from everlore.models.rules.reading import RuleStatement
from everlore.text.names import Name


@dataclass(slots=True)
class FoundPerson:
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
# "Dr. Obuya is my new rheumatologist".
_IS_MY_JOB: Final = re.compile(
    r"(?:,| is|'s| es) (?:my|mi) (?:new |nuev[oa] )?(?P<role>[a-zà-ÿ][a-zà-ÿ -]{3,30}?)(?=[,.!]|$| and | since | y )"
)
# "Remedios, la vecina del quinto": with an article alone, these are the speaker's own.
_THE_ROLE: Final = re.compile(
    r"(?:,| \(| is| es)? (?:the|la|el) (?P<role>neighbou?r|vecin[oa]|wife|husband|missus|landlord|landlady|caser[oa]"
    r"|boss|jef[ea])\b(?! of| que)"
)
_HAVE_ROLE: Final = re.compile(
    rf"\b(?:have|got|had|tengo) (?:an?|una?|one) (?P<adj>{_ADJ})(?P<role>{ROLE})(?: mayor| menor)?,? (?:called |named "
    rf"|whose name is |que se llama |llamad[oa] |(?<=, ))"
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
_DIVORCED: Final = re.compile(
    r" and i(?:'re| are|'ve| have| were)? (?:just |have |recently |finally |now |officially )?(?:got |getting )?divorced\b"
)
_AND_I: Final = re.compile(
    r" and i(?:'re| are|'ve| have| got| were)? (?:just |recently |finally |now |officially |still )?(?:are |got "
    r"|been )?(?P<bond>engaged|married|dating|hitched|tied the knot|together)\b"
)
_AND_I_ARE: Final = re.compile(
    r" (?:and (?:i|me)|y yo) (?:are|were|have been|'ve been|became|got to be|somos|fuimos"
    r"|hemos sido) (?:[a-z-]+ ){0,2}?(?P<role>friends|colleagues|coworkers|cousins|neighbours|neighbors|roommates"
    r"|flatmates|amigos|amigas|primos|compañeros)\b"
)
_WITH: Final = re.compile(
    r"\bi (?:work|share an office|sit) with $|\bi(?:'m| am) (?:friends|best friends|mates) with $|\bi (?:report"
    r"|answer) to $|\bi (?:share (?:a|the) (?:flat|house|apartment|room)|flatshare) with $"
)
_Y_YO: Final = re.compile(
    r" y yo (?:ya )?(?:nos casamos|estamos casados|nos hemos casado|estamos prometidos|nos hemos prometido"
    r"|nos prometimos|estamos saliendo|salimos|somos novios)\b"
)
_AND_OTHER: Final = re.compile(
    r" (?:are|got|just got|have been|were|están|se) (?:just |finally |now )?(?P<bond>engaged|married|dating|casados"
    r"|casaron|prometidos)\b"
)
_TITLE: Final = re.compile(r"^(?:Dra?|Mrs?|Ms|Prof|Sra?|Srta)\. ")

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


def find_people(statement: RuleStatement, scene: Scene) -> FoundPerson:
    """Everything that `statement` says about who is who."""
    found = FoundPerson()
    names_at = scene.at()
    _roles(statement, scene, names_at, found)
    _nicknames(statement, scene, names_at, found)
    return found


def _add_role(
    found: FoundPerson, statement: RuleStatement, who: Name, role: str, of: str, adjective: str = ""
) -> None:
    """`who` plays `role` for `of`. The role by itself is another name for `who`, if it is not over."""
    if who.text.lower() == of.lower():
        return
    predicate, over = predicate_of(role)
    over = over or any(word in FORMER - {"old", "late"} for word in adjective.split())
    found.persons.add(who.text)
    found.claims.append(Claim(who.text, predicate, of, who.begin, who.stop, over, 0.85, None, is_name=True))
    if not over:
        found.aliases.append((who.text, described(of, role, statement.language)))


def _roles(statement: RuleStatement, scene: Scene, names_at: dict[int, Name], found: FoundPerson) -> None:
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
        elif (match := _THE_ROLE.match(low, name.stop)) or (
            (match := _IS_MY_JOB.match(low, name.stop)) and is_profession(match["role"])
        ):
            _add_role(found, statement, name, match["role"], speaker)
        elif (match := _ROLE_OF.match(low, name.stop)) and (other := names_at.get(match.end())):
            _add_role(found, statement, name, match["role"], other.text)
    for name in scene.names:
        match = _AND_THEIR.match(low, name.stop)
        who = names_at.get(match.end()) if match else None
        if match and low.endswith((" in ", " at ", " to ", " from ", " en ", " a "), 0, name.begin):
            # "Ines lives in Faro with her boyfriend": a place has none.
            name = next((one for one in scene.names if one is not name and one.stop < name.begin), name)
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


def _nicknames(statement: RuleStatement, scene: Scene, names_at: dict[int, Name], found: FoundPerson) -> None:
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
    found.aliases += find_nicknames(statement, scene)
    for name in scene.names:
        if _PARTED.match(low, name.stop) or low.endswith(("broke up with ", "split up with "), 0, name.begin):
            found.claims.append(
                Claim(speaker, "partner_of", name.text, name.begin, name.stop, True, 0.75, None, is_name=True)
            )
            found.persons.add(name.text)
        if _DIVORCED.match(low, name.stop):
            found.claims.append(
                Claim(speaker, "married_to", name.text, name.begin, name.stop, True, 0.8, None, is_name=True)
            )
            found.persons.add(name.text)
        if match := _AND_I_ARE.match(low, name.stop):
            _add_role(found, statement, name, PLURALS.get(match["role"], "friend"), speaker)
        if with_ := _WITH.search(low[max(0, name.begin - 60) : name.begin]):
            said = with_[0]
            role = (
                "boss"
                if "report" in said or "answer" in said
                else "friend"
                if "'m" in said or " am" in said
                else "roommate"
                if ("share a" in said and "office" not in said) or "share the" in said
                else "colleague"
            )
            _add_role(found, statement, name, role, speaker)
        if " proposed" in low[name.stop : name.stop + 18] and re.search(r"\bi said yes|\bto me\b", low):
            found.claims.append(
                Claim(
                    speaker, "engaged_to", name.text, name.begin, name.stop, False, 0.75, None, is_name=True
                )
            )
        if match := _Y_YO.match(low, name.stop):
            bond = (
                "engaged_to"
                if "promet" in match[0]
                else "partner_of"
                if "sal" in match[0] or "novi" in match[0]
                else "married_to"
            )
            found.claims.append(
                Claim(speaker, bond, name.text, name.begin, name.stop, False, 0.75, None, is_name=True)
            )
        match = _AND_I.match(low, name.stop)
        if match:
            predicate = {"engaged": "engaged_to", "dating": "partner_of", "together": "partner_of"}.get(
                match["bond"], "married_to"
            )
            found.claims.append(
                Claim(speaker, predicate, name.text, name.begin, name.stop, False, 0.8, None, is_name=True)
            )
            found.persons.add(name.text)
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
