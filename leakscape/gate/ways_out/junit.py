"""A verdict as JUnit XML: each rule a test case, so that a CI system lists what failed."""

import re

from leakscape.landscape.verdict import Held, Verdict

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(verdict: Verdict) -> str:
    """The verdict as one test suite; rules that have nothing to compare with are skipped tests."""
    from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

    results = {"failed": Failure, "unmeasured": Failure, "skipped": Skipped}
    suite = TestSuite(_told(f"leakscape {verdict.plan}"))
    for held in verdict.rules:
        case = TestCase(_told(held.rule), classname=_told(_class(verdict, held)))
        if result := results.get(held.outcome):
            case.result = [result(_told(held.reason), held.outcome)]
        suite.add_testcase(case)
    suite.add_property("landscape", verdict.landscape)
    document = JUnitXml("leakscape")
    document.add_testsuite(suite)
    text: bytes = document.tostring()  # type: ignore[no-untyped-call]
    return text.decode("utf-8")


def _told(words: str) -> str:
    """The words, with a mark for each character that XML can't hold."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", words)


def _class(verdict: Verdict, held: Held) -> str:
    """Dots group classes in the readers' trees: a target's own dots would make groups that are none."""
    return ".".join(part.replace(".", "_") for part in ("leakscape", verdict.plan, held.target, held.condition))
