from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest
import stand_in_java
import synthea_files as files

from components.synthea_gen import contract as contract_module
from components.synthea_gen.contract import SyntheaGen
from components.synthea_gen.run import run
from leakscape import artifacts
from leakscape.contract import spec
from leakscape.errors import ContractError, InputError, IntegrityError, LeakscapeError
from leakscape.records import populations
from leakscape.records.outside import content_hash
from leakscape.records.record import Record
from leakscape.schemas import POPULATION

NAMES = ("train", "held_out", "exemplars")
DATA = Path(__file__).parents[3].parent / "shared" / "data" / "synthea"


def made(out: Path, **values: Any) -> dict[str, list[Record]]:  # noqa: ANN401
    settings = {"train_count": 0, "held_out_count": 0, "exemplar_count": 3, "seed": 5}
    run(SyntheaGen(**(settings | values), **{name: out / name for name in NAMES}))
    loaded = {name: artifacts.load(out / name, schema=POPULATION) for name in NAMES}
    return {name: list(artifact.rows("records.jsonl", Record)) for name, artifact in loaded.items()}


def details(out: Path) -> dict[str, Any]:
    return artifacts.read_manifest(out / "train").details


def test_the_built_in_source(tmp_path: Path):
    first = made(tmp_path / "1", train_count=40, held_out_count=10)
    assert [len(first[name]) for name in NAMES] == [40, 10, 3]
    assert first == made(tmp_path / "2", train_count=40, held_out_count=10)
    assert first["train"] != made(tmp_path / "3", train_count=40, held_out_count=10, seed=6)["train"]
    assert details(tmp_path / "1")["seeds"] == {"seed": 5}
    with pytest.raises(InputError, match="never runs out"):
        made(tmp_path / "4")


def test_a_csv_folder(tmp_path: Path):
    folder = files.population(tmp_path / "csv", 20)
    drawn = made(tmp_path / "out", source="synthea-csv", path=str(folder), content_hash=content_hash(folder))
    assert [len(drawn[name]) for name in NAMES] == [16, 4, 3]
    ids = [record.id for name in NAMES for record in drawn[name]]
    assert len(set(ids)) == len(ids)
    ours = {files.patient(number)["SSN"] for number in range(20)}
    assert {record.ssn for record in drawn["train"] + drawn["held_out"]} == ours
    assert not {record.ssn for record in drawn["exemplars"]} & ours  # never the private cohort
    told = details(tmp_path / "out")
    assert told["exemplars_from"] == "built-in"
    assert told["content_hash"] == content_hash(folder)
    assert told["counts"]["patients"] == told["counts"]["kept"] == 20
    assert told["split"] == {"train": 16, "held_out": 4, "unused": 0, "groups": 0, "people_in_groups": 0}


def test_bundles(tmp_path: Path):
    bundles = [
        files.bundle(files.fhir_patient(number), files.fhir_medication(number, medicationCodeableConcept={"text": "A"}))
        for number in range(6)
    ]
    folder = files.write_bundles(tmp_path / "fhir", *bundles)
    drawn = made(tmp_path / "out", source="fhir-r4", path=str(folder), train_count=4, held_out_count=1)
    assert [len(drawn[name]) for name in NAMES] == [4, 1, 3]
    assert details(tmp_path / "out")["split"]["unused"] == 1


def test_records_of_one_s_own(tmp_path: Path):
    generated = made(tmp_path / "generated", train_count=20, held_out_count=1)["train"]
    file = tmp_path / "generated" / "train" / "records.jsonl"  # a population is in the form that is read
    pinned = {"source": "jsonl", "path": str(file), "content_hash": content_hash(file)}
    drawn = made(tmp_path / "out", **pinned)
    assert [len(drawn[name]) for name in NAMES] == [16, 4, 3]
    ours = sorted(astuple(replace(record, id="")) for record in drawn["train"] + drawn["held_out"])
    assert ours == sorted(astuple(replace(record, id="")) for record in generated)
    assert drawn == made(tmp_path / "again", **pinned)
    assert drawn != made(tmp_path / "other", **pinned, seed=6)
    told = details(tmp_path / "out")
    assert told["counts"]["kept"] == 20
    assert told["exemplars_from"] == "built-in"
    assert told["content_hash"] == content_hash(file)


def test_changed_data_are_refused(tmp_path: Path):
    folder = files.population(tmp_path / "csv", 20)
    pinned = content_hash(folder)
    files.population(folder, 21)
    with pytest.raises(InputError, match="has changed since"):
        made(tmp_path / "out", source="synthea-csv", path=str(folder), content_hash=pinned)
    assert not (tmp_path / "out").exists()


