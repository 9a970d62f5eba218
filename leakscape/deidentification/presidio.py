"""Presidio's analyzer with a spaCy model, and recognisers of ours for this domain.

Ours are the shapes of `rules` (an SSN of any area among them: a later Presidio may reject 900 to 999), not the record's
own lines: whether a name is found is up to the model. Organisations are not asked for; spaCy takes `SSN` and `MG` for
some.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from leakscape.deidentification.detector import Found
from leakscape.deidentification.rules import RuleDetector
from leakscape.errors import DependencyError

ENTITIES = (
    "CREDIT_CARD", "DATE_TIME", "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "LOCATION", "MEDICAL_LICENSE", "PERSON",
    "PHONE_NUMBER", "URL", "US_BANK_NUMBER", "US_DRIVER_LICENSE", "US_ITIN", "US_PASSPORT", "US_SSN",
)  # fmt: skip
_LANGUAGE = "en"
_QUANTITIES = (
    "CARDINAL",
    "EVENT",
    "LANGUAGE",
    "LAW",
    "MONEY",
    "ORDINAL",
    "PERCENT",
    "PRODUCT",
    "QUANTITY",
    "WORK_OF_ART",
)
_BATCH = 32


class PresidioDetector:
    """Finds what Presidio's English recognisers, spaCy's entities and our shapes find.

    Args:
        model: name of an installed spaCy model, or its path; it is never downloaded.

    Raises:
        DependencyError: Presidio or the model is not installed.
    """

    def __init__(self, model: str) -> None:
        self._analyzer = _analyzer(model)
        self._shapes = RuleDetector(lines=())

    def detect(self, texts: Sequence[str]) -> list[list[Found]]:
        """Look at each text on its own; see `Detector`."""
        found = self._shapes.detect(texts)
        numbers = [number for number, text in enumerate(texts) if text.strip()]
        artifacts = self._analyzer.nlp_engine.process_batch(
            [texts[number] for number in numbers], _LANGUAGE, batch_size=_BATCH
        )
        for number, (_, artifact) in zip(numbers, artifacts, strict=True):
            results = self._analyzer.analyze(
                texts[number], _LANGUAGE, entities=list(ENTITIES), nlp_artifacts=artifact, score_threshold=0.0
            )
            found[number] += [Found(each.start, each.end, each.entity_type, float(each.score)) for each in results]
        return found


def _analyzer(model: str) -> Any:  # noqa: ANN401 - Presidio's classes are untyped here
    try:
        import spacy.util
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine
    except ImportError:
        raise DependencyError("this detector needs presidio-analyzer: pip install 'leakscape[scrub]'.") from None
    if not (spacy.util.is_package(model) or Path(model).is_dir()):
        raise DependencyError(f"the spaCy model {model} is not installed; install it, or name one with --model.")
    engine = SpacyNlpEngine(
        models=[{"lang_code": _LANGUAGE, "model_name": model}],
        ner_model_configuration=NerModelConfiguration(labels_to_ignore=["ORG", "ORGANIZATION", *_QUANTITIES]),
    )
    engine.load()
    _stay_offline()
    return AnalyzerEngine(nlp_engine=engine, supported_languages=[_LANGUAGE])


def _stay_offline() -> None:
    """Tell addresses by the list of domains that is installed.

    The library that Presidio asks would fetch today's from the network, or take what an earlier process has cached.
    """
    import tldextract

    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
