from dataclasses import replace
from pathlib import Path

import audit_fakes
import landscape_fakes as fakes
import pytest

from leakscape import schemas
from leakscape.judging.judgement import Judgement
from leakscape.landscape.aggregate import aggregate
from leakscape.landscape.estimates import Settings
from leakscape.landscape.schema import Condition
from leakscape.landscape.source import read_evidence, read_measurements
from leakscape.statistics.binomial import share_interval

FAST = Settings(resamples=400)


def opinion(person: str, copy: int, privacy: float | None, quality: float | None = 3) -> Judgement:
    return Judgement(id=f"{person}/r{copy}", person=person, privacy=privacy, quality=quality, reason="none")


def judged(corpus: str, model: str, *rows: Judgement) -> fakes.Evidence:
    return fakes.Evidence(schemas.JUDGEMENTS, corpus, {}, {"model": model}, component="judge", judgements=rows)


def one(folder: Path, *evidence: fakes.Evidence, settings: Settings = FAST) -> Condition:
    """A condition that was trained on a rewritten corpus."""
    log = fakes.Evidence(schemas.TRAINING_LOG, "rewritten", {"adapter": "ada"})
    maker = fakes.Evidence(schemas.LEDGER, "plain", {"corpus": "rewritten"}, component="vllm-rewrite")
    stored = [each.store(folder / str(place)) for place, each in enumerate([log, maker, *evidence])]
    data = fakes.measurements([fakes.row("verbatim", "c0", 4, multiplicity=1)], condition="rewrite", adapters=("ada",))
    path = fakes.store(folder / "m", data)
    return aggregate(read_measurements([path]), read_evidence(stored), {}, settings).targets[0].conditions[0]


def test_judged_means_count_records_and_intervals_count_people(tmp_path: Path):
    """Privacy 5, 5, 2 and 2, 2, 2: the mean of six records is 3; of two people, whose means lie 1 apart."""
    rows = [opinion("a", n, 5 if n < 2 else 2) for n in range(3)] + [opinion("b", n, 2) for n in range(3)]
    item = one(tmp_path, judged("rewritten", "judge-7b", *rows))
    [found] = item.judged
    assert (found.judge, found.corpus, found.records, found.reasons) == ("judge-7b", "rewritten", 6, {"none": 6})
    assert found.privacy is not None
    assert (found.privacy.value, found.privacy.n) == (3, 2)
    assert (found.privacy.low, found.privacy.high) == (2, 4)  # both resamples of two people: b twice, a twice
    figure = item.metrics["judged_privacy"]
    assert (figure.value, figure.low, figure.high, figure.n) == (3, 2, 4, 2)
    assert item.metrics["judged_quality"].value == 3


def test_a_side_that_no_record_has_is_unmeasured(tmp_path: Path):
    item = one(tmp_path, judged("rewritten", "judge-7b", opinion("a", 1, None), opinion("b", 1, None)))
    assert item.judged[0].privacy is None
    reasons = {gap.metric: gap.reason for gap in item.unmeasured}
    assert reasons["judged_privacy"] == "no record of the corpus holds what privacy is judged by"
    assert "judged_quality" in item.metrics


def test_the_last_corpus_counts_and_a_model_goes_before_the_rules(tmp_path: Path):
    item = one(
        tmp_path,
        judged("rewritten", "rules/1", opinion("a", 1, 1)),
        judged("rewritten", "judge-7b", opinion("a", 1, 4)),
        judged("plain", "judge-7b", opinion("a", 1, 2)),
    )
    assert item.metrics["judged_privacy"].value == 4
    assert sorted((found.corpus, found.judge) for found in item.judged) == [
        ("plain", "judge-7b"),
        ("rewritten", "judge-7b"),
        ("rewritten", "rules/1"),
    ]


def test_a_corpus_that_was_not_judged_says_so(tmp_path: Path):
    item = one(tmp_path, judged("plain", "judge-7b", opinion("a", 1, 2)))
    reasons = {gap.metric: gap.reason for gap in item.unmeasured}
    assert reasons["judged_quality"] == "no judge scored the corpus that it was trained on"


def test_disclosures_keep_their_tests_and_get_intervals_of_the_landscapes_level(tmp_path: Path):
    """scrub: 24 of 200 against 0 of 100 identifiers; the coined names 15 of 25 against 0 of 201."""
    item = one(tmp_path, audit_fakes.disclosed("rewritten", "scrub"), settings=replace(FAST, confidence=0.9))
    found = {each.feature: each for each in item.disclosed}
    assert set(found) == {"identifier", "medication", "run_of_words", "coined_name"}
    coined = found["coined_name"]
    assert (coined.train.value, coined.train.n, coined.held_out.value, coined.held_out.n) == (0.6, 25, 0, 201)
    assert (coined.train.low, coined.train.high) == share_interval(15, 25, confidence=0.9)
    assert (coined.corpus, coined.beyond_chance) == ("rewritten", 15)
    assert coined.p <= coined.p_holm < 1e-6
    medication = found["medication"]  # 48 of 90 on train where phantoms (4 of 40) let 9 expect
    assert medication.beyond_chance == pytest.approx(39)


def test_costs_of_rewriting_and_judging_and_none_of_rules_that_ask_nobody(tmp_path: Path):
    ledger = fakes.Evidence(
        schemas.LEDGER,
        "plain",
        {"corpus": "rewritten"},
        audit_fakes.answers(432, 90, 70, 1.25),
        component="vllm-rewrite",
    )
    silent = fakes.Evidence(
        schemas.JUDGEMENTS, "rewritten", {}, {"model": "rules/1", "answers": {}, "tokens_in": 0}, component="judge"
    )
    [found] = one(tmp_path, ledger, silent).costs
    assert (found.component, found.quarantined, found.seconds) == ("vllm-rewrite", 1, 88.0)
    assert found.answers == {"accepted": 432, "refused": 3, "truncated": 1}
    assert (found.tokens_in, found.tokens_out, found.cost) == (90, 70, 1.25)


def test_the_order_of_the_evidence_plays_no_part(tmp_path: Path):
    measured = read_measurements(audit_fakes.laptop(tmp_path, audit_fakes.FULL, exposure=False))
    paths = audit_fakes.laptop_evidence(tmp_path, audit_fakes.FULL)
    made = [aggregate(measured, read_evidence(order), {}, Settings(resamples=100)) for order in (paths, paths[::-1])]
    assert made[0] == made[1]
