"""Facts that no verb of their own says: "my first day at ...", "jazz is my thing", "baker by trade", "me da asco ..."."""

import re
from typing import Final

from everlore.models.rules.clauses import GRAMMARS, Claim, Scene
from everlore.models.rules.grammar import Rule
from everlore.models.rules.objects import is_profession, object_at
from everlore.models.rules.people import FoundPerson
from everlore.models.rules.reading import RuleStatement

# What stands behind the phrase is the object. The speaker is the subject.
_AHEAD: Final = {
    "en": (
        Rule("", r"\b(?:my|our) (?:very )?first (?:day|week|month|shift) (?:at|with) ", "works_at", "org"),
        Rule("", r"\b(?:my|our) (?:very )?last (?:day|week|month|shift) (?:at|with) ", "works_at", "org", ends=True),
        Rule("", r"\b(?:my|the) (?:new )?(?:employer|company i work for|job) is (?:at |with |now )?", "works_at", "named"),
        Rule("", r"\bmy (?:new )?(?:job|profession|occupation|trade|day job|role)(?: title)?(?: is|'s"
            r"|:) (?:as )?(?:being )?(?:an? |the )?",
            "works_as", "role", role_at=True),
        Rule("", r"\b(?:home is|home's)(?: now)? (?:in )?", "lives_in", "place", confidence=0.65),
        Rule("", r"\b(?:i|we) call (?=[^,.]{2,30} home\b)", "lives_in", "place"),
        Rule("", r"\b(?:my|our) (?:new |old )?(?:flat|house|apartment|place|room) in ", "lives_in", "place", confidence=0.55),
        Rule("", r"\bmy (?:(?:main|current|work|daily|new|home) )*(?:editor|ide|os|distro|shell|terminal|browser"
            r"|operating system|database|stack)(?: of choice)?(?: is|:|'s) (?:now )?(?:an? |the )?", "uses", "tool"),
        Rule("", r"\bmy (?:(?:main|current|work|new|daily|second) )*(?:laptop|camera|phone|keyboard|car|bike|guitar"
            r"|van|motorbike|daily driver)(?: is|:|'s) (?:now )?(?:an? |the )?(?:old |new )?(?=[^\W\d_])",
            "owns", "thing", confidence=0.65),
        Rule("", r"\b(?:grew up|raised|brought up) (?:speaking|with|bilingual in) ", "speaks", "language"),
        Rule("", r"^(?:just )?(?:had |spent |back from |home from )?(?:an?|two|three|four|five|six|ten|\d+) (?:lovely "
            r"|great |long |gorgeous )?(?:days|nights|weeks|weekend|week) in ", "has_visited", "place", confidence=0.6),
        Rule("", r"\b(?:not|no longer) (?:with|on|in|part of) the (?=[^,.]{2,30}(?:any ?more|$|,|\.))", "member_of",
            "named", ends=True, confidence=0.65),
        Rule("", r"\b(?:not|no longer) with (?!the\b)(?=[^,.]{2,30}(?:any ?more|$|,|\.))", "works_at", "named",
            ends=True, confidence=0.65),
        Rule("", r"\bmy divorce from ", "married_to", "person", ends=True),
        Rule("", r"\b(?:i've got|i have) a soft spot for ", "likes", "taste"),
        Rule("", r"\b(?:my|our) (?:(?:little|side|pet|new|current|latest|own|hobby|open.source) )*(?:project|app|game"
            r"|startup|blog|podcast|library|bot|newsletter|zine)"
            r",? (?:is )?(?:called |named |is )?", "works_on", "named", confidence=0.7),
        Rule("", r"\b(?:side |pet |hobby )?projects?: .{2,80}? (?:called|named) ", "works_on", "named"),
        Rule("", r"^(?:i'm |i am |we're |we are |im )?(?:currently |still |slowly )?(?:working on|building|making"
            r"|writing|developing|designing) (?:an? |the |my |our ).{2,60}?,? (?:called|named|codenamed) ",
            "works_on", "named"),
        Rule("", r"\b(?:my|our) (?:[a-z]+ )?(?:trip|holiday|vacation|weekend|honeymoon|week|visit|stay"
            r"|city break) (?:in|to) (?=[^,.]{2,40} (?:was|were|went)\b)",
            "has_visited", "place", confidence=0.65),
        Rule("", r"\b(?:my|our) (?:native|first|second|home) (?:language|tongue)(?: is|'s|:) ", "speaks", "language"),
        Rule("", r"\bmy mother tongue(?: is|'s|:) ", "speaks", "language"),
        Rule("", r"\b(?:allergies|allergy|allergic): ", "allergic_to", "taste", many=True),
        Rule("", r"\b(?:likes|loves|into): ", "likes", "taste", many=True),
        Rule("", r"\b(?:dislikes|hates|pet peeves?)(?: is|:) ", "dislikes", "taste", many=True),
        Rule("", r"\bmy (?:new )?(?:uni|university|college|school) is (?:called )?", "studies_at", "org"),
        Rule("", r"\b(?:an alumn(?:us|a|i) of|got my degree from|did my (?:degree|phd|master's|masters) (?:at"
            r"|in .{3,30}? at)) ", "studies_at", "org", ends=True),
    ),
    "es": (
        Rule("", r"\bestoy de (?=[a-zà-ÿ]+ (?:en|desde|este|por)\b)", "works_as", "role"),
        Rule("", r"\bdejé (?!de\b|el\b|la\b|mi\b|a\b|que\b)", "works_at", "named", ends=True, confidence=0.6),
        Rule("", r"\b(?:lo (?:he|hemos) dejado|lo dejé|he cortado|corté|he roto|rompí) con ", "partner_of", "person",
            ends=True),
        Rule("", r"\bmi primer (?:día|turno|mes) en ", "works_at", "org"),
        Rule("", r"\bmi último (?:día|turno|mes) en ", "works_at", "org", ends=True),
        Rule("", r"\bme (?:han |ha )?(?:contratado|contrataron|fichado|ficharon|cogido|cogieron|aceptado) en ",
            "works_at", "org"),
        Rule("", r"\bme (?:han |ha )?(?:despedido|despidieron|echado|echaron) (?:de|del) ", "works_at", "org", ends=True),
        Rule("", r"\bhe (?:entrado|empezado)(?: a trabajar)? (?:como (?P<role>[a-zà-ÿ ]{3,40}?) )?en ", "works_at",
            "org", role=True),
        Rule("", r"\b(?:mi|nuestra) (?:nueva )?(?:casa|piso) (?:está |es )?en ", "lives_in", "place", confidence=0.55),
        Rule("", r"\bsoy (?:muy |súper |super )?fan (?:de(?:l| la| los| las)? )", "likes", "taste", many=True),
        Rule("", r"\bsoy un[a]? (?:apasionad[oa]|enamorad[oa]|loc[oa]|amante) (?:de(?:l| la| los| las)? )", "likes",
            "taste", many=True),
        Rule("", r"\bme vuelven? loc[oa] (?:el |la |los |las )?", "likes", "taste", many=True),
        Rule("", r"\bme dan? (?:mucho |un )?(?:asco|grima|alergia|rabia|repelús) (?:el |la |los |las )", "dislikes",
            "taste", many=True),
        Rule("", r"\b(?:nuestr[oa]|mi) (?:nuev[oa] )?(?:proyecto|app|juego|podcast|blog"
            r"|startup)(?: personal)?,? (?:se llama )?", "works_on", "named"),
        Rule("", r"\bmi (?:lengua materna|idioma materno|primera lengua) es (?:el )?", "speaks", "language"),
        Rule("", r"\b(?:soy|eres) (?:socio|socia|miembro) (?:de la |del |de )", "member_of", "org"),
    ),
}  # fmt: skip
# The object stands in front or inside.
_AROUND: Final[dict[str, tuple[tuple[re.Pattern[str], str], ...]]] = {
    "en": (
        (re.compile(r"(?:^|, |\band |\bi'm |\bi am |\bim )(?:an? )?(?P<obj>[a-z][a-z-]+(?: [a-z-]+){0,2}?) by (?:trade"
            r"|profession|training|day)\b"), "works_as"),
        (re.compile(r"(?:^|: )(?:an? )?(?P<obj>(?!.{0,40} as )[a-z][a-z -]{3,40}?) (?:at|for|with) (?=[^\W\d_])"),
            "works_as?"),
        (re.compile(r"\bfor a living,? i(?:'m| am) an? (?P<obj>[a-z][a-z -]{2,30}?)(?=[,.!]|$)"), "works_as"),
        (re.compile(r"(?:^|, |; |\band |\bbut )(?P<obj>[a-z][\w' -]{1,30}?) (?:is|are) (?:so |totally |really "
            r"|definitely |just )?my (?:thing|jam|cup of tea|happy place|comfort food|guilty pleasure|weakness)\b"), "likes"),
        (re.compile(r"(?:^|, |; |\band |\bbut )(?P<obj>[a-z][\w' -]{1,30}?) (?:is|are)(?:n't"
            r"| not) (?:really )?(?:my (?:thing|jam|cup of tea)|for me)\b"), "dislikes"),
        (re.compile(r"(?:^|, |; |\band |\bbut )(?P<obj>[a-z][\w' -]{1,30}?) (?:makes?|drives?|grosses"
            r"|creeps) me (?:gag|sick|ill|queasy|want to (?:puke|vomit)|crazy|mad|nuts|insane|up the wall|out)\b"),
            "dislikes"),
        (re.compile(r"(?:^|, |: )(?P<obj>[a-z][\w' -]{1,20}?) (?:>+|over|beats) [\w' -]{2,20}?(?: for me| any day"
            r"|, any day|, always|, every time| every time|$)"), "prefers"),
        (re.compile(r"^(?P<obj>[a-z][\w' -]{1,24}?) (?:is|has become|feels like) home(?: now| these days"
            r"| for now)?(?:[,.!]|$)"), "lives_in"),
        (re.compile(r"(?:^|\b(?:and|but) )(?P<obj>[a-z][\w'& -]{1,24}?) (?:hired|took) me (?:on|as|last|this|in"
            r"|yesterday|back|straight)?\b"), "works_at"),
        (re.compile(r"\bi(?:'m| am) an? (?P<obj>[a-z][\w' ]{1,24}?) (?:resident|local)\b"), "lives_in"),
        (re.compile(r"^(?P<obj>[a-z][\w' ]{1,24}?) born and (?:bred|raised)\b"), "born_in"),
    ),
    "es": (
        (re.compile(r"\bsoy (?P<obj>[a-zà-ÿ][\wà-ÿ ]{2,30}?) de (?:profesión|oficio|formación)\b"), "works_as"),
        (re.compile(r"(?:^|, |\by |\bpero )(?:el |la |los |las )?(?P<obj>[a-zà-ÿ][\wà-ÿ ]{1,30}?) (?:me"
            r"|no me) (?:dan? (?:mucho |un )?(?:asco|grima|rabia)|sientan? (?:fatal|mal)|repugnan?|horrorizan?)\b"),
            "dislikes"),
        (re.compile(r"(?:^|, |\by |\bpero )(?:el |la |los |las )?(?P<obj>[a-zà-ÿ][\wà-ÿ ]{1,30}?) (?:es|son) lo mío\b"),
            "likes"),
    ),
}  # fmt: skip
_NAMED: Final = frozenset(("lives_in", "works_at", "born_in"))
_NO_OBJECT: Final = re.compile(
    r"(?:it|this|that|he|she|they|which|what|you|one|there|i|we|so|just|the way|such)\b|.*\b(?:is|are|was|my|that|which|i)\b"
)
_COMPILED: Final = {
    language: tuple((rule, re.compile(rule.pattern)) for rule in rules) for language, rules in _AHEAD.items()
}
_OLD: Final = re.compile(r"\b(?:old|former|previous|ex)\b")


