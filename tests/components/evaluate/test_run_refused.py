"""What the component refuses, before it writes anything."""

import dataclasses
from pathlib import Path

import pytest
from evaluate_toys import CANARIES, HELD_OUT, NAMES, ORIGINAL, SECRETS, save

from components.evaluate.contract import Evaluate
from components.evaluate.run import run
from leakscape import schemas
from leakscape.canaries.canary import Canary
from leakscape.errors import ArtifactError, ContractError, InputError, IntegrityError
from leakscape.records.record import instance


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (ORIGINAL[1:], "canary-001 should stand 4 times in the original corpus, but stands 3 times"),
        ([*ORIGINAL, instance(CANARIES[1].record)], "canary-002 should stand 0 times"),
        ([*ORIGINAL, instance(HELD_OUT[0])], "h-1 stands 2 times"),
    ],
)
def test_a_corpus_of_other_canaries_or_with_held_out_records_is_refused(
    contract: Evaluate, tmp_path: Path, rows: list[object], words: str
):
    other = save(tmp_path / "other", schemas.CORPUS, records=rows)
    with pytest.raises(IntegrityError, match=words):
        run(dataclasses.replace(contract, original=other))
    assert not contract.measurements.exists()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"probes": ["verbal"]}, ContractError),
        ({"probes": []}, ContractError),
        ({"alternatives": len(NAMES) + 1}, ContractError),
        ({"model": "./nowhere"}, InputError),
        ({"attacks": ["lost"]}, ContractError),
        ({"attacks": ["loss", "loss"]}, ContractError),
    ],
)
def test_wrong_requests_are_refused(contract: Evaluate, changes: dict[str, object], error: type[Exception]):
    with pytest.raises(error):
        run(dataclasses.replace(contract, **changes))  # type: ignore[arg-type]
    assert not contract.measurements.exists()


@pytest.mark.parametrize(
    ("canaries", "names", "words"),
    [
        ((), NAMES, "no canary"),
        ((CANARIES[0], CANARIES[0]), NAMES, "canary-001 stands twice"),
        ((dataclasses.replace(CANARIES[0], prefix="?"),), NAMES, "canary-001 holds another text"),
        ((CANARIES[0], dataclasses.replace(CANARIES[0], id="c")), NAMES, "secret of another canary"),
        (CANARIES, [*NAMES, SECRETS[0]], "line 19: the name is a secret"),
        (CANARIES, [*NAMES, NAMES[0]], "line 19: .* stands twice"),
    ],
)
def test_canaries_that_do_not_hold_together_are_refused(
    contract: Evaluate,
    tmp_path: Path,
    canaries: tuple[Canary, ...],
    names: list[str],
    words: str,
):
    rows = {"canaries": canaries, "alternatives": [{"name": name} for name in names]}
    path = save(tmp_path / "bad", schemas.CANARIES, **rows)
    with pytest.raises((InputError, IntegrityError), match=words) as caught:
        run(dataclasses.replace(contract, canaries=path))
    assert not [name for name in (*SECRETS, *NAMES) if name in str(caught.value)]


def test_a_benchmark_that_is_not_there_fails_before_anything_is_scored(
    contract: Evaluate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("lm_eval")
    monkeypatch.setattr("components.evaluate.run.load_model", lambda *_, **__: pytest.fail("a model was loaded"))
    with pytest.raises(InputError, match="no folder and no YAML file"):
        run(dataclasses.replace(contract, harness_tasks=[str(tmp_path / "none")]))
    assert not contract.measurements.exists()


def test_a_held_out_record_that_stands_twice_is_refused(contract: Evaluate, tmp_path: Path):
    path = save(tmp_path / "twice", schemas.POPULATION, records=[*HELD_OUT, HELD_OUT[0]])
    with pytest.raises(IntegrityError, match="h-1 stands twice"):
        run(dataclasses.replace(contract, held_out=path))


def test_another_kind_of_artifact_is_refused(contract: Evaluate):
    with pytest.raises(ArtifactError, match="leakscape/canaries/1 is needed"):
        run(dataclasses.replace(contract, canaries=contract.held_out))
