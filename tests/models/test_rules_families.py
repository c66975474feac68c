"""Ways of saying the same: fragments, left-out subjects, synonyms, set phrases, other names."""

from datetime import UTC, datetime

import pytest

from everlore.models.rules.analyst import extract
from everlore.ports.analyst import Extraction, Window, WindowMessage

AT = datetime(2026, 3, 11, tzinfo=UTC)


def read(text: str) -> Extraction:
    return extract(Window((WindowMessage(1, "user", "Sam", AT, text),)))


@pytest.mark.parametrize(
    ("text", "predicate", "object_"),
    [
        ("Moved to Leeds last month", "lives_in", "Leeds"),
        ("im based in Bergen these days", "lives_in", "Bergen"),
        ("After three years abroad we're back in Ghent", "lives_in", "Ghent"),
        ("Ghent is home now", "lives_in", "Ghent"),
        ("we finally made the move to Porto", "lives_in", "Porto"),
        ("started last week as a welder at Siemens", "works_as", "welder"),
        ("my first day at Siemens was yesterday", "works_at", "Siemens"),
        ("Siemens hired me last month", "works_at", "Siemens"),
        ("been with Siemens for eleven years", "works_at", "Siemens"),
        ("data engineer at Kite, since you ask", "works_at", "Kite"),
        ("I'm 41 and a baker by trade", "works_as", "baker"),
        ("Sam here, 34, nurse from Leeds", "works_as", "nurse"),
        ("enrolled in law at Uppsala", "studies_at", "Uppsala"),
        ("I'm a second-year geology student at Leeds", "studies", "geology"),
        ("Allergic to shellfish btw", "allergic_to", "shellfish"),
        ("big fan of jazz", "likes", "jazz"),
        ("can't get enough of jazz", "likes", "jazz"),
        ("not a fan of olives", "dislikes", "olives"),
        ("olives make me gag", "dislikes", "olives"),
        ("tea > coffee for me", "prefers", "tea"),
        ("fav band: Low", "favourite_band", "Low"),
        ("been playing the cello since I was six", "plays", "cello"),
        ("bought a Vespa off my uncle", "owns", "Vespa"),
        ("we have two ferrets, Nim and Gus", "has_pet", "Gus"),
        ("Moth is my cat", "has_pet", "Moth"),
        ("my editor is Neovim", "uses", "Neovim"),
        ("moved from Emacs to Vim", "uses", "Vim"),
        ("been to Malta twice", "has_visited", "Malta"),
        ("I speak Tamil at home, English at work", "speaks", "English"),
        ("joined the Cwmdare bell ringers", "member_of", "Cwmdare bell ringers"),
        ("Ola and I tied the knot on Saturday", "married_to", "Ola"),
        ("me acabo de mudar a Gijón", "lives_in", "Gijón"),
        ("curro de enfermera en La Paz", "works_at", "La Paz"),
        ("me han contratado en Correos", "works_at", "Correos"),
        ("me chifla la escalada", "likes", "escalada"),
        ("no aguanto el cilantro", "dislikes", "cilantro"),
        ("soy celíaco y alérgico a las nueces", "allergic_to", "nueces"),
        ("llevo diez años casado con Itziar", "married_to", "Itziar"),
    ],
)
def test_a_fact_is_found_however_it_is_said(text: str, predicate: str, object_: str) -> None:
    assert (predicate, object_) in {
        (fact.predicate, fact.object) for fact in read(text).facts if fact.subject == "Sam"
    }


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "object_"),
    [
        ("my cousin Theo, who works at Bosch, is coming over", "Theo", "works_at", "Bosch"),
        ("Theo's wife Ana teaches at Hollis Primary", "Ana", "works_at", "Hollis Primary"),
        ("my sister Ines, a midwife, is on nights", "Ines", "works_as", "midwife"),
        ("my partner Quill (they/them) works at Bosch", "Quill", "works_at", "Bosch"),
        ("Ines lives in Faro with her boyfriend Rui", "Rui", "partner_of", "Ines"),
        ("Lina's dog Rex bit the postman", "Lina", "has_pet", "Rex"),
        ("I report to Omar", "Omar", "boss_of", "Sam"),
        ("el gato es de Remedios, la vecina del quinto", "Remedios", "neighbour_of", "Sam"),
    ],
)
def test_facts_of_others_are_theirs(text: str, subject: str, predicate: str, object_: str) -> None:
    assert (subject, predicate, object_) in {
        (fact.subject, fact.predicate, fact.object) for fact in read(text).facts
    }


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("gotta renew my passport", "task"),
        ("still haven't filed my taxes", "task"),
        ("settled on the blue tiles", "decision"),
        ("going with Hetzner instead of AWS because of price", "decision"),
        ("note to self: always check the fuse first", "lesson"),
        ("can't ship because the cert expired", "blocker"),
        ("on weekdays I'm up at six", "habit"),
        ("trying to cut down on sugar", "goal"),
        ("our lift breaks down whenever it rains", "general"),
        ("spare key is under the blue pot", "note"),
        ("log level is set through LOG_LEVEL", "system_config"),
        ("finally watched Stalker last night, my kids think I'm ancient", "event"),
        ("me falta enviar la factura", "task"),
        ("suelo cenar tarde", "habit"),
        ("no podemos lanzar hasta que firme legal", "blocker"),
    ],
)
def test_a_fragment_has_its_type(text: str, type_: str) -> None:
    assert [memory.type for memory in read(text).memories] == [type_]