def find_phrases(statement: RuleStatement, scene: Scene, found: FoundPerson) -> None:
    """Add what set phrases of `statement` say of the speaker."""
    grammar = GRAMMARS.get(statement.language)
    if grammar is None:
        return
    low, names_at = statement.low, scene.at()
    for rule, pattern in _COMPILED[statement.language]:
        for match in pattern.finditer(low):
            if _OLD.search(match[0]):
                continue
            for one in object_at(statement, names_at, scene.dates, grammar, match, rule):
                found.claims.append(
                    Claim(scene.speaker, one.predicate or rule.predicate, one.text, one.begin, one.stop, rule.ends,
                        rule.confidence - 0.1, None, one.is_name)
                )  # fmt: skip
    for pattern, predicate in _AROUND[statement.language]:
        match = pattern.search(low)
        if match is None or _NO_OBJECT.match(match["obj"]):
            continue
        begin, stop = match.span("obj")
        article = grammar.article.match(low, begin)
        begin = article.end() if article and article.end() < stop else begin
        name = names_at.get(begin)
        if predicate in _NAMED and name is None:
            continue
        if predicate == "works_as?":
            employer = names_at.get(match.end())
            if employer is None or not is_profession(low[begin:stop]):
                continue
            predicate = "works_as"
            found.claims.append(
                Claim(
                    scene.speaker,
                    "works_at",
                    employer.text,
                    employer.begin,
                    employer.stop,
                    False,
                    0.7,
                    None,
                    is_name=True,
                )
            )
        text = name.text if name and predicate in _NAMED else statement.text[begin:stop]
        found.claims.append(
            Claim(
                scene.speaker, predicate, text, begin, begin + len(text), False, 0.7, None, name is not None
            )
        )
    if statement.language == "en":
        _appositions(statement, scene, found)


_A_ROLE: Final = re.compile(
    r",? (?:who(?:'s| is) )?(?:now |also )?an? (?P<role>[a-z][a-z -]{2,30}?)(?=,|$|\.| at | in | for | and | who | from )"
)


def _appositions(statement: RuleStatement, scene: Scene, found: FoundPerson) -> None:
    """ "Ines, a midwife, ..." """
    for name in scene.names:
        match = _A_ROLE.match(statement.low, name.stop)
        if match and match[0].startswith((",", " who")) and is_profession(match["role"]):
            begin, stop = match.span("role")
            found.claims.append(
                Claim(
                    name.text,
                    "works_as",
                    statement.text[begin:stop],
                    begin,
                    stop,
                    False,
                    0.7,
                    None,
                    is_name=False,
                )
            )
