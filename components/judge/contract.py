"""What judge takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component
from leakscape.rewriting import parameters as rewriting


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
    revision: rewriting.Revision = ""
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
    effort: rewriting.Effort = ""
    temperature: rewriting.Temperature = 0.0
    max_output_tokens: rewriting.MaxOutputTokens = 2048
    attempts: rewriting.Attempts = 3
    max_quarantined: rewriting.MaxQuarantined = 0.01
    base_url: rewriting.BaseUrl = ""
    api: rewriting.Api = "chat"
    key_variable: rewriting.KeyVariable = "OPENAI_API_KEY"
    concurrency: rewriting.Concurrency = 8
    timeout: rewriting.Timeout = 120.0
    retries: rewriting.Retries = 6
    price_in: rewriting.PriceIn = 0.0
    price_out: rewriting.PriceOut = 0.0
    max_cost: rewriting.MaxCost = 0.0
    tensor_parallel: rewriting.TensorParallel = 1
    max_model_tokens: rewriting.MaxModelTokens = 0
    batch_size: rewriting.BatchSize = 8
    device: rewriting.Device = "auto"
    ledger_dir: rewriting.LedgerDir = ""
    seed: Annotated[int, Param("Drives sampling, and which records are drawn.", low=0)] = 0


CONTRACT = Judge
