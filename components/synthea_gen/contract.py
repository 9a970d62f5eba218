"""What synthea-gen takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import Out, Param, component
from leakscape.records import synthea

SOURCES = ("builtin", "synthea-csv", "fhir-r4", "jsonl", "synthea-jar")


@component(name="synthea-gen", image="base")
class SyntheaGen:
    """Draw the populations of an audit: people to train on, people held out, and exemplars of a fresh seed.

    The source is the built-in generator, Synthea's CSV or FHIR R4 output, records of your own as JSON Lines, or Synthea
    itself.
    """

    source: Annotated[
        str,
        Param(
            "Where people come from: the built-in generator, a folder of Synthea's CSV or FHIR R4 output, JSON Lines "
            "of your own records, or Synthea's jar.",
            choices=SOURCES,
        ),
    ] = "builtin"
    path: Annotated[
        str,
        Param(
            "The folder of CSV files or bundles, the file or folder of JSON Lines, or the jar, here or at "
            "s3://bucket/prefix; empty for the built-in generator."
        ),
    ] = ""
    content_hash: Annotated[
        str,
        Param(
            "SHA-256 that the data at `path` must have, so that changed data fail the step or, pinned anew, run it "
            "again; empty pins nothing."
        ),
    ] = ""
    train_count: Annotated[
        int,
        Param(
            "Records to train on; 0 takes all that the held-out part leaves (not for the built-in generator).", low=0
        ),
    ] = 5000
    held_out_count: Annotated[
        int, Param("Records held out; 0 takes `held_out_share` of the people (not for the built-in generator).", low=0)
    ] = 1000
    held_out_share: Annotated[
        float, Param("Share of the people held out when `held_out_count` is 0.", above=0, high=0.9)
    ] = 0.2
    exemplar_count: Annotated[
        int, Param("Records of a fresh seed that a rewriter may be shown; never from the people at `path`.", low=0)
    ] = 20
    seed: Annotated[int, Param("Seed of the generator and of the split.", low=0)] = 0
    reference_date: Annotated[
        str,
        Param(
            "The day (YYYY-MM-DD) from which generated ages count and on which a run of Synthea ends.", required=True
        ),
    ] = "2026-01-01"
    dead: Annotated[str, Param("Whether patients with a date of death are dropped or kept.", choices=synthea.DEAD)] = (
        "drop"
    )
    problems: Annotated[
        str,
        Param(
            "Active conditions kept: `clinical` leaves out social circumstances (employment, schooling), `disorders` "
            "also every other finding or situation, `all` none.",
            choices=synthea.PROBLEMS,
        ),
    ] = "clinical"
    name_numbers: Annotated[
        str,
        Param("Whether the digits that Synthea appends to names are stripped or kept.", choices=synthea.NAME_NUMBERS),
    ] = "strip"
    titles: Annotated[
        str, Param("Whether titles before and after a name (Mrs., PhD) are dropped or kept.", choices=synthea.TITLES)
    ] = "drop"
    without_medication: Annotated[
        str,
        Param(
            "Patients without a current medication, whose record could not end with one: drop and count them, or "
            "refuse the source.",
            choices=synthea.WITHOUT_MEDICATION,
        ),
    ] = "drop"
    clinician_seed: Annotated[
        int, Param("Synthea's seed for clinicians, needed with its jar; -1 is unset.", low=-1)
    ] = -1
    population: Annotated[
        int, Param("Living patients that Synthea's jar makes; 0 makes three for each record asked for.", low=0)
    ] = 0
    state: Annotated[str, Param("The state, by its full name, that Synthea's jar simulates.")] = "Massachusetts"
    refresh: Annotated[
        str, Param("Any text; a new one makes this step and all after it run again, and changes nothing else.")
    ] = ""

    train: Annotated[Path, Out("population", "People whose records the corpus is drawn from.")]
    held_out: Annotated[Path, Out("population", "People of the same population whom no model is trained on.")]
    exemplars: Annotated[Path, Out("population", "People of a fresh seed, shown to rewriters as examples of the form.")]


CONTRACT = SyntheaGen
