"""What scrub takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component


@component(name="scrub", image="evaluate")
class Scrub:
    """Mask the identifiers in every text of a corpus and tell what is left of them.

    A planted secret is a medication, no identifier, and normally survives: scrubbing protects identities, not facts.
    """

    corpus: Annotated[Path, In("corpus", "Records to scrub.")]
    detector: Annotated[
        str,
        Param(
            "What finds identifiers: rules (the record's own lines and common shapes), presidio, privacy-filter "
            "(openai/privacy-filter or a fine-tune of it) or token-classifier (any Hugging Face model of that kind).",
            choices=("rules", "presidio", "privacy-filter", "token-classifier"),
        ),
    ] = "rules"
    replacement: Annotated[
        str,
        Param(
            "What stands in an identifier's place: typed ([PERSON]), numbered ([PERSON_1], the same for the same value "
            "within a record) or surrogate (an invented value of the same form, the same for all texts of a person).",
            choices=("typed", "numbered", "surrogate"),
        ),
    ] = "typed"
    model: Annotated[
        str,
        Param(
            "Hugging Face id or path of the classifier, or name of the spaCy model for presidio; empty for the "
            "detector's own default (token-classifier has none)."
        ),
    ] = ""
    device: Annotated[str, Param("Where a classifier runs: auto, cpu, cuda or cuda:1.")] = "auto"
    batch_size: Annotated[int, Param("Windows of text that a classifier sees at once.", low=1)] = 32
    threshold: Annotated[float, Param("Findings with a lower score are left alone.", low=0, high=1)] = 0.35
    seed: Annotated[int, Param("Steers the surrogates.")] = 0
    scrubbed: Annotated[Path, Out("corpus", "The same records with their identifiers replaced.")]
    masks: Annotated[Path, Out("masks", "Where something was masked, and which known identifiers were missed.")]


CONTRACT = Scrub
