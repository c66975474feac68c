"""The words that dates are said with, in the languages that `dates` reads."""


def numbered(words: str, first: int) -> dict[str, int]:
    """A table from "one|a, two": every word of the first group means `first`, and so on."""
    groups = words.split(", ")
    return {word: number for number, group in enumerate(groups, first) for word in group.split("|")}


MONTHS = numbered(
    "january|jan|enero|januar|jänner|janvier|janeiro|gennaio|januari, february|feb|febrero|februar|février|fevereiro"
    "|febbraio|februari, march|mar|marzo|märz|mars|março|maart, april|apr|abril|avril|aprile, may|mayo|mai|maio|maggio|mei"
    "|maj, june|jun|junio|juni|juin|junho|giugno, july|jul|julio|juli|juillet|julho|luglio, august|aug|agosto|août|augustus"
    "|augusti, september|sep|sept|septiembre|setiembre|septembre|setembro|settembre, october|oct|octubre|oktober|okt|octobre"
    "|outubro|ottobre, november|nov|noviembre|novembre|novembro, december|dec|diciembre|dezember|dez|décembre|dezembro"
    "|dicembre",
    1,
)
# These are other words or names too: alone they need "in", "since" ... in front, and a capital letter in English.
DOUBTFUL = frozenset(
    (
        "may",
        "mar",
        "march",
        "mars",
        "sep",
        "jan",
        "mai",
        "mei",
        "dez",
        "okt",
        "nov",
        "dec",
        "june",
        "april",
        "august",
    )
)
WEEKDAYS = numbered(
    "monday|mon|lunes|montag|lundi|segunda-feira|lunedì|maandag|måndag, tuesday|tue|tues|martes|dienstag|mardi|terça-feira"
    "|martedì|dinsdag|tisdag, wednesday|wed|miércoles|mittwoch|mercredi|quarta-feira|mercoledì|woensdag|onsdag, thursday|thu"
    "|thur|thurs|jueves|donnerstag|jeudi|quinta-feira|giovedì|donderdag|torsdag, friday|fri|viernes|freitag|vendredi"
    "|sexta-feira|venerdì|vrijdag|fredag, saturday|sábado|samstag|sonnabend|samedi|sabato|zaterdag|lördag, sunday"
    "|domingo|sonntag|dimanche|domenica|zondag|söndag",
    0,
)
SHORT = frozenset(("mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri"))
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "primavera": 3, "verano": 6, "otoño": 9,
            "invierno": 12}  # fmt: skip
HOLIDAYS = {
    "christmas eve": (12, 24), "christmas day": (12, 25), "christmas": (12, 25), "xmas": (12, 25), "boxing day": (12, 26),
    "new year's eve": (12, 31), "new year's day": (1, 1), "valentine's day": (2, 14), "halloween": (10, 31),
    "nochebuena": (12, 24), "navidad": (12, 25), "nochevieja": (12, 31), "año nuevo": (1, 1),
}  # fmt: skip
DAYS = {
    "the day after tomorrow|day after tomorrow|pasado mañana|übermorgen|après-demain": 2,
    "tomorrow|tmrw|demain|amanhã|domani|imorgon|i morgon": 1,
    "today|tonight|this morning|this afternoon|this evening|hoy|esta mañana|esta tarde|esta noche|heute|aujourd'hui|hoje|oggi"
    "|idag|i dag|vandaag": 0,
    "yesterday|last night|ayer|anoche|gestern|ontem|ieri|igår|gisteren": -1,
    "the day before yesterday|anteayer|antes de ayer|vorgestern|avant-hier|anteontem": -2,
}
DAY_WORDS = {word: step for words, step in DAYS.items() for word in words.split("|")}
NEXT = "next|coming|upcoming|this coming|próxim[oa]|nächste[nrs]?|kommende[nrs]?"
LAST = "last|this past|past|letzte[nrs]?|vergangene[nrs]?"
THIS = "this|est[ea]|diese[nrs]?"
NUMBERS = numbered(
    "one|a|an|un|una|uno|ein|einem|einer|eine|einen|une, two|a couple of|couple of|dos|un par de|zwei|deux|twee, three|a few|few"
    "|tres|unos|unas|drei|trois, four|several|cuatro|varios|varias|vier|quatre, five|cinco|fünf|cinq, six|seis|sechs, "
    "seven|siete|sieben|sept, eight|ocho|acht|huit, nine|nueve|neun|neuf, ten|diez|zehn|dix, eleven|once|elf, "
    "twelve|doce|zwölf|douze",
    1,
)
UNITS = {
    "day": "days?|días?|tage?n?|jours?|dias?|dagen|dagar",
    "week": "weeks?|semanas?|wochen?|semaines?|weken|veckor",
    "month": "months?|mes(?:es)?|monate?n?|mois|mês|maanden|månader",
    "year": "years?|años?|jahre?n?|ans?|anos?|jaar|år",
    "hour": "hours?|horas?|stunden?|heures?",
    "minute": "minutes?|minutos?|minuten?",
}
UNIT = "(?P<unit>" + "|".join(UNITS.values()) + ")"
