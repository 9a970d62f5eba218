"""A verdict in Markdown, and for a terminal or a job's log."""

import re

from leakscape.landscape.verdict import Drift, Held, Verdict
from leakscape.progress import printable

_MARKS = {"passed": "pass", "failed": "FAIL", "unmeasured": "FAIL", "skipped": "skip"}
_SURE = 0.05


def headline(verdict: Verdict) -> str:
    """The outcome in one sentence."""
    plan = printable(verdict.plan)
    if not verdict.rules:
        return f"{plan}: no gate was asked for."
    faults = len(verdict.faults)
    if not faults:
        return f"{plan}: the gate passed, {_counted(len(verdict.rules))}."
    return f"{plan}: the gate failed, {faults} of {_counted(len(verdict.rules))} not kept."


def markdown(verdict: Verdict) -> str:
    """The verdict as Markdown, for the summary of a GitHub job or a comment on a GitLab merge request."""
    lines = [f"## {_escaped(headline(verdict))}", ""]
    if verdict.rules:
        lines += ["| | rule | target | what was found |", "|---|---|---|---|"]
        lines += [_row(held) for held in verdict.rules]
        lines.append("")
    if changes := [item for item in verdict.drift if item.p_holm < _SURE]:
        lines += ["**Changed since the last audit** (paired, corrected for the number of comparisons)", ""]
        lines += [f"- {_escaped(changed(item))}" for item in changes]
        lines.append("")
    lines += [f"> {_escaped(note)}" for note in verdict.notes]
    lines += ["", f"Landscape `{verdict.landscape[:16]}`", ""]
    return "\n".join(lines)


def text(verdict: Verdict) -> str:
    """The verdict for a terminal: the outcome, then a line for each rule."""
    lines = [(_MARKS[held.outcome], f"{held.target}: {held.rule}: {held.reason}") for held in verdict.rules]
    lines += [("change", changed(item)) for item in verdict.drift if item.p_holm < _SURE]
    lines += [("note", note) for note in verdict.notes]
    return "\n".join([headline(verdict), *(f"  {mark}  {printable(words)}" for mark, words in lines)])


def gitlab_section(verdict: Verdict, *, time: int) -> str:
    """The verdict as a section of a GitLab job's log that can be folded.

    Args:
        verdict: to show.
        time: in seconds since 1970, as GitLab wants it.
    """
    start = f"\x1b[0Ksection_start:{time}:leakscape_gate\r\x1b[0K{headline(verdict)}"
    body = text(verdict).partition("\n")[2]
    return f"{start}\n{body}\n\x1b[0Ksection_end:{time}:leakscape_gate\r\x1b[0K"


def changed(item: Drift) -> str:
    """One change since the last audit, in words."""
    sign = "\N{MULTIPLICATION SIGN}" if item.scale == "ratio" else ""
    plus = "+" if item.scale == "difference" and item.value > 0 else ""
    span = "" if item.low is None or item.high is None else f" [{item.low:.3g}, {item.high:.3g}]"
    return f"{item.target}, {item.condition}: {item.metric} {sign}{plus}{item.value:.3g}{span}, n {item.n}"


def _row(held: Held) -> str:
    cells = (_MARKS[held.outcome], held.rule, held.target, held.reason)
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _counted(rules: int) -> str:
    return "1 rule" if rules == 1 else f"{rules} rules"


def _escaped(words: str) -> str:
    """Names come from a plan: none of them may break the table or become a link, a tag or a mention."""
    return re.sub(r"([\\`*_{}\[\]<>|#@~])", r"\\\1", printable(" ".join(words.split())))
