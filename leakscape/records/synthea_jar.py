"""Run Synthea itself and find its output.

Equal output needs equal seed, clinician seed, reference date and version
(https://github.com/synthetichealth/synthea/issues/752), so a run states the first three and the fourth is recorded.
"""

import datetime as dt
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from leakscape.artifacts import hash_file
from leakscape.errors import DependencyError, InputError
from leakscape.records.synthea_csv import FILES

JAR_MANIFEST = "META-INF/MANIFEST.MF"

# Dates are cut to days and read back by our readers: neither the machine's zone nor its encoding may steer them.
_JVM_FLAGS = ("-Duser.timezone=UTC", "-Dfile.encoding=UTF-8", "-Duser.language=en", "-Duser.country=US")


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of Synthea.

    Args:
        jar: synthea-with-dependencies.jar.
        population: living patients to make.
        seed, clinician_seed: both steer names and ids; not negative.
        reference_date: the day on which the simulation ends.
        state: a state's full name, as Synthea takes it.
        name_numbers: whether names carry digits (Abraham100).
        only_alive: leave out those who died.
    """

    jar: Path
    population: int
    seed: int
    clinician_seed: int
    reference_date: dt.date
    state: str = "Massachusetts"
    name_numbers: bool = True
    only_alive: bool = True

    def __post_init__(self) -> None:
        """Refuse what Synthea would take for something else.

        Raises:
            InputError: a seed is negative, nobody is to be made, or the state would read as a flag.
        """
        if self.seed < 0 or self.clinician_seed < 0:
            raise InputError(
                "Synthea needs a seed and a clinician seed of 0 or more; without both no run is repeatable."
            )
        if self.population < 1:
            raise InputError("Synthea needs a population of at least one living patient.")
        if not self.state or self.state.startswith("-"):
            raise InputError("Synthea needs a state by its full name, for example Massachusetts.")


def flags(run: Run, output: Path) -> list[str]:
    """The arguments after `java -jar JAR`."""
    properties: dict[str, str | bool | int] = {
        "exporter.baseDirectory": f"{output}/",
        "exporter.csv.export": True,
        "exporter.csv.included_files": ",".join(FILES),
        "exporter.fhir.export": False,
        "exporter.hospital.fhir.export": False,
        "exporter.practitioner.fhir.export": False,
        "exporter.years_of_history": 0,
        "generate.append_numbers_to_person_names": run.name_numbers,
        "generate.only_alive_patients": run.only_alive,
    }
    return [
        *("-p", str(run.population), "-s", str(run.seed), "-cs", str(run.clinician_seed)),
        *("-r", run.reference_date.strftime("%Y%m%d")),
        *(f"--{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in properties.items()),
        run.state,
    ]


def generate(run: Run, output: Path) -> Path:
    """Run Synthea and give the folder of its CSV files.

    What the program prints names patients, so it is written to `output`/synthea.log and never echoed.

    Raises:
        DependencyError: no `java` is on PATH.
        InputError: the jar is missing, or the program failed or left no CSV files.
    """
    java = shutil.which("java")
    if java is None:
        raise DependencyError(
            "Synthea needs Java 17 or later, but no java is on PATH; install it or use another source."
        )
    if not run.jar.is_file():
        raise InputError(f"{run.jar} is no file; give the path of synthea-with-dependencies.jar.")
    output.mkdir(parents=True, exist_ok=True)
    command = [java, *_JVM_FLAGS, "-jar", str(run.jar.resolve()), *flags(run, output.resolve())]
    with (output / "synthea.log").open("wb") as log:
        code = subprocess.run(
            command, cwd=output, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False
        ).returncode
    if code != 0:
        raise InputError(
            f"Synthea ended with exit code {code}; run the jar by hand to see why (what it prints names patients "
            "and is not repeated here)."
        )
    folder = output / "csv"
    if not all((folder / name).is_file() for name in FILES):
        raise InputError(f"Synthea ended well but wrote no {', '.join(FILES)}; the jar may be of another program.")
    return folder


def version(jar: Path) -> Mapping[str, str]:
    """The jar's SHA-256 and the version that its manifest states ('' if it states none).

    Raises:
        InputError: the file is missing or no jar.
    """
    if not jar.is_file():
        raise InputError(f"{jar} is no file; give the path of synthea-with-dependencies.jar.")
    try:
        with zipfile.ZipFile(jar) as archive:
            manifest = (
                archive.read(JAR_MANIFEST).decode("utf-8", "replace") if JAR_MANIFEST in archive.namelist() else ""
            )
    except zipfile.BadZipFile:
        raise InputError(f"{jar} is no jar; fetch it again.") from None
    # A jar manifest breaks lines after 72 bytes and goes on behind one space.
    lines = manifest.replace("\r\n", "\n").replace("\n ", "").split("\n")
    stated = dict(line.split(": ", 1) for line in lines if ": " in line)
    return {"version": stated.get("Implementation-Version", "").strip(), "sha256": hash_file(jar)}
