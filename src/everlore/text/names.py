"""Names in a sentence: runs of capitalised words that are not just the beginning of a sentence."""

import re
from collections.abc import Container
from dataclasses import dataclass

from everlore.text.sentences import word_set

_PART = r"[^\W\d_a-zà-öø-ÿ](?:[\w&]|['’-](?=\w)|\.(?=\w))*"
_INITIAL = r"[^\W\d_a-zà-öø-ÿ]\."
_LINK = r"(?:de la|de los|de las|of the|de|del|da|do|dos|du|van der|van|von|der|den|di|la|le|of|&)"
_TITLE = r"(?:(?:Dra?|Mrs?|Ms|Prof|Sra?|Srta)\. )"
_NAME = re.compile(
    rf"(?<![\w'’@#/.-])(?!I(?:['’]\w+)?(?!\w)){_TITLE}?(?:(?:{_INITIAL}){{2,4}}(?!\w)|{_INITIAL}|{_PART})"
    rf"(?: (?:{_LINK} )?(?:{_INITIAL}|{_PART})){{0,6}}"
)
_POSSESSIVE = re.compile(r"['’]s?$")

# Capitalised by rule or by habit, and no names. Months and weekdays of the languages of `dates` stand here again, as words.
NO_NAMES = word_set(
    """
    i i'm i've i'd i'll im monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december mon tue wed thu fri sat sun feb mar apr jun jul aug sep
    sept oct nov dec lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio
    agosto septiembre octubre noviembre diciembre montag dienstag mittwoch donnerstag freitag samstag sonntag januar
    februar märz mai juni juli oktober dezember lundi mardi mercredi jeudi vendredi samedi dimanche christmas xmas
    easter halloween thanksgiving ramadan eid diwali hanukkah navidad nochebuena ok okay lol omg btw fyi imo imho tbh
    asap eta aka diy tv pc dm ps pm am usd eur gbp todo tbd yes no hi hello hey thanks thank sorry please well oh wow
    yeah god jesus english spanish german french italian portuguese dutch swedish chinese japanese korean russian arabic
    american british mexican indian canadian european african asian catalan e-mail email mail ich
    """
)
# Words that begin sentences. One of them alone at the beginning is never a name.
STARTERS = word_set(
    """
    a an the this that these those there here he she it we you they his her its our your their my mine me us him them
    who whom whose which what when where why how if then than so as at by for from in into of off on onto out over to up
    with without about above after again against all also although always and another any anyone anything anyway are is
    was were be been being am do does did done have has had having can could will would shall should may might must let
    lets let's not no nor never none now but because before behind below between both each either every everyone
    everything everybody few first finally feel feeling felt found get getting got give given go going gonna gone good
    great glad happy had hope hoping however imagine instead just keep last lately later least less like look looking
    love loving made make making many maybe meanwhile met more most much nobody nothing once one only or other others
    our own perhaps plus probably quick quite rather ready really recently remember remind right same say said saw see
    seems seen since some somebody someone something sometimes soon still such sure take taking talk tell thanks though
    thought three through today together tomorrow tonight too took totally true trying two under until usually used very
    wait want wanted was way weekend went were while wish wishing work working worked would yesterday yet actually
    honestly unfortunately luckily currently apparently basically guess turns fun funny cool nice awesome amazing
    absolutely definitely exactly correction update note reminder heads long short story morning afternoon evening night
    new old next time times friends family people kids please call calling add put set send save store write read ask
    asking started starting finished planning thinking learned learnt realised realized decided moving moved born grew
    living studied el la los las un una unos unas y o pero si no yo tú tu él ella nosotros ellos ellas usted ustedes mi
    mis su sus nuestro nuestra este esta esto estos estas ese esa eso de del en con por para sin sobre desde hasta que
    qué quien quién como cómo cuando cuándo donde dónde porque aunque también además ya hoy ayer mañana anoche siempre
    nunca ahora antes después luego entonces bueno vale hola gracias perdón perdona oye mira pues así muy más menos todo
    todos toda todas nada nadie algo alguien hace hay soy estoy está es fue era tengo tiene vivo trabajo me te se nos le
    les lo al creo quiero necesito voy vamos he ha hemos han ich du er sie es wir ihr der die das ein eine und aber oder
    nicht mein meine heute gestern morgen am im in je tu il elle nous vous ils elles le la les un une des et ou mais mon
    ma mes jag du han hon vi de det den och men
    """
)
_PLAIN = re.compile(r"[\W\d_]+$")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is written (without 's), its characters, and whether it only stands at the beginning of the sentence."""

    text: str
    begin: int
    stop: int
    opens: bool


def names(sentence: str, known: Container[str] = frozenset()) -> tuple[Name, ...]:
    """Names in order. One word that opens the sentence counts only if `known` holds it in lower case, or if it is followed
    by another part; the caller may accept what `opens` when the words after it speak for a name."""
    found: list[Name] = []
    shouted = sum(map(str.isupper, sentence)) > 0.6 * max(1, sum(map(str.isalpha, sentence)))
    if shouted and len(sentence) > 8:
        return ()
    for match in _NAME.finditer(sentence):
        begin, written = match.start(), match[0]
        opens = _is_opening(sentence, begin)
        written, begin = _without_lead(written, begin, opens, known)
        written = (
            _POSSESSIVE.sub("", written).rstrip(".-") if not re.search(r"\b[^\W\d_]\.$", written) else written
        )
        if not written or written.lower() in NO_NAMES or _PLAIN.fullmatch(written) or written == "I":
            continue
        alone = opens and begin == match.start() and " " not in written
        if alone and written.lower() in STARTERS:
            continue
        found.append(Name(written, begin, begin + len(written), alone and written.lower() not in known))
    return tuple(found)


def _is_opening(sentence: str, begin: int) -> bool:
    """Whether nothing but marks stands in front, or a mark after which a sentence may begin."""
    ahead = sentence[max(0, begin - 3) : begin].rstrip(" \"'“‘(*_¿¡-")
    return (
        begin == 0
        or (not ahead and not sentence[:begin].strip(" \"'“‘(*_¿¡-"))
        or ahead[-1:] in tuple(".!?:…")
    )


def _without_lead(written: str, begin: int, opens: bool, known: Container[str]) -> tuple[str, int]:
    """`written` without leading words that are no names ("Yesterday Emma" is Emma), and trailing ones."""
    parts = written.split(" ")
    while parts and parts[0].lower() not in known:
        plain = _POSSESSIVE.sub("", parts[0].lower())
        if plain not in NO_NAMES and not (plain in STARTERS and (opens or len(parts[0]) == 1)):
            break
        begin += len(parts[0]) + 1
        parts.pop(0)
        while parts and parts[0][:1].islower():
            begin += len(parts[0]) + 1
            parts.pop(0)
        opens = False
    while parts and (parts[-1][:1].islower() or parts[-1].lower() in NO_NAMES):
        parts.pop()
    return " ".join(parts), begin
