"""What publish takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import VARIABLE, In, Out, Param, component


@component(name="publish", image="base")
class Publish:
    """Add an audit to the history, and write its verdict in the forms that other systems read.

    Publishing an audit twice changes nothing.
    """

    landscape: Annotated[Path, In("landscape", "All figures.")]
    verdict: Annotated[Path, In("verdict", "The verdict on them.")]
    history: Annotated[str, Param("Folder or s3://bucket/prefix of the history of audits; empty to keep none.")] = ""
    condition: Annotated[
        str, Param("The condition whose figures go to the registry and to MLflow: the one that would be released.")
    ] = ""
    target: Annotated[str, Param("The target of that condition; empty if there is only one.")] = ""
    registry: Annotated[
        str, Param("Address of a Kubeflow Model Registry, with http:// or https://; empty for none.")
    ] = ""
    registry_model: Annotated[str, Param("The registered model that the figures belong to.")] = ""
    registry_version: Annotated[str, Param("Its version.")] = ""
    registry_token_variable: Annotated[
        str, Param("Environment variable with the registry's token.", pattern=VARIABLE)
    ] = "MODEL_REGISTRY_TOKEN"  # noqa: S105 - the name of a variable
    mlflow: Annotated[str, Param("Address of an MLflow tracking server; empty for none.")] = ""
    mlflow_experiment: Annotated[str, Param("The experiment that the run is put into.")] = "leakscape"
    published: Annotated[Path, Out("published", "verdict.md, verdict.junit.xml and figures.openmetrics.txt.")]
    summary: Annotated[Path, Out("markdown", "The verdict for people.")]


CONTRACT = Publish
