import re

import pytest
from gate_fakes import SMALL, held, verdict
from junitparser import Failure, JUnitXml, Skipped
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from leakscape.errors import InputError
from leakscape.gate.ways_out import properties, summary
from leakscape.gate.ways_out.junit import junit
from leakscape.gate.ways_out.openmetrics import openmetrics
from leakscape.landscape.verdict import Drift

FAILING = verdict(
    held("passed"), held("failed", target="org/m.2"), held("unmeasured", reason="no figure."), held("skipped")
)


def test_junit_as_its_reader_reads_it():
    (suite,) = JUnitXml.fromstring(junit(FAILING).encode())
    assert (suite.tests, suite.failures, suite.skipped, suite.errors) == (4, 2, 1, 0)
    cases = list(suite)
    assert cases[0].result == []
    assert [type(case.result[0]) for case in cases[1:]] == [Failure, Failure, Skipped]
    assert cases[1].classname == "leakscape.small.org/m_2.direct"
    assert cases[2].result[0].message == "no figure."
    assert junit(FAILING) == junit(FAILING)


def test_openmetrics_as_its_reader_reads_it():
    text = openmetrics(SMALL, FAILING)
    assert text.endswith("# EOF\n")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert families["leakscape_gate_passed"].samples[0].value == 0.0
    counts = {sample.labels["outcome"]: sample.value for sample in families["leakscape_gate_rules"].samples}
    assert counts == {"passed": 1.0, "failed": 1.0, "unmeasured": 1.0, "skipped": 1.0}
    figures = {
        (sample.labels["condition"], sample.labels["metric"], sample.labels["bound"]): sample.value
        for sample in families["leakscape_figure"].samples
    }
    assert figures["direct", "exposure_bits", "high"] == 6.8
    assert figures["dp-8", "held_out_perplexity", "value"] == 5.0
    assert len(figures) == 3 * (2 + 3 + 2)
    assert families["leakscape_landscape"].samples[0].labels == {"digest": "ab" * 32}


def test_markdown_has_a_row_for_each_rule_and_no_name_breaks_it():
    bad = held("failed", target="a|b <img src=x> [click](http://x) @all")
    text = summary.markdown(verdict(bad, held("passed"), notes=["Mind this."]))
    rows = [line for line in text.splitlines() if line.startswith("| ") and "rule" not in line]
    assert len(rows) == 2
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
    assert "<img" not in text.replace("\\<", "")
    assert "](" not in text.replace("\\]", "")
    assert "> Mind this." in text
    assert text.startswith("## small: the gate failed, 1 of 2 rules not kept.")


def test_only_changes_that_are_sure_are_told():
    change = {"target": "tiny", "condition": "direct", "metric": "exposure_bits", "scale": "difference", "n": 20}
    sure = Drift(value=0.5, low=0.2, high=0.8, p=0.001, p_holm=0.01, **change)
    unsure = Drift(value=0.3, low=-0.2, high=0.8, p=0.2, p_holm=0.4, **change)
    text = summary.text(verdict(drift=[sure, unsure]))
    assert "change  tiny, direct: exposure_bits +0.5 [0.2, 0.8], n 20" in text
    assert "0.3" not in text
    assert summary.headline(verdict()) == "small: no gate was asked for."


def test_a_gitlab_section_opens_and_closes_under_one_name():
    text = summary.gitlab_section(FAILING, time=1_700_000_000)
    assert re.findall(r"section_(start|end):1700000000:(\w+)\r", text) == [
        ("start", "leakscape_gate"),
        ("end", "leakscape_gate"),
    ]


def test_properties_are_those_of_the_condition():
    assert properties.figures(SMALL, "tiny", "dp-8") == {
        "leakscape.exposure_bits": 1.6,
        "leakscape.exposure_bits.low": 1.0,
        "leakscape.exposure_bits.high": 2.4,
        "leakscape.held_out_perplexity": 5.0,
        "leakscape.held_out_perplexity.low": 4.8,
        "leakscape.held_out_perplexity.high": 5.3,
    }
    facts = properties.facts(SMALL, verdict(held("failed")), "tiny", "direct")
    assert facts["leakscape.gate"] == "failed"
    assert properties.facts(SMALL, verdict(held("failed")), "tiny", "dp-8")["leakscape.gate"] == "none"
    with pytest.raises(InputError, match="no condition gone of tiny"):
        properties.figures(SMALL, "tiny", "gone")


def test_no_name_writes_a_line_or_a_command_of_its_own():
    """`::set-output` at the start of a line is a command to GitHub, an escape character one to a terminal."""
    bad = verdict(held("failed", target="a\n::set-output name=x::y\x1b[31m", reason="b\r::error::\u202e"), plan="c\nd")
    lines = summary.text(bad).splitlines()
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
    assert summary.markdown(bad).replace("\n", "").isprintable()


def test_junit_marks_what_xml_can_not_hold():
    """XML 1.0 has no escape for most control characters and for lone surrogates."""
    bad = held("failed", target="a\x00b", rule="c\x1bd", reason="e\ud800\ufffef")
    (suite,) = JUnitXml.fromstring(junit(verdict(bad, plan="g\x0b")).encode())
    (case,) = suite
    assert (suite.name, case.name, case.classname) == (
        "leakscape g\ufffd",
        "c\ufffdd",
        "leakscape.g\ufffd.a\ufffdb.direct",
    )
    assert case.result[0].message == "e\ufffd\ufffdf"
