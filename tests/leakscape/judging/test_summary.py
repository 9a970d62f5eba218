from leakscape.judging.judgement import Judgement
from leakscape.judging.summary import Tally


def test_means_leave_out_what_was_not_scored_and_say_so() -> None:
    tally = Tally()
    for privacy, quality, reason in ((5, 1, "fact-lost"), (2, None, "identifier"), (None, 2, "fact-lost")):
        tally.add(Judgement(id="a", person="a", privacy=privacy, quality=quality, reason=reason))
    assert tally.summary() == {
        "judged": 3,
        "reasons": {"fact-lost": 2, "identifier": 1},
        "privacy": {"n": 2, "unscored": 1, "mean": 3.5},
        "quality": {"n": 2, "unscored": 1, "mean": 1.5},
    }


def test_without_scores_there_is_no_mean() -> None:
    assert Tally().summary()["privacy"] == {"n": 0, "unscored": 0}
