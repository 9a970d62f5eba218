"""A landscape and its verdict as OpenMetrics, for a file that Prometheus or GitLab reads."""

from typing import TYPE_CHECKING

from leakscape.landscape.schema import Landscape
from leakscape.landscape.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.core import Metric

_ENDS = ("value", "low", "high")


class _Families:
    """What the exposition asks for: all families, each with its samples."""

    def __init__(self, landscape: Landscape, verdict: Verdict) -> None:
        self._landscape, self._verdict = landscape, verdict

    def collect(self) -> "Iterator[Metric]":
        from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

        plan = self._verdict.plan
        passed = GaugeMetricFamily("leakscape_gate_passed", "Whether the gate passed.", labels=["plan"])
        passed.add_metric([plan], float(self._verdict.passed))
        yield passed
        rules = GaugeMetricFamily("leakscape_gate_rules", "Rules by outcome.", labels=["plan", "outcome"])
        for outcome in ("passed", "failed", "unmeasured", "skipped"):
            rules.add_metric([plan, outcome], sum(held.outcome == outcome for held in self._verdict.rules))
        yield rules
        labels = ["plan", "target", "condition", "metric", "bound"]
        figures = GaugeMetricFamily(
            "leakscape_figure", "A metric of a condition and the ends of its interval.", labels=labels
        )
        for target in self._landscape.targets:
            for item in target.conditions:
                for name, figure in item.metrics.items():
                    for end in _ENDS:
                        if (number := getattr(figure, end)) is not None:
                            figures.add_metric([plan, target.name, item.name, name, end], number)
        yield figures
        yield InfoMetricFamily(
            "leakscape_landscape", "The landscape behind these figures.", {"digest": self._verdict.landscape}
        )


def openmetrics(landscape: Landscape, verdict: Verdict) -> str:
    """All figures as gauges with the labels plan, target, condition, metric and bound, ended by `# EOF`."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.openmetrics.exposition import generate_latest

    registry = CollectorRegistry()
    registry.register(_Families(landscape, verdict))
    text: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]
    return text.decode("utf-8")
