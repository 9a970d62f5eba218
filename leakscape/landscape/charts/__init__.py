"""The report's pictures, as SVG for the page; each is empty where a target has nothing to show in it."""

from leakscape.landscape.charts.budget import budget
from leakscape.landscape.charts.corpora import disclosures, judged
from leakscape.landscape.charts.correlation import correlations
from leakscape.landscape.charts.leakage import exposures, extraction, leakage
from leakscape.landscape.charts.membership import areas, roc
from leakscape.landscape.charts.radar import radar
from leakscape.landscape.charts.tradeoff import tradeoff
from leakscape.landscape.charts.training import losses

__all__ = [
    "areas", "budget", "correlations", "disclosures", "exposures", "extraction", "judged", "leakage", "losses",
    "radar", "roc", "tradeoff",
]  # fmt: skip
