import datetime as dt
from pathlib import Path

import pytest
import stand_in_java
import synthea_files

from leakscape.artifacts import hash_file
from leakscape.errors import DependencyError, InputError
from leakscape.records import synthea_jar
from leakscape.records.synthea import Choices
from leakscape.records.synthea_csv import read

DAY = dt.date(2026, 1, 1)


def a_run(jar: Path, **values: object) -> synthea_jar.Run:
    settings = {"population": 6, "seed": 7, "clinician_seed": 8, "reference_date": DAY, "name_numbers": False}
    return synthea_jar.Run(jar=jar, **(settings | values))


def test_flags_state_everything_that_steers_the_output(tmp_path: Path):
    assert synthea_jar.flags(a_run(tmp_path), Path("/out")) == [
        *("-p", "6", "-s", "7", "-cs", "8", "-r", "20260101"),
        "--exporter.baseDirectory=/out/",
        "--exporter.csv.export=true",
        "--exporter.csv.included_files=patients.csv,conditions.csv,medications.csv",
        "--exporter.fhir.export=false",
        "--exporter.hospital.fhir.export=false",
        "--exporter.practitioner.fhir.export=false",
        "--exporter.years_of_history=0",
        "--generate.append_numbers_to_person_names=false",
        "--generate.only_alive_patients=true",
        "Massachusetts",
    ]


def test_a_run_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    jar = stand_in_java.install(tmp_path / "bin", monkeypatch)
    folder = synthea_jar.generate(a_run(jar), tmp_path / "out")
    reading = read(folder, Choices())
    assert reading.counts["patients"] == 6
    assert len(reading.people) == 4  # the stand-in gives every third patient no medication
    assert reading.latest_start == "2026-01-01"
    assert "Rosa" not in "".join(capfd.readouterr())


def test_equal_runs_give_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    jar = stand_in_java.install(tmp_path / "bin", monkeypatch)
    hashes = {
        name: hash_file(synthea_jar.generate(a_run(jar, **values), tmp_path / name) / "patients.csv")
        for name, values in {"a": {}, "b": {}, "c": {"clinician_seed": 9}}.items()
    }
    assert hashes["a"] == hashes["b"] != hashes["c"]


def test_a_failed_run_names_its_code_and_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    jar = stand_in_java.install(tmp_path / "bin", monkeypatch)
    monkeypatch.setenv(stand_in_java.FAILS, "1")
    with pytest.raises(InputError, match="exit code 1") as caught:
        synthea_jar.generate(a_run(jar), tmp_path / "out")
    assert "Rosa" not in str(caught.value)


def test_without_java_the_dependency_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DependencyError, match="no java is on PATH"):
        synthea_jar.generate(a_run(stand_in_java.write_jar(tmp_path / "a.jar")), tmp_path / "out")


def test_a_program_that_writes_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    jar = stand_in_java.install(tmp_path / "bin", monkeypatch)
    (tmp_path / "bin" / "java").write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"wrote no patients\.csv"):
        synthea_jar.generate(a_run(jar), tmp_path / "out")


@pytest.mark.parametrize(
    "values", [{"seed": -1}, {"clinician_seed": -1}, {"population": 0}, {"state": "--config=x"}, {"state": ""}]
)
def test_what_synthea_would_misread_is_refused(tmp_path: Path, values: dict[str, object]):
    with pytest.raises(InputError, match="Synthea needs"):
        a_run(tmp_path, **values)


def test_a_run_without_its_three_determinants_can_not_be_stated(tmp_path: Path):
    with pytest.raises(TypeError, match="missing 2 required keyword-only arguments"):
        synthea_jar.Run(jar=tmp_path, population=1, seed=1)


def test_the_version_comes_from_the_jar(tmp_path: Path):
    jar = stand_in_java.write_jar(tmp_path / "a.jar")
    assert synthea_jar.version(jar) == {"version": "3.3.0", "sha256": hash_file(jar)}
    no_jar = synthea_files.population(tmp_path / "csv", 1) / "patients.csv"
    with pytest.raises(InputError, match="is no jar"):
        synthea_jar.version(no_jar)
    with pytest.raises(InputError, match="is no file"):
        synthea_jar.version(tmp_path / "gone.jar")
