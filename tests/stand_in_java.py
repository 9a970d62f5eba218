"""A stand-in for `java -jar synthea-with-dependencies.jar`: checks its arguments and writes a small CSV folder.

Run as a program by the `java` that `install` puts on PATH. It makes as many patients as -p says, other ones for another
-s, -cs or -r, and prints names as Synthea does.
"""

import hashlib
import itertools
import os
import sys
import zipfile
from pathlib import Path

import pytest
import synthea_files as files

MISREAD = "STAND_IN_MISREADS_DATE"  # ends its run in another year, as some versions of Synthea do
FAILS = "STAND_IN_FAILS"


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the stand-in on PATH and give a jar for it."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "java"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return write_jar(folder / "synthea.jar")


def write_jar(path: Path, version: str = "3.3.0") -> Path:
    manifest = f"Manifest-Version: 1.0\r\nImplementation-Version: {version[:2]}\r\n {version[2:]}\r\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("META-INF/MANIFEST.MF"), manifest)
    return path


def main(arguments: list[str]) -> int:
    sys.stdout.write("1 -- Rosa12 O'Reilly797 (44 y/o F) Salem, Massachusetts\n")
    if os.environ.get(FAILS):
        return 1
    values = dict(itertools.pairwise(arguments))
    properties = dict(argument[2:].split("=", 1) for argument in arguments if argument.startswith("--"))
    expected = {
        "exporter.csv.export": "true",
        "exporter.csv.included_files": "patients.csv,conditions.csv,medications.csv",
        "exporter.fhir.export": "false",
        "exporter.years_of_history": "0",
        "generate.only_alive_patients": "true",
        "generate.append_numbers_to_person_names": "false",
    }
    day = values["-r"]
    wrong = [name for name, value in expected.items() if properties.get(name) != value]
    if wrong or len(day) != len("YYYYMMDD") or arguments[-1] != "Massachusetts" or "-jar" not in values:
        return 2
    digest = hashlib.sha256(f"{values['-s']}/{values['-cs']}/{day}".encode()).digest()
    first = int.from_bytes(digest[:2], "big")
    ended = "2025-12-28" if os.environ.get(MISREAD) else f"{day[:4]}-{day[4:6]}-{day[6:]}"
    numbers = range(first, first + int(values["-p"]))
    files.write_folder(
        Path(properties["exporter.baseDirectory"]) / "csv",
        [files.patient(n, Id=f"id-{n:04d}", FIRST=f"Rosa{n}") for n in numbers],
        [files.condition(n, "Gout", start=ended) for n in numbers],
        [files.medication(n, "Aspirin 81 MG Oral Tablet", start=f"{ended}T00:00:00Z") for n in numbers if n % 3],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
