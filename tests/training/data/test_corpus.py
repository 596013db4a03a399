"""Texts, their splits, and windows as a pure function of seed and step."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from training.data.corpus import Corpus, load_corpus
from training.data.sources import builtin_text


@pytest.fixture
def folder(tmp_path):
    for split, size in (("train", 5_000), ("valid", 500), ("test", 400)):
        (tmp_path / f"{split}.txt").write_bytes(np.random.default_rng(size).bytes(size))
    return tmp_path


def test_a_folder_is_read_split_by_split(folder):
    corpus = load_corpus("mine", folder)
    assert {name: len(data) for name, data in corpus.splits.items()} == {"train": 5_000, "valid": 500, "test": 400}
    digest = hashlib.sha256((folder / "valid.txt").read_bytes()).hexdigest()
    assert corpus.describe()["valid"] == {"bytes": 500, "sha256": digest}


def test_a_text_that_is_cut_while_a_run_trains_ends_no_process(folder):
    corpus = load_corpus("mine", folder)
    text = (folder / "train.txt").read_bytes()
    (folder / "train.txt").write_bytes(b"")
    assert corpus.split("train").tobytes() == text


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_text_is_a_regular_file(folder, make):
    (folder / "train.txt").unlink()
    make(folder / "train.txt")
    with pytest.raises(ValueError, match=r"train\.txt is not a regular file: a corpus is a text file"):
        load_corpus("mine", folder)


def test_windows_depend_on_seed_and_step_alone(folder):
    first, second = load_corpus("mine", folder), load_corpus("other", folder)
    windows = first.windows("train", 7, 3, 4, 16)
    np.testing.assert_array_equal(windows, second.windows("train", 7, 3, 4, 16))
    assert windows.shape == (4, 17)
    for seed, step in ((7, 4), (8, 3)):
        assert not np.array_equal(windows, first.windows("train", seed, step, 4, 16))
    text = (folder / "train.txt").read_bytes()
    assert all(row.tobytes() in text for row in windows)


def test_windows_reach_both_ends_of_a_text():
    corpus = Corpus("count", {"train": np.arange(20, dtype=np.uint8)}, {})
    drawn = corpus.windows("train", 0, 0, 1_000, 16)
    assert set(drawn[:, 0].tolist()) == {0, 1, 2, 3}
    assert drawn.max() == 19


def test_evaluation_windows_are_spread_over_the_split_without_overlap():
    corpus = Corpus("count", {"valid": np.arange(100, dtype=np.uint8)}, {})
    windows = corpus.evaluation_windows("valid", 5, 10)
    assert windows[:, 0].tolist() == [0, 22, 44, 66, 89]
    assert windows[-1, -1] == 99
    assert len(corpus.evaluation_windows("valid", 1_000, 10)) == 9
    assert len(corpus.evaluation_windows("valid", 1, 10)) == 1


def test_a_single_file_is_split_by_position(tmp_path):
    text = bytes(range(200)) * 5
    (tmp_path / "book.txt").write_bytes(text)
    for path in (tmp_path, tmp_path / "book.txt"):
        corpus = load_corpus("mine", path)
        assert b"".join(corpus.split(name).tobytes() for name in ("train", "valid", "test")) == text
        assert [len(data) for data in corpus.splits.values()] == [900, 50, 50]
    shakespeare = load_corpus("shakespeare", tmp_path)
    assert [len(data) for data in shakespeare.splits.values()] == [900, 100]
    with pytest.raises(ValueError, match="no split 'test'; it has train, valid"):
        shakespeare.split("test")


def test_the_builtin_text_is_the_same_every_time():
    text = builtin_text()
    assert text == builtin_text()
    assert len(text) > 300_000
    assert load_corpus("builtin").split("train").tobytes() == text[: int(0.9 * len(text))]


def test_bad_folders_are_refused_with_the_way_out(tmp_path):
    with pytest.raises(ValueError, match="neither a folder nor a file"):
        load_corpus("mine", tmp_path / "absent")
    with pytest.raises(ValueError, match=r"holds 0 text files; it needs train\.txt and valid\.txt"):
        load_corpus("mine", tmp_path)
    (tmp_path / "train.txt").write_text("text")
    with pytest.raises(ValueError, match=r"has train\.txt but no valid\.txt"):
        load_corpus("mine", tmp_path)
    (tmp_path / "valid.txt").write_text("")
    with pytest.raises(ValueError, match=r"valid\.txt is empty"):
        load_corpus("mine", tmp_path)
    (tmp_path / "valid.txt").write_text("12345678")
    corpus = load_corpus("mine", tmp_path)
    with pytest.raises(ValueError, match=r"split train: 4 bytes are fewer than one window of 7 \+ 1"):
        corpus.check_length(7)
    corpus.check_length(3)


def test_a_text_too_short_to_be_split_is_refused_in_words(tmp_path):
    (tmp_path / "book.txt").write_text("words")
    with pytest.raises(ValueError, match="corpus mine: its text is so short that nothing is left for valid"):
        load_corpus("mine", tmp_path)


def test_an_unknown_name_lists_the_corpora():
    with pytest.raises(ValueError, match="unknown corpus 'wikipedia'; there are wikitext-2, wikitext-103"):
        load_corpus("wikipedia")


def test_without_a_network_the_error_says_what_to_do(tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(ValueError, match=r"cannot download wikitext-2 .* --data-dir FOLDER, .* corpus=builtin"):
        load_corpus("wikitext-2", cache=tmp_path)
    assert not list((tmp_path / "wikitext-2").glob("*.txt"))


@pytest.mark.parametrize("name", ["wikitext-2", "shakespeare"])
def test_a_download_is_assembled_checked_and_kept(tmp_path, monkeypatch, name):
    import huggingface_hub
    import pyarrow
    import pyarrow.parquet

    from training.data import sources

    def download(repository, remote, **options):
        path = tmp_path / remote.replace("/", "_")
        rows = [f" = {remote} = \n", "", "text \n"]
        pyarrow.parquet.write_table(pyarrow.table({"text": rows}), path)
        return str(path)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    with pytest.raises(ValueError, match="the download has sha256"):
        load_corpus(name, cache=tmp_path / "checked")
    unchecked = sources.HUB_TEXTS[name]._replace(sha256={})
    monkeypatch.setitem(sources.HUB_TEXTS, name, unchecked)
    corpus = load_corpus(name, cache=tmp_path / "cache")
    joined = b"".join(data.tobytes() for data in corpus.splits.values())
    blank = b" \n" if name == "wikitext-2" else b""
    parts = [file for files in unchecked.files.values() for file in files]
    assert joined == b"".join(f" = {part} = \n".encode() + blank + b"text \n" for part in parts)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", None)
    assert load_corpus(name, cache=tmp_path / "cache").sha256 == corpus.sha256  # read again, not downloaded