@pytest.mark.parametrize(
    ("text", "name", "alias"),
    [
        ("my mate Bartholomew - Barty to literally everyone - is here", "Bartholomew", "Barty"),
        ("ceno con mi tía Mercedes, Merche para los amigos", "Mercedes", "Merche"),
        ("Rosalind is late again, everyone calls her Roz", "Rosalind", "Roz"),
        ("my cousin Yusra is here, she goes by Yuyu", "Yusra", "Yuyu"),
        ("my friends call me bee", "Sam", "bee"),
    ],
)
def test_other_names_are_found(text: str, name: str, alias: str) -> None:
    assert (name, alias) in {(one.name, other) for one in read(text).entities for other in one.aliases}


@pytest.mark.parametrize(
    "text",
    [
        "in case I ever move to Leeds, remind me of this",
        "wish i spoke Japanese like you do",
        "not that I live in Leeds or anything",
        "nearly joined the Rovers back in the day",
        "ah yes because what I need at 3am is a fire drill",
        "Tom: I live in Leeds",
        "I'm getting promoted, she told me yesterday",
        "here's the fixture: {name: 'Jane Roe', email: 'jane@fixture.example'} why does it fail",
        "the root pw is Kr4bb3n!salat",
        "dice mi suegra que odia el mar",
        "casi me compro una moto",
        "claro, y yo soy el rey de España",
    ],
)
def test_traps_give_nothing(text: str) -> None:
    found = read(text)
    assert (found.memories, found.facts) == ((), ())


@pytest.mark.parametrize(
    ("text", "object_"),
    [
        ("Correction: my email is sam@bramble.example", "sam@bramble.example"),
        ("I got that wrong the other day: I work at Siemens, not Bosch.", "Siemens"),
        ("Sorry, I meant Lagos, not Lisbon. I live in Lagos.", "Lagos"),
        ("actually I mixed that up, I'm allergic to hazelnuts, not walnuts", "hazelnuts"),
    ],
)
def test_what_was_wrong_is_mended_and_what_is_denied_is_not_stated(text: str, object_: str) -> None:
    assert [(fact.object, fact.relation) for fact in read(text).facts] == [(object_, "corrects")]


def test_what_has_changed_is_no_correction() -> None:
    (fact,) = read("Correction to the address list: I moved to Lagos in May.").facts
    assert (fact.object, fact.relation) == ("Lagos", "new")


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("I live in Graz.", "Actually, Emma loves Berlin."),
        ("I live in Graz.", "Actually, my brother Max lives in Nice."),
        ("I live in Graz.", "No wait, Tom works at BP."),
        ("I live in Graz.", "Actually Emma called yesterday."),
    ],
)
def test_what_only_begins_like_a_correction_changes_nothing(before: str, text: str) -> None:
    window = Window(
        (WindowMessage(1, "user", "Sam", AT, before), WindowMessage(2, "user", "Sam", AT, text)),
    )
    found = extract(window)
    assert [
        fact.object for fact in found.facts if fact.predicate == "lives_in" and fact.subject == "Sam"
    ] == ["Graz"]
    assert "corrects" not in {fact.relation for fact in found.facts}


@pytest.mark.parametrize(
    "text",
    [
        "I live in Oslo, don't I?",
        "My sister works at Acme, right?",
        "As a joke I told her I am a millionaire.",
    ],
)
def test_who_asks_or_jokes_states_nothing(text: str) -> None:
    assert read(text) == Extraction()


@pytest.mark.parametrize(
    ("text", "predicate", "object_"),
    [
        ("Paul and I got divorced last month.", "married_to", "Paul"),
        ("I don't like tea any more.", "likes", "tea"),
    ],
)
def test_what_is_over(text: str, predicate: str, object_: str) -> None:
    assert [(f.predicate, f.object, f.ended) for f in read(text).facts] == [(predicate, object_, True)]
