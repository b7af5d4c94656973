"""RGB's released context selection, derived a second time: raw JSON records in, passages in the order shown out.

Written from the project's description of the released code, not from ragnb's: it uses the global generator of `random`, as
that code does, reseeded with 2333 before every item, and decimals where ragnb uses fractions.
"""

import random
from decimal import ROUND_CEILING, Decimal
from itertools import chain, islice, zip_longest


def share(passage_num, rate):
    return int((Decimal(str(rate)) * passage_num).to_integral_value(ROUND_CEILING))


def fits(passage_num, noise_rate, correct_rate):
    return share(passage_num, noise_rate) + share(passage_num, correct_rate) <= passage_num


def released_context(record, noise_rate, passage_num=5, correct_rate=0.0):
    if passage_num == 0:
        return []
    outer = random.getstate()
    random.seed(2333)
    try:
        documents = _pick(record, noise_rate, passage_num, correct_rate)
        random.shuffle(documents)
    finally:
        random.setstate(outer)
    return documents


def _pick(record, noise_rate, passage_num, correct_rate):
    noise = share(passage_num, noise_rate)
    if "positive_wrong" in record:
        return _pick_counterfactual(record, noise, passage_num, share(passage_num, correct_rate))
    if isinstance(record["positive"][:1], list) and isinstance(
        next(iter(record["positive"]), ""), list
    ):
        return _pick_integration(record, passage_num - noise, passage_num)
    good, bad = record["positive"], record["negative"]
    if noise_rate == 1:
        return bad[:passage_num]
    if len(bad) < noise:
        return good[: passage_num - len(bad)] + bad
    n_good = min(len(good), passage_num - noise)
    return good[:n_good] + bad[: passage_num - n_good]


def _pick_integration(record, quota, passage_num):
    piles = [list(pile) for pile in record["positive"]]
    for pile in piles:
        random.shuffle(pile)
    in_turn = (
        document for document in chain.from_iterable(zip_longest(*piles)) if document is not None
    )
    documents = list(islice(in_turn, max(len(piles), quota)))
    room = passage_num - len(documents)
    return documents + (record["negative"][:room] if room > 0 else [])


def _pick_counterfactual(record, noise, passage_num, n_true):
    n_wrong = passage_num - noise - n_true
    everything = range(len(record["positive_wrong"]))
    taken = random.sample(everything, k=min(len(everything), n_wrong))
    documents = [record["positive_wrong"][k] for k in taken]
    untaken = sorted(set(everything).difference(taken))
    if n_true > 0 and untaken:
        documents.extend(
            record["positive"][k] for k in random.sample(untaken, k=min(len(untaken), n_true))
        )
    return documents + record["negative"][:noise]
