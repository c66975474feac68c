"""The analyst with a language model: any endpoint that speaks the OpenAI protocol, or any provider that pydantic-ai knows.

A window goes in as data (`window`), under instructions (`prompts`), through one call (`endpoint`); the answer is mended
where that is harmless (`repair`, `forms`) and read into drafts (`reading`). Whether those are true is for grounding to find out;
its doubts about an answer as a whole (`doubting`) decide only whether the model is asked again.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from everlore.ports.analyst import Doubting

if TYPE_CHECKING:
    from everlore.models.language_model.analyst import ModelAnalyst
    from everlore.models.language_model.profile import Size
    from everlore.models.language_model.schema import OutputMode

__all__ = ["model_analyst"]


def model_analyst(
    doubting: Doubting,
    *,
    model: str,
    url: str | None = None,
    api_key_env: str | None = None,
    timeout_s: float | None = None,
    max_output_tokens: int | None = None,
    temperature: float | None = 0.0,
    output: "OutputMode" = "native",
    context_messages: int = 75,
    context_tokens: int = 3000,
    prompts_dir: Path | None = None,
    size: "Size | None" = None,
) -> "ModelAnalyst":
    """An analyst out of plain settings; what is left out, the size says, which is small for a model on this machine. Raises
    ConfigurationError if a package, the key or a prompt is missing."""
    # Loaded by who has a model only: its patterns take time.
    from everlore.models.language_model.analyst import ModelAnalyst
    from everlore.models.language_model.endpoint import Endpoint
    from everlore.models.language_model.profile import profile_of
    from everlore.models.language_model.prompts import Prompts
    from everlore.models.language_model.window import Sizes

    profile = profile_of(size, url)
    endpoint = Endpoint(
        model,
        url=url,
        api_key_env=api_key_env,
        timeout_s=timeout_s,
        max_output_tokens=max_output_tokens,
        temperature=temperature,
        output=output,
        profile=profile,
    )
    return ModelAnalyst(
        endpoint,
        doubting,
        profile=profile,
        prompts=Prompts(prompts_dir, names=profile.prompts),
        sizes=Sizes(context_messages, context_tokens),
    )
