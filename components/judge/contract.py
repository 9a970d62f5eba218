"""What judge takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import VARIABLE, In, Out, Param, component


@component(name="judge", image="rewrite")
class Judge:
    """Score privacy and quality of every rewritten record against its source, by a language model or by rules.

    Each record gets two scores from 1 to 5 and a reason. A model follows a rubric that ships with leakscape; rules
    count which identifiers, rare values and common facts of the source survive.
    """

    original: Annotated[Path, In("corpus", "The records as they were before any defence.")]
    corpus: Annotated[Path, In("corpus", "The rewritten records, under the ids of their sources and in their order.")]
    judgements: Annotated[
        Path, Out("judgements", "Two scores and a reason for each record, and what it took to get them.")
    ]

    backend: Annotated[
        str,
        Param(
            "Who judges: a vLLM engine in this pod, an OpenAI-compatible endpoint, transformers, or rules.",
            choices=("vllm", "openai", "transformers", "rules"),
        ),
    ] = "vllm"
    model: Annotated[str, Param("The judge: a Hugging Face id or path, or the endpoint's name for it.")] = ""
    revision: Annotated[str, Param("Revision of the model at the hub; '' for its main branch.")] = ""
    rubric: Annotated[str, Param("Which rubric the model follows.", required=True)] = "judge.v1"
    structured: Annotated[
        bool,
        Param(
            "Have vLLM or the endpoint hold the model to the answer's JSON schema; false where it refuses that, or for "
            "vLLM where the model is to reason first."
        ),
    ] = True
    sample: Annotated[int, Param("Judge this many records, the same ones under every condition; 0 for all.", low=0)] = 0
    rare_below: Annotated[int, Param("Rules only: a value that fewer people carry is rare.", low=1)] = 5
    effort: Annotated[
        str,
        Param("Reasoning effort; '' leaves it to the model.", choices=("", "none", "low", "medium", "high", "xhigh")),
    ] = ""
    temperature: Annotated[
        float, Param("Sampling temperature; 0 is greedy, -1 leaves it to an endpoint.", low=-1, high=2)
    ] = 0.0
    max_output_tokens: Annotated[int, Param("Longest answer in tokens, reasoning included.", low=1)] = 2048
    attempts: Annotated[int, Param("How often a record is asked before it is quarantined.", low=1, high=20)] = 3
    max_quarantined: Annotated[
        float, Param("Largest share of quarantined records; above it the step fails.", low=0, high=1)
    ] = 0.01
    base_url: Annotated[str, Param("Endpoint only: its address; '' for the client's own default.")] = ""
    api: Annotated[str, Param("Endpoint only: which interface it offers.", choices=("chat", "responses"))] = "chat"
    key_variable: Annotated[
        str, Param("Endpoint only: the environment variable that holds the credential.", pattern=VARIABLE)
    ] = "OPENAI_API_KEY"
    concurrency: Annotated[int, Param("Endpoint only: requests under way at once.", low=1, high=512)] = 8
    timeout: Annotated[float, Param("Endpoint only: seconds for one call.", above=0)] = 120.0
    retries: Annotated[int, Param("Endpoint only: retries of one call, with back-off.", low=0, high=50)] = 6
    price_in: Annotated[float, Param("Cost of a million tokens read.", low=0)] = 0.0
    price_out: Annotated[float, Param("Cost of a million tokens written.", low=0)] = 0.0
    max_cost: Annotated[float, Param("The step stops once this much is spent; 0 for no ceiling.", low=0)] = 0.0
    tensor_parallel: Annotated[int, Param("vLLM only: GPUs that share the model.", low=1)] = 1
    max_model_tokens: Annotated[int, Param("vLLM only: longest prompt and answer; 0 for the model's own.", low=0)] = 0
    batch_size: Annotated[int, Param("transformers only: requests decoded together.", low=1)] = 8
    device: Annotated[str, Param("transformers only: auto, cpu, cuda or cuda:N.")] = "auto"
    ledger_dir: Annotated[
        str, Param("A folder or s3://bucket/prefix that keeps answers, so that a killed step resumes; '' for none.")
    ] = ""
    seed: Annotated[int, Param("Drives sampling, and which records are drawn.", low=0)] = 0


CONTRACT = Judge