def test_the_defaults_ask_for_more_than_a_small_folder_has(tmp_path: Path):
    folder = files.population(tmp_path / "csv", 20)
    with pytest.raises(InputError, match="6000 records are asked for, but the source has 20 usable patients"):
        made(tmp_path / "out", source="synthea-csv", path=str(folder), train_count=5000, held_out_count=1000)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"source": "synthea-csv"}, "--path must be given"),
        ({"source": "synthea-jar", "path": "a.jar"}, "--clinician-seed must be given"),
        ({"reference_date": "01/01/2026"}, "--reference-date must be a day"),
        ({"reference_date": ""}, "--reference-date must be given"),
        ({"seed": -1}, "--seed must be at least 0"),
    ],
)
def test_arguments_that_a_source_needs(tmp_path: Path, values: dict[str, Any], message: str):
    with pytest.raises(ContractError, match=message):
        made(tmp_path, **values)


def test_synthea_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    jar = stand_in_java.install(tmp_path / "bin", monkeypatch)
    settings = {"source": "synthea-jar", "path": str(jar), "clinician_seed": 9, "train_count": 12, "held_out_count": 4}
    drawn = made(tmp_path / "1", **settings)
    assert [len(drawn[name]) for name in NAMES] == [12, 4, 3]
    assert drawn == made(tmp_path / "2", **settings)
    told = details(tmp_path / "1")
    assert told["synthea"]["version"] == "3.3.0"
    assert told["seeds"] == {"seed": 5, "clinician_seed": 9}
    assert not set(told["exemplar_seeds"].values()) & set(told["seeds"].values())
    assert told["reference_date"] == told["latest_start"] == "2026-01-01"
    assert told["counts"]["patients"] == 3 * (12 + 4)
    assert {record.id.split("-")[0] for record in drawn["exemplars"]} == {"exemplar"}
    printed = "".join(capfd.readouterr())
    assert "Rosa" not in printed
    assert "asked for" not in printed


def test_a_reference_date_that_synthea_misread_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    jar = stand_in_java.install(tmp_path / "bin", monkeypatch)
    monkeypatch.setenv(stand_in_java.MISREAD, "1")
    settings = {"source": "synthea-jar", "path": str(jar), "clinician_seed": 9, "population": 12}
    made(tmp_path / "1", reference_date="2026-06-15", **settings)
    assert details(tmp_path / "1")["latest_start"] == "2025-12-28"
    assert "asked for 2026-06-15, but the last condition or medication began on 2025-12-28" in capfd.readouterr().err


def test_an_error_in_the_last_population_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = files.population(tmp_path / "csv", 20)
    draw = populations.from_files

    def doubled(*args: Any, **kwargs: Any) -> populations.Populations:  # noqa: ANN401
        drawn = draw(*args, **kwargs)
        return populations.Populations(
            train=drawn.train, held_out=drawn.held_out, exemplars=drawn.train, details=drawn.details
        )

    monkeypatch.setattr(populations, "from_files", doubled)
    with pytest.raises(IntegrityError, match="comes twice"):
        made(tmp_path / "out", source="synthea-csv", path=str(folder))
    assert list((tmp_path / "out").iterdir()) == []


def test_no_value_of_a_patient_reaches_the_log(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    folder = files.population(tmp_path / "csv", 20)
    made(tmp_path / "out", source="synthea-csv", path=str(folder))
    text = (folder / "medications.csv").read_text(encoding="utf-8")
    (folder / "medications.csv").write_text(text[:-30], encoding="utf-8")
    with pytest.raises(LeakscapeError) as caught:
        made(tmp_path / "2", source="synthea-csv", path=str(folder))
    told = "".join(capfd.readouterr()) + str(caught.value)
    for value in ("Rosa", "Reilly", "999-00", "Salem", "id-00", "Allopurinol"):
        assert value not in told


def test_real_output(tmp_path: Path):
    folder = DATA / "csv-28-columns"
    if not folder.is_dir():
        pytest.skip("../shared/data is absent")
    drawn = made(tmp_path / "out", source="synthea-csv", path=str(folder))
    told = details(tmp_path / "out")
    counts = told["counts"]
    assert counts["patients"] == 116
    assert counts["kept"] == 116 - counts["dead_dropped"] - counts["without_medication_dropped"]
    assert len(drawn["train"]) + len(drawn["held_out"]) + told["split"]["unused"] == counts["kept"]


def test_the_component_is_found_by_its_name():
    assert contract_module.CONTRACT is SyntheaGen
    assert spec(SyntheaGen).name == "synthea-gen"
    assert [field.name for field in spec(SyntheaGen).outputs] == list(NAMES)
