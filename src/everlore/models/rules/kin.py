"""Words for what one person is to another, in both languages, and the predicate that each stands for."""

import re
from typing import Final


def _table(written: str) -> dict[str, str]:
    """From "mother: mom, mum; father: dad": every word and its predicate's stem."""
    table: dict[str, str] = {}
    for group in written.split(";"):
        stem, words = (part.strip() for part in group.split(":"))
        for word in (stem, *(word.strip() for word in words.split(",") if word.strip())):
            table[word] = stem.replace(" ", "_").replace("-", "_")
    return table


ROLES: Final = _table(
    """mother: mom, mum, mam, ma, mama, mommy, mummy, madre, mamá;
    father: dad, da, papa, pops, old man, daddy, padre, papá;
    sister: little sister, big sister, older sister, younger sister, twin sister, half-sister, kid sister, baby sister,
        sis, lil sis, stepsis, hermana,
        hermana mayor, hermana menor, hermana pequeña;
    brother: little brother, big brother, older brother, younger brother, twin brother, half-brother, kid brother,
        baby brother, bro, lil bro,
        hermano, hermano mayor, hermano menor, hermano pequeño;
    son: oldest son, youngest son, eldest son, hijo;
    daughter: oldest daughter, youngest daughter, eldest daughter, hija;
    wife: mujer, esposa, missus, señora;
    husband: hubby, marido, esposo;
    girlfriend: gf, novia, chica;
    boyfriend: bf, fella, novio, chico;
    fiancé: fiance, prometido;
    fiancée: fiancee, prometida;
    partner: other half, better half, pareja;
    ex: ex;
    ex-wife: exmujer, ex-mujer;
    ex-husband: exmarido, ex-marido;
    ex-girlfriend: exnovia;
    ex-boyfriend: exnovio;
    cousin: prima, primo;
    aunt: auntie, tía;
    uncle: tío;
    niece: sobrina;
    nephew: sobrino;
    grandmother: grandma, granny, nana, nan, gran, abuela;
    grandfather: grandpa, granddad, grandad, gramps, abuelo;
    granddaughter: nieta;
    grandson: nieto;
    mother-in-law: suegra;
    father-in-law: suegro;
    sister-in-law: cuñada;
    brother-in-law: cuñado;
    son-in-law: yerno;
    daughter-in-law: nuera;
    stepmother: stepmom, stepmum, madrastra;
    stepfather: stepdad, padrastro;
    stepson: hijastro;
    stepdaughter: hijastra;
    stepbrother: hermanastro;
    stepsister: hermanastra;
    godmother: madrina;
    godfather: padrino;
    goddaughter: ahijada;
    godson: ahijado;
    friend: best friend, best mate, good mate, old mate, school friend, oldest friend, close friend, old friend,
        childhood friend, good friend, buddy, pal, mate, bestie, colega, amigo,
        amiga, mejor amigo, mejor amiga;
    colleague: coworker, work friend, desk neighbour, co-worker, workmate, teammate, compañero, compañera,
        compañero de trabajo, compañera de trabajo;
    boss: jefe, jefa;
    manager: line manager;
    supervisor: thesis supervisor, advisor, adviser, supervisora;
    mentor: mentora;
    business partner: socio, socia;
    co-founder: cofounder;
    roommate: flatmate, housemate, compañero de piso, compañera de piso, compañero de cuarto;
    neighbour: neighbor, next-door neighbour, vecino, vecina;
    landlord: landlady, casero, casera;
    teacher: piano teacher, guitar teacher, yoga teacher, profesor, profesora, profe;
    doctor: gp, médico, médica;
    dentist: dentista;
    therapist: psychologist, terapeuta, psicóloga, psicólogo;
    lawyer: abogado, abogada;
    accountant: contable;
    coach: trainer, personal trainer, entrenador, entrenadora;
    tutor: tutora;
    vet: veterinario, veterinaria;
    assistant: asistente;
    secretary: secretaria;
    student: alumno, alumna;
    client: cliente;
    babysitter: nanny, niñera;
    hairdresser: peluquera, peluquero;
    twin: gemelo, gemela"""
)
# Roles of children and pets may be plural: "my two sisters, Ana and Eva".
PLURALS: Final = {
    "sisters": "sister", "brothers": "brother", "sons": "son", "daughters": "daughter", "cousins": "cousin",
        "friends": "friend",
    "roommates": "roommate", "flatmates": "roommate", "neighbours": "neighbour", "neighbors": "neighbour",
    "colleagues": "colleague", "coworkers": "colleague", "hermanas": "sister", "hermanos": "brother", "hijas": "daughter",
    "hijos": "son", "primos": "cousin", "primas": "cousin", "amigos": "friend", "amigas": "friend",
}  # fmt: skip
# A pair bond says two things: who plays the role, and that the two are a pair.
PAIRS: Final = {
    "wife": "married_to", "husband": "married_to", "fiancé": "engaged_to", "fiancée": "engaged_to", "partner": "partner_of",
    "girlfriend": "partner_of", "boyfriend": "partner_of",
}  # fmt: skip
ENDED: Final = frozenset(("ex", "ex_wife", "ex_husband", "ex_girlfriend", "ex_boyfriend"))
FORMER: Final = frozenset(("former", "late", "old", "ex", "previous", "antiguo", "antigua", "anterior"))

ROLE: Final = (
    "(?:" + "|".join(re.escape(word) for word in sorted(ROLES, key=len, reverse=True)) + r")(?![\w-])"
)
ROLES_PLURAL: Final = "(?:" + "|".join(sorted(PLURALS, key=len, reverse=True)) + r")\b"


def predicate_of(role: str) -> tuple[str, bool]:
    """The predicate of a role word, and whether it is over (an ex, whoever that was)."""
    stem = ROLES.get(role) or PLURALS.get(role) or role
    if stem in ENDED:
        known = stem.removeprefix("ex_")
        return (f"{known}_of" if known != "ex" else "partner_of"), True
    stem = {"fiancée": "fiancée", "fiancé": "fiancé"}.get(stem, stem)
    return PAIRS.get(stem, f"{stem}_of"), False
