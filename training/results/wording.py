"""What the numbers say, in sentences computed from records."""

from tipshare.kinds import title_of
from training.results.formatting import count_in_words, show_mean, show_p
from training.results.groups import RunGroup
from training.results.published import published_for
from training.results.rows import BASELINE, ResultRow, Source, result_rows
from training.results.significance import Comparison, compare_group
from training.results.summaries import LOSS, Summary, summarise_group


def headline_of(group: RunGroup, *, metric: str = LOSS, source: Source = "measured") -> str:
    """One sentence: the best smaller model against the plain one, with sizes, losses and significance."""
    if source == "published":
        return _published_headline(group)
    rows = {row.label: row for row in result_rows(group, metric=metric)}
    if not rows:
        raise ValueError(f"no run of {group.name} has the final number {metric!r}")
    # The four models by their own names come before ablations of them.
    named = {label: row for label, row in rows.items() if label == row.kind} or rows
    others = [row for label, row in named.items() if label != BASELINE] or list(named.values())
    # Sharing is about doing as well with less; a larger model speaks for the rest only where there is no smaller one.
    smaller = [row for row in others if (row.compression or 0) > 1]
    best = min(smaller or others, key=lambda row: row.loss.mean)
    name = best.title
    if best.label != best.kind and len(others) > 1:
        name = f"{_best_of(len(smaller), len(others))}, {best.title},"
    start = f"After {group.num_steps:,} steps on {group.corpus}, {name} reaches {_reached(best, metric)}"
    if BASELINE not in rows or best.label == BASELINE:
        return start + "."
    baseline = rows[BASELINE]
    pair = next(each for each in compare_group(group, metric) if {each.first, each.second} == {best.label, BASELINE})
    verdict = _verdict(best, baseline, pair)
    return f"{start}{_smaller(best)}; {baseline.title} reaches {_reached(baseline, metric)}: {verdict}."


def _best_of(smaller: int, models: int) -> str:
    """What a model is the best of: all, or those that are smaller than a plain transformer."""
    if smaller in (0, models):
        return f"the best of {models} models"
    if smaller == 1:
        return f"the only one of {models} models that is smaller than a plain transformer"
    return f"the best of the {smaller} models (of {models}) that are smaller than a plain transformer"


def _published_headline(group: RunGroup) -> str:
    """One sentence on what was published for a recipe, and why not to compare it with ours."""
    rows, experiment = result_rows(group, source="published"), published_for(group.recipe)
    if not rows or experiment is None:
        return f"Nothing was published for {group.name}."
    ranked = sorted(rows, key=lambda row: row.loss.mean)
    losses = ", ".join(f"{row.title} {show_mean(row.loss)}" for row in ranked)
    steps = f" after {experiment.num_steps:,} steps" if experiment.num_steps else ""
    return (
        f"Published{steps} on {experiment.corpus}, {group.unit} per byte from the lowest loss on: {losses}. None of "
        "these models was causal, so their losses cannot be compared with those measured here."
    )


def significance_in_words(pair: Comparison) -> str:
    """A comparison as sentences a reader without statistics can use."""
    first, second = title_of(pair.first), title_of(pair.second)
    what = "loss" if pair.metric == LOSS else pair.metric
    if pair.difference == 0:
        start = f"{first} and {second} have the same {what}"
    else:
        side = "lower" if pair.difference < 0 else "higher"
        start = f"{first} has a {side} {what} than {second} by {abs(pair.difference):.3f}"
    if pair.low is not None and pair.high is not None:
        near, far = sorted((pair.low, pair.high), key=abs)
        if near * far > 0:
            start += f" (95 % interval {abs(near):.3f} to {abs(far):.3f})"
        else:
            start += f" (the 95 % interval of the difference, {pair.low:+.3f} to {pair.high:+.3f}, includes zero)"
    if pair.test is None:
        return f"{start}. One seed is not enough for a test."
    if pair.p_value is None or pair.p_holm is None:
        return f"{start}. The difference is the same on every seed, so there is no spread to test it against."
    told = f"{_test_in_words(pair)} p = {show_p(pair.p_value)}, corrected for all pairs {show_p(pair.p_holm)}"
    return f"{start}. {told}: {'significant' if pair.is_significant else 'not significant'} at 0.05.{_flips(pair)}"


