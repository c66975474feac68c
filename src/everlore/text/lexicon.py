"""The words of each language, as data: one TOML file a language in `data`, read once.

A class of words is a key in these files. It is written as a text of words parted by blanks, or by "|" where an entry may hold
blanks itself; as a list of such texts, whose numbers mean something (the months); or as a table from words to what they mean.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

Table: TypeAlias = Mapping[str, Any]

LANGUAGES: Mapping[str, Table] = {
    file.stem: tomllib.loads(file.read_text("utf-8")) for file in sorted((Path(__file__).parent / "data").glob("*.toml"))
}  # fmt: skip


def parted(written: str) -> list[str]:
    """The entries of a class that is written as text."""
    return [one.strip() for one in written.split("|") if one.strip()] if "|" in written else [written.strip()]


@cache
def words(name: str, *languages: str) -> frozenset[str]:
    """The class `name` in all languages (or those given): words parted by blanks."""
    return frozenset(word for text in _values(name, languages) for word in text.split())


@cache
def phrases(name: str) -> frozenset[str]:
    """The class `name` in all languages: entries parted by "|", which may hold blanks."""
    return frozenset(phrase for text in _values(name, ()) for phrase in parted(text))


@cache
def numbered(name: str, first: int, *languages: str) -> Mapping[str, int]:
    """From a class that is a list: the words of its first entry mean `first`, those of the second one more."""
    groups: list[Sequence[str]] = _values(name, languages)
    return {
        word: number
        for one in groups
        for number, group in enumerate(one, first)
        for word in parted(group)
        if word
    }


@cache
def table(name: str, *languages: str) -> Mapping[str, Any]:
    """From a class that is a table: each word with what it means."""
    tables: list[Table] = _values(name, languages)
    return {word: meant for one in tables for written, meant in one.items() for word in parted(written)}


@cache
def forms(name: str) -> Mapping[str, str]:
    """From a class that is a table of words to other forms of them: each form with the word that stands for it."""
    tables: list[Mapping[str, str]] = _values(name, ())
    return {form: basic for one in tables for basic, written in one.items() for form in written.split()}


def _values(name: str, languages: Sequence[str]) -> list[Any]:
    found = (_value(LANGUAGES[language], name) for language in languages or LANGUAGES)
    return [value for value in found if value is not None]


def _value(language: Table, name: str) -> Any:
    value: Any = language
    for part in name.split("."):
        value = value.get(part)
        if value is None:
            return None
    return value
