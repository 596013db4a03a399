"""Results in sentences."""

from tests.training.results.factory import group_of, make_record, published_records, runs
from training.results.significance import compare_group
from training.results.wording import headline_of, notes_on, significance_in_words


def test_the_headline_compares_the_best_shared_model_with_the_plain_one():
    sentence = headline_of(group_of(*published_records()))
    assert sentence.startswith("After 1,000 steps on wikitext-2, Time-Indexed SSM reaches 2.147 ± 0.173 nats per byte")
    assert "Standard reaches 2.367 ± 0.031" in sentence
    assert "Time-Indexed SSM is 0.220 lower, not significant (paired t test over 5 seeds, p = 0.0614" in sentence


def test_the_headline_prefers_a_smaller_model_to_a_larger_one_that_is_a_little_better():
    def sized(kind: str, total: int, loss: float):
        return make_record(kind, loss=loss, parameters={"total": total, "effective": total})

    small, large = sized("time-indexed-ssm", 900, 1.56), sized("neural-ode", 1_000_000, 1.55)
    assert "Time-Indexed SSM is 0.030 higher" in headline_of(group_of(sized("standard", 5000, 1.53), small, large))
    assert "Neural ODE is 0.020 higher" in headline_of(group_of(sized("standard", 5000, 1.53), large))


def test_the_headline_of_one_model_and_of_ablations():
    alone = headline_of(group_of(make_record("time-indexed-mlp", loss=1.5)))
    assert alone.startswith("After 1,000 steps on wikitext-2, Time-Indexed MLP reaches 1.500 nats per byte")
    single = headline_of(group_of(make_record(loss=2.0), make_record("neural-ode", loss=1.5)))
    assert single.endswith("Neural ODE is 0.500 lower, on one seed and so without a test.")
    ablation = headline_of(
        group_of(*runs(model="own + mlp"), *runs("time-indexed-mlp", (1.0, 1.1), model="tied + mlp"))
    )
    assert "the best of 2 models, MLP with one block without gates, reaches 1.050" in ablation


def test_significance_in_words():
    words = {
        (each.first, each.second): significance_in_words(each) for each in compare_group(group_of(*published_records()))
    }
    open_pair = words["time-indexed-mlp", "time-indexed-ssm"]
    assert "Time-Indexed MLP has a higher loss than Time-Indexed SSM by 0.084" in open_pair
    assert "includes zero" in open_pair
    assert "not significant at 0.05" in open_pair
    clear = words["standard", "time-indexed-mlp"]
    assert "p = 2.8e-5, corrected for all pairs 1.7e-4: significant at 0.05" in clear
    assert "p = 0.0625, the least that 5 seeds can give" in clear


def test_degenerate_comparisons_in_words():
    (one,) = compare_group(group_of(make_record(), make_record("neural-ode", loss=1.0)))
    assert "One seed is not enough for a test" in significance_in_words(one)
    (same,) = compare_group(group_of(*runs(), *runs("neural-ode")))
    assert "have the same loss" in significance_in_words(same)
    (constant,) = compare_group(group_of(*runs(), *runs("neural-ode", (1.0, 1.1, 1.2))))
    assert "no spread to test it against" in significance_in_words(constant)


def test_notes_say_how_many_seeds_are_paired_and_that_devices_differ():
    group = group_of(
        *runs(losses=(2.0, 2.1, 2.2, 2.3)),
        *runs("neural-ode", (1.0, 1.1), machine={"device": "NVIDIA A100"}),
        make_record("time-indexed-mlp", 0, final={"test_loss": 1.0}),
    )
    notes = "\n".join(notes_on(group))
    assert "Standard (4) and Neural ODE (2) share 2" in notes
    assert "several devices (NVIDIA A100; cpu)" in notes
    assert "because they lack valid_loss: Time-Indexed MLP" in notes


def test_a_model_with_one_seed_has_one_note_and_not_one_per_pair():
    notes = notes_on(group_of(*runs(), *runs("neural-ode", (1.0, 1.2, 1.1)), make_record("time-indexed-mlp")))
    assert notes == ["One seed, so no interval and no test: Time-Indexed MLP."]
