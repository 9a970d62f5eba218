"""A verdict as JUnit XML: each rule a test case, so that a CI system lists what failed."""

from leakscape.landscape.verdict import Held, Verdict


def junit(verdict: Verdict) -> str:
    """The verdict as one test suite; rules that have nothing to compare with are skipped tests."""
    from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

    results = {"failed": Failure, "unmeasured": Failure, "skipped": Skipped}
    suite = TestSuite(f"leakscape {verdict.plan}")
    for held in verdict.rules:
        case = TestCase(held.rule, classname=_class(verdict, held))
        if result := results.get(held.outcome):
            case.result = [result(held.reason, held.outcome)]
        suite.add_testcase(case)
    suite.add_property("landscape", verdict.landscape)
    document = JUnitXml("leakscape")
    document.add_testsuite(suite)
    text: bytes = document.tostring()  # type: ignore[no-untyped-call]
    return text.decode("utf-8")


def _class(verdict: Verdict, held: Held) -> str:
    """Dots group classes in the readers' trees: a target's own dots would make groups that are none."""
    return ".".join(part.replace(".", "_") for part in ("leakscape", verdict.plan, held.target, held.condition))
