"""What must be equal for two measurements to be compared, and what a reader must know where something is not.

Refused, unless forced: anything that changes what a figure means (another model, tokenizer, precision or prompt, other
canaries, other numbers of candidates or samples). Noted, never refused: how the scoring was spread, settings of a
training that a plan may change on purpose, and judges that differ.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leakscape.landscape.inputs import Found, Measured

_SHOWN = 16  # characters of a value in a sentence: a hash is told by its first ones
_PROBED = ("canaries", "held_out", "original")  # inputs that all conditions are measured on
_NOTED = ("world_size", "batch_size", "device")
_TRAINING = ("effective_batch", "world_size", "precision")
_FORM = ("tokenizer_hash", "precision", "chat")
_JUDGED_BY = ("model", "backend", "rubric_sha256", "effort", "rare_below")


def departures(items: Sequence[Measured], chains: Mapping[str, Sequence[Found]]) -> list[str]:
    """Everything that is not alike among the measurements of a target, in sentences.

    Args:
        items: of one target, in the order of the report.
        chains: the evidence behind each condition, by its name.
    """
    first, *others = items
    refused = [
        f"{first.summary.condition} and {other.summary.condition} {fault}, so their figures do not compare."
        for other in others
        for fault in faults(first, other)
    ]
    return [*refused, *_scoring(items), *_training(items, chains), *_judging(items, chains)]


def faults(one: Measured, other: Measured) -> Iterator[str]:
    """Why two measurements of a target do not compare: what follows their names in a sentence."""
    ours, theirs = _facts(one), _facts(other)
    for name in ours:
        if name in theirs and ours[name] != theirs[name]:
            yield f"differ in {name} ({_short(ours[name])} and {_short(theirs[name])})"
    for probe in one.summary.probes:
        if probe not in other.summary.probes:
            continue
        copies, others = _copies(one, probe), _copies(other, probe)
        same = all(copies[name] == others[name] for name in copies.keys() & others.keys())
        if not same or _ids(one, probe) != _ids(other, probe):
            yield f"have different ids or multiplicities in the probe {probe}"


def _facts(item: Measured) -> dict[str, Any]:
    """What has to be equal, as far as the measurement says it: an older one says less."""
    summary = item.summary
    facts: dict[str, Any] = {
        name: getattr(summary, name) for name in ("model", "revision", "tokenizer_hash", "precision", "chat")
    }
    facts |= {name: digest for name in _PROBED if (digest := item.manifest.inputs.get(name))}
    if summary.prompt_hash:
        facts["prompt_hash"] = summary.prompt_hash
    if candidates := sorted({row.candidates or 0 for row in item.data.of("exposure")}):
        facts["the number of names that secrets are ranked among"] = candidates
    tried = summary.details.get("extraction")
    facts |= _named(tried if isinstance(tried, dict) else {}, ("samples", "temperature", "near"), "extraction")
    for task, found in harness(item).items():
        wanted = ("metric", "version", "higher_is_better", "fewshot", "n")
        facts |= _named(found, wanted, f"the harness task {task}")
    return facts


def _named(stated: Mapping[str, Any], wanted: Sequence[str], what: str) -> dict[str, Any]:
    return {f"{name} of {what}": stated[name] for name in wanted if name in stated}


def harness(item: Measured) -> dict[str, dict[str, Any]]:
    """The tasks of lm-evaluation-harness that were run, by name."""
    found = item.summary.details.get("harness")
    tasks = found if isinstance(found, dict) else {}
    return {str(task): result for task, result in sorted(tasks.items()) if isinstance(result, dict)}


def _ids(measured: Measured, probe: str) -> set[str]:
    """Every id of a probe, scored or not."""
    left_out = (row.id for row in measured.summary.probes[probe].unscorable)
    return {*(row.id for row in measured.data.of(probe)), *left_out}


def _copies(measured: Measured, probe: str) -> dict[str, int | None]:
    """The multiplicity of everything that was scored in a probe."""
    return {row.id: row.multiplicity for row in measured.data.of(probe)}


def _scoring(items: Sequence[Measured]) -> Iterator[str]:
    for name in _NOTED:
        values = {item.summary.condition: getattr(item.summary, name) for item in items}
        if len(set(values.values())) > 1:
            yield (
                f"Conditions were scored with a different {name} ({_listed(values)}): in bfloat16 the last digits of a "
                "score depend on it."
            )
    silent = [item.summary.condition for item in items if not item.summary.prompt_hash]
    if 0 < len(silent) < len(items):
        yield f"The measurements of {', '.join(silent)} do not say with which prompts they were made."


def _training(items: Sequence[Measured], chains: Mapping[str, Sequence[Found]]) -> Iterator[str]:
    """Where a model was trained in another form than it was scored in, and where trainings differ.

    A training is held against that of direct by the same trainer, or else the first one by it.
    """
    logs = {
        item.summary.condition: (item.summary, found.evidence)
        for item in items
        for found in chains.get(item.summary.condition, ())
        if found.evidence.kind == "training log"
    }
    order = sorted(logs, key=lambda name: name != "direct")
    for name, (scored, log) in logs.items():
        for setting in _FORM:
            if setting in log.summary and log.summary[setting] != getattr(scored, setting):
                ours, theirs = _short(log.summary[setting]), _short(getattr(scored, setting))
                yield f"{name} was trained with {setting} {ours} and scored with {theirs}."
        base = next(other for other in order if logs[other][1].component == log.component)
        first = logs[base][1].summary
        for setting in _TRAINING:
            if setting in log.summary and setting in first and log.summary[setting] != first[setting]:
                ours, theirs = _short(log.summary[setting]), _short(first[setting])
                yield (
                    f"{log.component} trained {name} with {setting} {ours} and {base} with {theirs}: a difference "
                    "between them may come from that."
                )


def _judging(items: Sequence[Measured], chains: Mapping[str, Sequence[Found]]) -> Iterator[str]:
    judges: dict[tuple[str, ...], list[str]] = {}
    for item in items:
        for found in chains.get(item.summary.condition, ()):
            if found.evidence.kind == "judgements":
                summary = found.evidence.summary
                judge = tuple(_short(summary.get(name, "")) for name in _JUDGED_BY)
                judges.setdefault(judge, []).append(item.summary.condition)
    if len(judges) > 1:
        groups = "; ".join(", ".join(dict.fromkeys(names)) for names in judges.values())
        yield f"Judges or their rubrics differ ({groups}), so judged figures compare only within each of these groups."


def _listed(values: Mapping[str, Any]) -> str:
    by_value: dict[str, list[str]] = {}
    for name, value in values.items():
        by_value.setdefault(_short(value), []).append(name)
    return "; ".join(f"{value}: {', '.join(names)}" for value, names in by_value.items())


def _short(value: Any) -> str:  # noqa: ANN401 - whatever a summary holds
    text = str(value)
    return f"{text[:_SHOWN]}..." if len(text) > _SHOWN else text
