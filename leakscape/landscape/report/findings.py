"""The headings of the report's sections: what each shows, as far as it may be said; empty where that is nothing."""

from collections.abc import Mapping, Sequence

from leakscape.landscape.catalogue import Entry
from leakscape.landscape.charts.budget import upper
from leakscape.landscape.charts.corpora import audited
from leakscape.landscape.charts.radar import spokes
from leakscape.landscape.report import claims
from leakscape.landscape.schema import Estimate, Target
from leakscape.landscape.words import SURE, counted, listed, number


def tradeoff(target: Target) -> str:
    """Who is not on the front: another condition is at least as good on both sides and better on one."""
    if target.front is None:
        return ""
    beaten = [item.name for item in target.conditions if item.name not in target.front.conditions]
    if not beaten:
        return "Every condition gives up one side for the other"
    if len(target.front.conditions) == 1:
        return f"{target.front.conditions[0]} beats every other condition on both sides"
    verb = "is" if len(beaten) == 1 else "are"
    return f"{listed(beaten)} {verb} beaten on both sides; the others give up one side for the other"


def leakage(target: Target) -> str:
    """Who leaks."""
    leaking, quiet = claims.by_leak(target)
    if leaking and quiet:
        return f"Secrets leak under {listed(leaking)}; no leak can be told from chance under {listed(quiet)}"
    if leaking:
        return f"Secrets leak under {listed(leaking)}"
    return f"No leak can be told from chance under {listed(quiet)}" if quiet else ""


def exposures(target: Target) -> str:
    """How many secrets rank first, in the extremes."""
    shares = [
        (item.metrics["rank_first_share"], item.name)
        for item in target.conditions
        if "rank_first_share" in item.metrics
    ]
    return _most("rank first among names never planted", shares)


def extraction(target: Target) -> str:
    """How many secrets are told to the letter, in the extremes."""
    found = [(each.planted, item.name) for item in target.conditions if (each := claims.told(item))]
    return _most("are told to the letter", [(share, name) for share, name in found if share is not None])


def _most(what: str, shares: Sequence[tuple[Estimate, str]]) -> str:
    if not shares:
        return ""
    highest = max(share.value for share, _ in shares)
    if highest == 0:
        return f"No secrets {what}"
    share, name = next(pair for pair in shares if pair[0].value == highest)
    none = [other for each, other in shares if each.value == 0]
    return f"Under {name} {counted(share)} secrets {what}{f'; none under {listed(none)}' if none else ''}"


def membership(target: Target) -> str:
    """Under which conditions training records stand out."""
    if not any(item.attacks for item in target.conditions):
        return ""
    out = [item.name for item in target.conditions if claims.found_out(target, item)]
    if out:
        return f"Training records can be told from unseen ones under {listed(out)}"
    if any(each.members == "record" and each.primary for item in target.conditions for each in item.attacks):
        return "Training records can't be told from unseen ones better than by chance"
    return ""


def budget(target: Target) -> str:
    """What the coins say of what accounting allows."""
    private = [item for item in target.conditions if upper(item) is not None]
    broken = [item.name for item in private if claims.refuted(item)]
    if broken:
        return f"The coins refute the privacy that {listed(broken)} {'claims' if len(broken) == 1 else 'claim'}"
    shown = [
        f"at least {number(item.epsilon_bound.epsilon)} of the {number(upper(item) or 0.0)} allowed to {item.name}"
        for item in private
        if item.epsilon_bound is not None
    ]
    if shown:
        return f"The coins show {listed(shown)}"
    return f"No coin shows how much of the budget of {listed([item.name for item in private])} is spent"


def radar(target: Target, entries: Mapping[str, Entry]) -> str:
    """Whether a condition is the best in everything."""
    found = spokes(target, entries)
    best = [item.name for item in target.conditions if found and all(each.places[item.name] == 1 for each in found)]
    if best:
        return f"{best[0]} is the best in all that is drawn here"
    return "No condition is the best in everything" if found else ""


def correlations(target: Target, entries: Mapping[str, Entry]) -> str:
    """Which pairs go together, corrected for how many were tried."""
    tried = len(target.correlations)
    sure = [
        f"{_named(entries, each.x).lower()} and {_named(entries, each.y).lower()}"
        f"{' (in reverse)' if each.value < 0 else ''}"
        for each in target.correlations
        if each.p * tried < SURE
    ]
    if sure:
        return f"Alike in how they order the conditions: {'; '.join(sure)}"
    return "No two metrics order these conditions alike beyond chance" if tried else ""


def _named(entries: Mapping[str, Entry], metric: str) -> str:
    return entries[metric].title if metric in entries else metric


def disclosures(target: Target) -> str:
    """Which corpora show more of their own people than chance does."""
    shown = audited(target)
    more = [names for names, found in shown if any(each.p_holm < SURE and each.beyond_chance > 0 for each in found)]
    if more:
        return f"More of its people than chance shows stand in the corpus of {listed(more)}"
    return "No corpus shows more of its people than chance does" if shown else ""


def costs(target: Target) -> str:
    """What rewriting took in all."""
    found = list({repr(each): each for item in target.conditions for each in item.costs}.values())
    if not found:
        return ""
    tokens = sum(each.tokens_in + each.tokens_out for each in found)
    answers = sum(count for each in found for count in each.answers.values())
    return f"{answers:,} answers and {tokens:,} tokens went into these corpora"
