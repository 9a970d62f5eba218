"""The component from artifact to artifact."""

import errno
from pathlib import Path

import pytest

from components.canary_insert.contract import CanaryInsert
from components.canary_insert.run import run
from leakscape import artifacts, schemas
from leakscape.canaries.canary import Canary
from leakscape.errors import ContractError
from leakscape.records.record import CorpusRecord, Record

MED = "Lisinopril 10 MG Oral Tablet"


def population(path: Path, count: int) -> Path:
    rows = [
        Record(
            id=f"{path.name}-{number}",
            name=f"Ada{number % 7} {path.name}{number}",
            sex="female",
            birth_date=f"1950-01-{number % 28 + 1:02d}",
            ssn=f"999-{number % 40 + 50}-{len(path.name)}{number:03d}",
            street=f"{number} {path.name} Road",
            city="Salem",
            state="MA",
            zip="01970",
            problems=(),
            medications=(MED,),
        )
        for number in range(count)
    ]
    with artifacts.create(path, schema=schemas.POPULATION, provenance=artifacts.Provenance()) as folder:
        folder.write_rows("records.jsonl", rows)
    return path


@pytest.fixture
def populations(tmp_path: Path) -> dict[str, Path]:
    sizes = {"train": 40, "held_out": 10, "exemplars": 2}
    return {name: population(tmp_path / name, size) for name, size in sizes.items()}


def contract(populations: dict[str, Path], out: Path, **params: object) -> CanaryInsert:
    settings = {"count": 7, "multiplicities": [1, 3], "alternatives": 50, "seed": 5, **params}
    return CanaryInsert(**populations, corpus=out / "corpus", canaries=out / "canaries", **settings)  # type: ignore[arg-type]


def test_corpus_and_canaries_fit_each_other(populations: dict[str, Path], tmp_path: Path):
    run(contract(populations, tmp_path))
    corpus = artifacts.load(tmp_path / "corpus", schema=schemas.CORPUS)
    canaries = artifacts.load(tmp_path / "canaries", schema=schemas.CANARIES)
    rows = list(corpus.rows("records.jsonl", CorpusRecord))
    planted = list(canaries.rows("canaries.jsonl", Canary))
    assert len(rows) == 40 + 4 * 1 + 3 * 3  # seven canaries: the first group gets one more
    for canary in planted:
        assert sum(canary.secret in row.text for row in rows) == canary.multiplicity
        assert {row.person for row in rows if canary.secret in row.text} == {canary.id}
    assert len(list(canaries.rows("alternatives.jsonl", dict))) == 50
    details = corpus.manifest.details
    assert (details["records"], details["copies"]) == (40, 13)
    assert details["canaries_by_multiplicity"] == {"1": 4, "3": 3}
    assert corpus.manifest.arguments["seed"] == 5


def test_the_same_seed_gives_the_same_bytes_and_another_one_does_not(populations: dict[str, Path], tmp_path: Path):
    digests = []
    for number, seed in enumerate((5, 5, 6)):
        run(contract(populations, tmp_path / str(number), seed=seed))
        names = ("corpus", "canaries")
        digests.append([artifacts.read_manifest(tmp_path / str(number) / name).digest for name in names])
    assert digests[0] == digests[1]
    assert digests[0][0] != digests[2][0]
    assert digests[0][1] != digests[2][1]


def test_the_manifest_holds_no_value_of_a_record(populations: dict[str, Path], tmp_path: Path):
    run(contract(populations, tmp_path))
    text = (tmp_path / "corpus" / artifacts.MANIFEST).read_text() + (
        tmp_path / "canaries" / "manifest.json"
    ).read_text()
    planted = artifacts.load(tmp_path / "canaries", schema=schemas.CANARIES).rows("canaries.jsonl", Canary)
    assert not [c.id for c in planted if c.secret in text or c.record.name in text or c.record.ssn in text]


def test_coins_leave_some_canaries_out(populations: dict[str, Path], tmp_path: Path):
    run(contract(populations, tmp_path, inclusion="coin"))
    planted = artifacts.load(tmp_path / "canaries", schema=schemas.CANARIES).rows("canaries.jsonl", Canary)
    assert {canary.multiplicity for canary in planted} <= {0, 1, 3}


@pytest.mark.parametrize("params", [{"multiplicities": []}, {"multiplicities": [2, 2]}, {"count": 1}, {"count": 0}])
def test_settings_that_fit_nothing_are_refused(populations: dict[str, Path], tmp_path: Path, params: dict[str, object]):
    with pytest.raises(ContractError):
        run(contract(populations, tmp_path, **params))
    assert not (tmp_path / "corpus").exists()


def test_a_corpus_that_fails_leaves_no_canaries_either(
    populations: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Canaries without their corpus would be in the way of the next try."""

    def full_disk(*_args: object, **_settings: object) -> list[CorpusRecord]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("components.canary_insert.run.corpus", full_disk)
    with pytest.raises(OSError, match="No space left"):
        run(contract(populations, tmp_path / "made"))
    assert list((tmp_path / "made").iterdir()) == []
