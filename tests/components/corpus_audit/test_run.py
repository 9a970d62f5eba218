"""The component from artifact to artifact, on corpora whose disclosures are known."""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.canary_insert.contract import CanaryInsert
from components.canary_insert.run import run as insert
from components.corpus_audit.contract import CorpusAudit
from components.corpus_audit.run import run
from leakscape import artifacts, schemas
from leakscape.canaries.canary import Canary
from leakscape.errors import InputError
from leakscape.records import builtin
from leakscape.records.record import IDENTIFIERS, CorpusRecord, Record, render, with_text

PEOPLE, CANARIES, COPIES = 60, 8, 8 // 2 * (1 + 3)


def people(stream: str, count: int) -> list[Record]:
    return list(builtin.generate(count, seed=3, stream=stream, reference_date=dt.date(2026, 1, 1)))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("base")
    populations = {"train": PEOPLE, "held_out": PEOPLE, "exemplars": 2}
    for name, count in populations.items():
        with artifacts.create(
            folder / name, schema=schemas.POPULATION, provenance=artifacts.Provenance()
        ) as population:
            population.write_rows("records.jsonl", people(name.replace("_", "-"), count))
    made = {"corpus": folder / "corpus", "canaries": folder / "canaries"}
    given = {name: folder / name for name in populations}
    insert(CanaryInsert(**given, **made, count=CANARIES, multiplicities=[1, 3], alternatives=200, seed=1))
    return {"original": made["corpus"], "canaries": made["canaries"], "held_out": given["held_out"]}


def changed(base: dict[str, Path], path: Path, change: Callable[[CorpusRecord], str]) -> Path:
    rows = artifacts.load(base["original"], schema=schemas.CORPUS).rows("records.jsonl", CorpusRecord)
    with artifacts.create(path, schema=schemas.CORPUS, provenance=artifacts.Provenance()) as folder:
        folder.write_rows("records.jsonl", (with_text(row, change(row)) for row in rows))
    return path


def audit(base: dict[str, Path], corpus: Path, out: Path, **params: object) -> dict[str, Any]:
    run(CorpusAudit(**base, corpus=corpus, disclosures=out, **params))  # type: ignore[arg-type]
    found: dict[str, Any] = artifacts.load(out, schema=schemas.DISCLOSURES).json("disclosures.json")
    return found


def masked(row: CorpusRecord) -> str:
    text = row.text
    for field in IDENTIFIERS:
        text = text.replace(getattr(row.fields, field), "[MASKED]")
    return text


def secrets(base: dict[str, Path]) -> list[Canary]:
    return list(artifacts.load(base["canaries"], schema=schemas.CANARIES).rows("canaries.jsonl", Canary))


def test_the_untouched_corpus_discloses_everything(
    base: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = audit(base, base["original"], tmp_path / "out")
    assert found["people"] == {"train": PEOPLE, "held_out": PEOPLE, "canaries": CANARIES}
    assert (found["records"], found["corpus"]) == (
        PEOPLE + COPIES,
        artifacts.read_manifest(base["original"]).digest,
    )
    for kind in ("name", "ssn", "street", "birth_date", "word_run", "coined_name"):
        assert found["types"][kind]["train"]["value"] == 1, kind
        assert found["types"][kind]["p_holm"] < 1e-6, kind
    assert found["types"]["coined_name"]["held_out"]["n"] == 200
    assert {times: part["hits"] for times, part in found["coined_by_multiplicity"].items()} == {"1": 4, "3": 4}
    assert "train shows more often than chance allows in" in capsys.readouterr().err


def test_scrubbing_hides_people_and_not_what_singles_them_out(base: dict[str, Path], tmp_path: Path) -> None:
    found = audit(base, changed(base, tmp_path / "scrubbed", masked), tmp_path / "out")["types"]
    assert found["ssn"]["train"]["hits"] == found["name"]["train"]["hits"] == 0
    assert found["ssn"]["p"] == 1
    assert found["coined_name"]["train"]["value"] == 1
    assert found["word_run"]["p_holm"] < 1e-6


def test_a_corpus_of_other_people_discloses_nothing(
    base: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strangers = iter(people("exemplars", PEOPLE + COPIES))
    other = changed(base, tmp_path / "other", lambda _: render(next(strangers))[0])
    found = audit(base, other, tmp_path / "out", rare_below=5)
    assert all(kind["p_holm"] > 0.05 for kind in found["types"].values())
    assert found["types"]["coined_name"]["train"]["hits"] == 0
    assert "in none of" in capsys.readouterr().err


def test_the_same_audit_twice_gives_the_same_bytes_and_holds_no_value(base: dict[str, Path], tmp_path: Path) -> None:
    audit(base, base["original"], tmp_path / "one")
    audit(base, base["original"], tmp_path / "two")
    one, two = (artifacts.read_manifest(tmp_path / name) for name in ("one", "two"))
    assert one.digest == two.digest
    assert one.details["corpus"] == artifacts.read_manifest(base["original"]).digest
    kept = "".join(file.read_text(encoding="utf-8") for file in (tmp_path / "one").iterdir())
    values = [value for record in people("train", PEOPLE) for value in (record.name, record.ssn, record.street)]
    assert not any(value in kept for value in values + [canary.secret for canary in secrets(base)])


def test_canaries_of_another_corpus_are_refused(base: dict[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "canaries"
    with artifacts.create(other, schema=schemas.CANARIES, provenance=artifacts.Provenance()) as folder:
        folder.write_rows("canaries.jsonl", [replace(secrets(base)[0], id="canary-999")])
        folder.write_rows("alternatives.jsonl", [])
    with pytest.raises(InputError, match="lacks canary-999"):
        audit(base | {"canaries": other}, base["original"], tmp_path / "out")


def test_an_empty_corpus_is_refused(base: dict[str, Path], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    with artifacts.create(empty, schema=schemas.CORPUS, provenance=artifacts.Provenance()) as folder:
        folder.write_rows("records.jsonl", [])
    with pytest.raises(InputError, match="holds no record to audit"):
        audit(base, empty, tmp_path / "out")
