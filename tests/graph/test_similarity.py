"""Section 2 by hand, and against a plain reading of the formula."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from conftest import GRID, settings
from hypothesis import given
from hypothesis import strategies as st

from strata.errors import UsageError
from strata.graph import Draft
from strata.graph.overlap import K1, B, Overlap
from strata.graph.settings import Similarity, Weights
from strata.graph.similarity import Index, Views, jaccard, unit_rows

E = np.eye(4, dtype=np.float32)
HALF = np.full(4, 0.5, dtype=np.float32)
ZERO = np.zeros(4, dtype=np.float32)


def views(content=ZERO, index=ZERO, tags=(), tokens=()):
    return Views(np.asarray(content, dtype=np.float32), np.asarray(index, dtype=np.float32), tuple(tags), tuple(tokens))


def one_score(query, node, similarity=None, symmetric=False):
    index = Index(4, similarity or Similarity())
    index.add(7, 1, node)
    return index.search(query, symmetric=symmetric).exact([7])[7]


def test_four_terms_add_up_with_the_papers_weights():
    query = views(E[0], E[0], ["op:heat", "obj:egg"], ["heat", "egg"])
    node = views(HALF, E[0], ["op:heat", "obj:tin"], ["heat", "egg", "tin", "melt"])
    # 0.40 * 1/2 + 0.25 * 1 + 0.30 * 1/3 + 0.05 * 2/4
    assert one_score(query, node) == pytest.approx(0.575, abs=1e-15)


def test_two_empty_tag_sets_overlap_by_zero():
    assert jaccard([], []) == 0.0
    assert one_score(views(), views()) == 0.0


def test_negative_cosine_counts_as_zero():
    assert one_score(views(E[0], E[0]), views(-E[0], -E[0])) == 0.0
    assert one_score(views(E[0], E[0]), views(-E[0], E[0])) == 0.25


def test_empty_view_has_cosine_zero():
    assert one_score(views(E[0], E[0]), views(ZERO, E[0])) == 0.25


def test_dropped_term_leaves_the_others_scaled_to_one():
    query, node = views(E[0], E[0], ["op:a"]), views(HALF, ZERO, ["op:a"])
    without_tag = Similarity(weights=Weights(tag=0.0))
    assert one_score(query, node, without_tag) == pytest.approx(0.4 / 0.7 * 0.5)
    content_only = Similarity(weights=Weights(index=0.0, tag=0.0, lexical=0.0))
    assert one_score(query, node, content_only) == 0.5
    assert Weights().normalised() == (0.40, 0.25, 0.30, 0.05)


def test_score_never_exceeds_one_although_float32_lengths_do():
    vector = unit_rows(np.array([[0.1, 0.7, 0.3, 0.9]]))[0]
    node = views(vector, vector, ["op:a"], ["a"])
    assert 1 - 1e-6 < one_score(node, node) <= 1.0


def test_vectors_are_scaled_to_length_one_and_zero_stays():
    scaled = unit_rows(np.array([[3.0, 4.0, 0, 0], [0, 0, 0, 0]]))
    assert scaled.tolist() == [[pytest.approx(0.6), pytest.approx(0.8), 0, 0], [0, 0, 0, 0]]
    with pytest.raises(UsageError, match="not finite"):
        unit_rows(np.array([[math.nan, 0]]))


vectors = st.sampled_from([*GRID, ZERO])
any_views = st.builds(
    views,
    vectors,
    vectors,
    st.lists(st.sampled_from(["app:x", "op:heat", "op:cool", "obj:egg"]), unique=True),
    st.lists(st.sampled_from("abcde")),
)


def plain(q, n, weights=(0.40, 0.25, 0.30, 0.05)):
    cosine = [max(0.0, sum(float(x) * float(y) for x, y in zip(a, b, strict=True))) for a, b in
              ((q.content, n.content), (q.index, n.index))]  # fmt: skip
    overlap = []
    for a, b in ((set(q.tags), set(n.tags)), (set(q.tokens), set(n.tokens))):
        overlap.append(len(a & b) / len(a | b) if a | b else 0.0)
    return weights[0] * cosine[0] + weights[1] * cosine[1] + weights[2] * overlap[0] + weights[3] * overlap[1]


@given(any_views, any_views)
def test_score_is_the_plain_formula_and_symmetric(a, b):
    assert one_score(a, b) == min(1.0, plain(a, b)) == one_score(b, a, symmetric=True)


@given(st.lists(any_views, min_size=1, max_size=30), any_views, st.sampled_from([0.0, 0.25, 0.35, 0.5]))
def test_search_is_brute_force(nodes, query, cut):
    index = Index(4, Similarity())
    for seq, node in enumerate(nodes):
        index.add(seq, seq % 3, node)
    exact = {seq: min(1.0, plain(query, node)) for seq, node in enumerate(nodes)}
    search = index.search(query)
    assert search.above(cut) == {seq: score for seq, score in exact.items() if score >= cut}
    ranked = sorted((seq for seq in exact if seq % 3 == 1), key=lambda seq: (-exact[seq], seq))
    assert search.top(1, 3) == [(seq, exact[seq]) for seq in ranked[:3]]
    assert search.nearest(1) == ((ranked[0], exact[ranked[0]]) if ranked else None)
    assert search.top(1, 0) == []


def test_equal_scores_go_to_the_older_node_wherever_it_is_stored():
    index = Index(4, Similarity())
    for seq in (9, 4, 6):
        index.add(seq, 1, views(E[0], E[0]))
    search = index.search(views(E[0], E[0]))
    assert [seq for seq, _ in search.top(1, 3)] == [4, 6, 9]
    assert search.nearest(1)[0] == 4


def test_near_ties_come_out_as_float64_says_although_the_scan_cannot_tell_them_apart():
    rng = np.random.default_rng(1)
    query = unit_rows(rng.standard_normal((1, 384)))[0]
    near = unit_rows(query + 1e-4 * rng.standard_normal((400, 384)))
    index = Index(384, Similarity(weights=Weights(1.0, 0.0, 0.0, 0.0)))
    for seq, vector in enumerate(near):
        index.add(seq, 1, Views(vector, vector, (), ()))
    exact = (near.astype(np.float64) * query.astype(np.float64)).sum(axis=1).clip(0, 1)
    found = index.search(Views(query, query, (), ())).top(1, 10)
    scan = (near @ query).argsort()[::-1][:10]
    assert [exact[seq] for seq, _ in found] == pytest.approx(sorted(exact, reverse=True)[:10], abs=1e-15)
    assert [seq for seq, _ in found] != scan.tolist()


def test_exact_score_does_not_depend_on_what_is_scored_with_it():
    rng = np.random.default_rng(2)
    rows = unit_rows(rng.standard_normal((300, 61)))
    index = Index(61, Similarity())
    for seq, row in enumerate(rows):
        index.add(seq, 1, Views(row, rows[-seq], (), ()))
    search = index.search(Views(rows[5], rows[6], (), ()))
    together = search.exact(range(300))
    assert all(search.exact([seq]) == {seq: together[seq]} for seq in range(0, 300, 7))
    assert all(
        index.search(index.views(a)).exact([b])[b] == index.search(index.views(b)).exact([a])[a]
        for a, b in ((0, 1), (17, 230), (299, 4))
    )


def test_removed_nodes_leave_searches_and_the_arrays_are_rebuilt():
    index = Index(4, Similarity())
    rng = random.Random(0)
    for seq in range(300):
        index.add(seq, 1, views(rng.choice(GRID), rng.choice(GRID), ["op:a"], ["a"]))
    for seq in range(0, 300, 2):
        index.discard(seq)
        index.discard(seq)
    for seq in range(1, 300, 4):
        index.discard(seq)
    assert index.seqs() == set(range(3, 300, 4))
    assert len(index._live) < 300
    assert set(index.search(views(tags=["op:a"])).above(0.3)) == index.seqs()


def test_replaced_node_has_its_new_views_only():
    index = Index(4, Similarity())
    index.add(1, 1, views(E[0], E[0], ["op:a"]))
    index.add(1, 1, views(E[1], E[1], ["op:b"]))
    assert index.search(views(E[0], E[0], ["op:a"])).exact([1]) == {1: 0.0}
    assert len(index) == 1


def bm25_by_hand(query, document, corpus):
    mean = sum(map(len, corpus)) / len(corpus)
    idf = {w: math.log(1 + (len(corpus) - n + 0.5) / (n + 0.5)) for w in {*query, *document}
           for n in [sum(w in d for d in corpus)]}  # fmt: skip
    norm = K1 * (1 - B + B * len(document) / mean)
    value = sum(idf[w] * document.count(w) * (K1 + 1) / (document.count(w) + norm) for w in set(query) if w in document)
    return value / (sum(idf[w] for w in set(query)) * (K1 + 1))


def test_bm25_is_the_usual_formula_as_a_share_of_the_best_possible():
    corpus = [["heat", "egg"], ["cool", "egg", "egg"], ["clean", "plate", "sink", "plate"]]
    words = Overlap()
    for document in corpus:
        words.append(document)
    live = np.ones(3, dtype=bool)
    query = ["heat", "egg", "now"]
    expected = [bm25_by_hand(query, document, corpus) for document in corpus]
    assert words.bm25(query, live, symmetric=False).tolist() == pytest.approx(expected)
    both = [
        (bm25_by_hand(corpus[1], document, corpus) + bm25_by_hand(document, corpus[1], corpus)) / 2
        for document in corpus
    ]
    assert words.bm25(corpus[1], live, symmetric=True).tolist() == pytest.approx(both)


def test_bm25_of_nothing_is_zero():
    words = Overlap()
    words.append([])
    live = np.ones(1, dtype=bool)
    assert words.bm25([], live, symmetric=True).tolist() == [0.0]
    assert words.bm25(["a"], live, symmetric=False).tolist() == [0.0]


def test_bm25_switch_changes_the_lexical_term_only():
    query, node = views(E[0], E[0], ["op:a"], ["a", "b"]), views(E[0], E[0], ["op:a"], ["a", "c", "c"])
    bm25 = settings(similarity={"lexical": "bm25"}).similarity
    assert one_score(query, node) == pytest.approx(0.95 + 0.05 / 3)
    assert one_score(query, node, bm25) == pytest.approx(
        0.95 + 0.05 * bm25_by_hand(["a", "b"], ["a", "c", "c"], [["a", "c", "c"]])
    )


@pytest.mark.parametrize(
    ("kind", "content"),
    [("procedure", "1. go\n2. heat it"), ("goal", "heat an egg"), ("both", "heat an egg\n1. go\n2. heat it")],
)
def test_what_is_embedded_as_content_is_a_setting(build, kind, content):
    b = build(similarity={"content_view": kind})
    b.embedder.table = {content: E[2], "heat an egg. it is raw": E[3]}
    draft = Draft(title="Boil", when="it is raw", steps=("go", "heat it"), goal="heat an egg")
    seq = b.seq(b.graph.write_workflow(draft, 0)[0]["id"])
    found = b.graph.index.views(seq)
    assert (found.content.tolist(), found.index.tolist()) == (E[2].tolist(), E[3].tolist())


def test_unit_without_a_task_is_embedded_as_itself(build):
    b = build()
    b.embedder.table = {"use it": E[2], "Microwave. to heat": E[3]}
    _, seq = b.graph.write_atomic(
        "create", Draft(title="Microwave", when="to heat", steps=("use it",), kind="skill"), [], 0
    )
    found = b.graph.index.views(seq)
    assert (found.content.tolist(), found.index.tolist()) == (E[2].tolist(), E[3].tolist())
