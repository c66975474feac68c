"""The weights of spaCy's small English pipeline (en_core_web_sm 3.6.0, MIT), as data. See NOTICE."""

from pathlib import Path


def path() -> Path:
    """The folder that `spacy.load` takes."""
    return Path(__file__).parent / "pipeline"
