"""What vllm-rewrite takes and gives."""

from pathlib import Path
from typing import Annotated

from leakscape.contract import In, Out, Param, component
from leakscape.rewriting import parameters as rewriting


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
    revision: rewriting.Revision = ""
    copies: Annotated[int, Param("Independent rewrites of each record.", low=1, high=64)] = 1
    effort: rewriting.Effort = ""
    temperature: rewriting.Temperature = 0.7
    max_output_tokens: rewriting.MaxOutputTokens = 4096
    attempts: rewriting.Attempts = 3
    max_quarantined: rewriting.MaxQuarantined = 0.01
    rare_below: Annotated[int, Param("Rules only: a value that fewer people carry is rare and replaced.", low=1)] = 5
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
    shards: Annotated[
        int,
        Param(
            "Parts of the corpus that are rewritten side by side, each by a step with its share of --max-cost, and "
            "joined by rewrite-join.",
            low=1,
            high=256,
        ),
    ] = 1
    shard: Annotated[int, Param("Which part this step rewrites, from 1; 0 with one part.", low=0, high=256)] = 0
    seed: Annotated[int, Param("Drives sampling and rules.", low=0)] = 0


CONTRACT = VllmRewrite
