"""Parameters that every component that asks a language model has, stated once; see `choose.ModelSettings`.

A job resumes although those that are `operational` differ.
"""

from typing import Annotated

from leakscape.contract import VARIABLE, Param

Revision = Annotated[str, Param("Revision of the model at the hub; '' for its main branch.")]
Effort = Annotated[
    str,
    Param("Reasoning effort; '' leaves it to the model.", choices=("", "none", "low", "medium", "high", "xhigh")),
]
Temperature = Annotated[float, Param("Sampling temperature; 0 is greedy, -1 leaves it to an endpoint.", low=-1, high=2)]
MaxOutputTokens = Annotated[int, Param("Longest answer in tokens, reasoning included.", low=1)]
Attempts = Annotated[
    int, Param("How often a record is asked before it is quarantined.", low=1, high=20, operational=True)
]
MaxQuarantined = Annotated[
    float, Param("Largest share of quarantined records; above it the step fails.", low=0, high=1, operational=True)
]
BaseUrl = Annotated[str, Param("Endpoint only: its address; '' for the client's own default.", operational=True)]
Api = Annotated[str, Param("Endpoint only: which interface it offers.", choices=("chat", "responses"))]
KeyVariable = Annotated[
    str, Param("Endpoint only: the environment variable that holds the credential.", pattern=VARIABLE, operational=True)
]
Concurrency = Annotated[int, Param("Endpoint only: requests under way at once.", low=1, high=512, operational=True)]
Timeout = Annotated[float, Param("Endpoint only: seconds for one call.", above=0, operational=True)]
Retries = Annotated[int, Param("Endpoint only: retries of one call, with back-off.", low=0, high=50, operational=True)]
PriceIn = Annotated[float, Param("Cost of a million tokens read.", low=0, operational=True)]
PriceOut = Annotated[float, Param("Cost of a million tokens written.", low=0, operational=True)]
MaxCost = Annotated[float, Param("The step stops once this much is spent; 0 for no ceiling.", low=0, operational=True)]
TensorParallel = Annotated[int, Param("vLLM only: GPUs that share the model.", low=1, operational=True)]
MaxModelTokens = Annotated[int, Param("vLLM only: longest prompt and answer; 0 for the model's own.", low=0)]
BatchSize = Annotated[int, Param("transformers only: requests decoded together.", low=1, operational=True)]
Device = Annotated[str, Param("transformers only: auto, cpu, cuda or cuda:N.", operational=True)]
LedgerDir = Annotated[
    str,
    Param(
        "A folder or s3://bucket/prefix that keeps answers, so that a killed step resumes; '' for none.",
        operational=True,
    ),
]
