"""What vllm-rewrite takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import VARIABLE, In, Out, Param, component


@component(name="vllm-rewrite", image="rewrite")
class VllmRewrite:
    """Rewrite every record of a corpus with a language model or by rules, and lose none."""

    corpus: Annotated[Path, In("corpus", "The records to rewrite, each copy of a canary on its own.")]
    exemplars: Annotated[
        Path, In("population", "Records of a fresh seed; expansion shows two of them as examples of the form.")
    ]
    rewritten: Annotated[Path, Out("corpus", "The rewritten records, under the ids of their sources.")]
    ledger: Annotated[
        Path, Out("ledger", "Every answer: outcome, prompt hash, tokens, cost; and what was quarantined.")
    ]

    strategy: Annotated[
        str,
        Param(
            "What the model is asked to do.",
            choices=("rewrite", "privacy-aware", "summarise-expand", "privacy-aware-summarise-expand"),
        ),
    ] = "rewrite"
    backend: Annotated[
        str,
        Param(
            "Who rewrites: a vLLM engine in this pod, an OpenAI-compatible endpoint, transformers, or rules.",
            choices=("vllm", "openai", "transformers", "rules"),
        ),
    ] = "vllm"
    model: Annotated[str, Param("The rewriter: a Hugging Face id or path, or the endpoint's name for it.")] = ""
    revision: Annotated[str, Param("Revision of the model at the hub; '' for its main branch.")] = ""
    copies: Annotated[int, Param("Independent rewrites of each record.", low=1, high=64)] = 1
    effort: Annotated[
        str,
        Param("Reasoning effort; '' leaves it to the model.", choices=("", "none", "low", "medium", "high", "xhigh")),
    ] = ""
    temperature: Annotated[
        float, Param("Sampling temperature; 0 is greedy, -1 leaves it to an endpoint.", low=-1, high=2)
    ] = 0.7
    max_output_tokens: Annotated[int, Param("Longest answer in tokens, reasoning included.", low=1)] = 4096
    attempts: Annotated[int, Param("How often a record is asked before it is quarantined.", low=1, high=20)] = 3
    max_quarantined: Annotated[
        float, Param("Largest share of quarantined records; above it the step fails.", low=0, high=1)
    ] = 0.01
    rare_below: Annotated[int, Param("Rules only: a value that fewer people carry is rare and replaced.", low=1)] = 5
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
    seed: Annotated[int, Param("Drives sampling and rules.", low=0)] = 0


CONTRACT = VllmRewrite
