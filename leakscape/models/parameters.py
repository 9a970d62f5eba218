"""Parameters that every component with a base model has, stated once."""

from typing import Annotated

from leakscape.contract import Param

Model = Annotated[
    str,
    Param("The base model: a Hugging Face id, a local folder, or leakscape/tiny, which ships.", required=True),
]
Revision = Annotated[str, Param("Branch, tag or commit of a Hugging Face id; empty for its default branch.")]
TrustRemoteCode = Annotated[bool, Param("Run code that the model's repository brings.")]
