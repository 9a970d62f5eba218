"""The names and versions of the artifacts' schemas.

A schema's version changes when an older reader would misread the payload.
"""

POPULATION = "leakscape/population/1"  # records.jsonl: Record
CORPUS = "leakscape/corpus/1"  # records.jsonl: CorpusRecord
CANARIES = "leakscape/canaries/1"  # canaries.jsonl: Canary; alternatives.jsonl: {"name": str}
MASKS = "leakscape/masks/1"  # masks.jsonl: Masked; residual.json
LEDGER = "leakscape/ledger/1"  # ledger.jsonl: one answer a line; summary.json
ADAPTER = "leakscape/adapter/1"  # PEFT: adapter_config.json, adapter_model.safetensors
TRAINING_LOG = "leakscape/training-log/1"  # steps.jsonl, summary.json
JUDGEMENTS = "leakscape/judgements/1"  # judgements.jsonl: Judgement; ledger.jsonl, summary.json
DISCLOSURES = "leakscape/disclosures/1"  # disclosures.json: counts by type of feature
MEASUREMENTS = "leakscape/measurements/1"  # scores.parquet, summary.json
LANDSCAPE = "leakscape/landscape/1"  # landscape.json
VERDICT = "leakscape/verdict/1"  # verdict.json; entries.jsonl: what the history keeps
PUBLISHED = "leakscape/published/1"  # verdict.md, verdict.junit.xml, figures.openmetrics.txt
