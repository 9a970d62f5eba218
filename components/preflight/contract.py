"""What preflight takes and gives."""

from dataclasses import field
from pathlib import Path
from typing import Annotated

from leakscape.contract import Out, Param, component


@component(name="preflight", image="evaluate")
class Preflight:
    """Look for everything that an audit needs, and name all that is missing at once, before anything is trained."""

    models: Annotated[list[str], Param("Models that steps load: an id, id@revision, or a folder.")] = field(
        default_factory=list
    )
    trust_remote_code: Annotated[
        bool, Param("Models may bring code of their own: then only whether their files can be had is looked at.")
    ] = False
    variables: Annotated[list[str], Param("Environment variables that must hold a credential.")] = field(
        default_factory=list
    )
    places: Annotated[
        list[str], Param("Folders or s3://bucket/prefix that must take an object, give it back and let go of it.")
    ] = field(default_factory=list)
    sources: Annotated[list[str], Param("Folders or s3://bucket/prefix that data are read from.")] = field(
        default_factory=list
    )
    accelerators: Annotated[int, Param("Accelerators that must be seen here.", low=0, high=64)] = 0
    accelerator: Annotated[str, Param("The resource name of an accelerator, for the namespace's quota.")] = (
        "nvidia.com/gpu"
    )
    accelerator_memory: Annotated[float, Param("Memory in GiB that each must have; 0 for any.", low=0)] = 0.0
    disk: Annotated[float, Param("GiB that must be free for temporary files; 0 for any.", low=0)] = 0.0
    version: Annotated[str, Param("Version of leakscape that the image must hold; '' for any.")] = ""
    report: Annotated[Path, Out("markdown", "What was looked at, and what was found.")]


CONTRACT = Preflight