def notes_on(group: RunGroup, *, metric: str = LOSS, source: Source = "measured") -> list[str]:
    """What a reader of the tables must know: missing seeds, unequal seeds, several devices."""
    notes = _notes_on_runs(group, metric) if source != "published" else []
    devices = set(group.devices) if source != "published" else set()
    devices |= {row.device for row in result_rows(group, metric=metric, source=source) if row.is_published}
    if len(devices) > 1:
        notes.append(f"Step times come from several devices ({'; '.join(sorted(devices))}): do not compare them.")
    return notes


def _notes_on_runs(group: RunGroup, metric: str) -> list[str]:
    notes = []
    summaries = summarise_group(group, metric)
    missing = [title_of(label) for label in group.labels if label not in summaries]
    if missing:
        notes.append(f"Left out, because they lack {metric}: {', '.join(missing)}.")
    single = [title_of(label) for label, each in summaries.items() if len(each.values) == 1]
    if single:
        notes.append(f"One seed, so no interval and no test: {', '.join(single)}.")
    uneven = [each for each in compare_group(group, metric) if _is_uneven(each, summaries)]
    for pair in uneven:
        counts = " and ".join(
            f"{title_of(label)} ({len(summaries[label].seeds)})" for label in (pair.first, pair.second)
        )
        notes.append(f"Different seeds: {counts} share {len(pair.seeds)}; only those are paired.")
    if any("valid_loss_full" in run.final for runs in group.runs.values() for run in runs):
        notes.append("The loss is that of fixed windows of the validation text; bits/byte are of the whole text.")
    return notes


def _is_uneven(pair: Comparison, summaries: dict[str, Summary]) -> bool:
    """Whether a test left seeds out; with one seed there is none, as another note says."""
    return pair.test is not None and set(summaries[pair.first].seeds) != set(summaries[pair.second].seeds)


def _reached(row: ResultRow, metric: str) -> str:
    unit = f"{row.group.unit} per byte" if metric == LOSS else f"({metric})"
    size = f" with {count_in_words(row.parameters)} parameters" if row.parameters else ""
    return f"{show_mean(row.loss)} {unit}{size}"


def _smaller(row: ResultRow) -> str:
    if row.compression is None:
        return ""
    plain = f"the {count_in_words(row.plain)} of a plain transformer"
    if row.compression >= 1.05:
        return f", {row.compression:.2g} times fewer than {plain}"
    if row.compression <= 0.95:
        return f", {1 / row.compression:.2g} times {plain}"
    return ""


def _verdict(best: ResultRow, baseline: ResultRow, pair: Comparison) -> str:
    difference = pair.difference if pair.first == best.label else -pair.difference
    if difference == 0:
        return "no difference"
    side = "lower" if difference < 0 else "higher"
    start = f"{best.title} is {abs(difference):.3f} {side}"
    if pair.test is None:
        return f"{start}, on one seed and so without a test"
    if pair.p_holm is None:
        return f"{start}, equally on every seed and so without a test"
    word = "significant" if pair.is_significant else "not significant"
    return f"{start}, {word} ({_test_in_words(pair).lower()} p = {show_p(pair.p_holm)}, corrected for all pairs)"


def _test_in_words(pair: Comparison) -> str:
    return f"Paired t test over {len(pair.seeds)} seeds," if pair.test == "paired" else "Welch's t test, unpaired,"


def _flips(pair: Comparison) -> str:
    """What the test without assumptions adds; few seeds bound it from below."""
    if pair.permutation is None or pair.permutation.p_value is None:
        return ""
    least = 2.0 ** (1 - len(pair.seeds))
    bound = f", the least that {len(pair.seeds)} seeds can give" if pair.permutation.p_value <= least * 1.0001 else ""
    return f" Flipping signs at random gives p = {show_p(pair.permutation.p_value)}{bound}."
