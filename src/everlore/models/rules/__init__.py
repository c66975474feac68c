"""The analyst that needs no model: patterns of what people say of themselves, in English and Spanish."""

from everlore.models.rules.analyst import RuleAnalyst, extract

__all__ = ["RuleAnalyst", "extract"]
