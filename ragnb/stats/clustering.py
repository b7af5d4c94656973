"""How much less several items of one cluster are worth than independent items."""

from dataclasses import dataclass

import numpy as np

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError
from ragnb.results import Sentence


@dataclass(frozen=True, slots=True, repr=False)
class Clustering(Sentence):
    """Correlation of the items of a cluster, and what it does to a mean.

    Attributes
    ----------
    icc : float
        Intraclass correlation: 0 if items of a cluster are no more alike than others, 1 if they are
        copies of each other. It can be slightly negative. NaN if all values are equal.
    cluster_size : float
        Mean number of items per cluster, corrected for clusters of different sizes.
    design_effect : float
        Factor by which the variance of the mean of all items is larger than if they were
        independent: 1 + (`cluster_size` - 1) `icc`.
    n_items, n_clusters : int
        Numbers of items and of clusters.
    """

    icc: float
    cluster_size: float
    design_effect: float
    n_items: int
    n_clusters: int

    def __str__(self) -> str:
        return (
            f"intraclass correlation {self.icc:.3f}, design effect {self.design_effect:.2f} "
            f"({self.n_items} items in {self.n_clusters} clusters)"
        )


@accepts(values="scores", clusters="clusters")
def intraclass_correlation(values: Floats, clusters: Integers) -> Clustering:
    """Intraclass correlation of items in clusters, and the design effect of their mean.

    Parameters
    ----------
    values : array-like of shape (n,)
        One number per item, such as 1 for an error and 0 for none.
    clusters : array-like of shape (n,)
        Cluster of each item, such as its question.

    Returns
    -------
    Clustering
        With the attributes ``icc``, ``cluster_size`` and ``design_effect``.

    Notes
    -----
    With the mean squares MSB between and MSW within clusters of a one-way analysis of variance [1]_,

        icc = (MSB - MSW) / (MSB + (m - 1) MSW)

    where m = (N - sum_i n_i^2 / N) / (k - 1) is the cluster size for N items in k clusters with n_i
    items each. The design effect is that of Kish [2]_.

    References
    ----------
    .. [1] Donner, A. (1986). A review of inference procedures for the intraclass correlation
       coefficient in the one-way random effects model. Int. Stat. Rev. 54, 67-82.
    .. [2] Kish, L. (1965). Survey Sampling. Wiley.

    Examples
    --------
    >>> intraclass_correlation([1, 1, 0, 0], [0, 0, 1, 1])  # copies
    intraclass correlation 1.000, design effect 2.00 (4 items in 2 clusters)
    """
    sizes = np.bincount(clusters)
    n_clusters, n_items = sizes.size, values.size
    if not 1 < n_clusters < n_items:
        raise InputError(
            "intraclass_correlation needs two or more clusters, one of them with two or more items, "
            f"got {n_items} items in {n_clusters} clusters"
        )
    means = np.bincount(clusters, values) / sizes
    between = (sizes * (means - values.mean()) ** 2).sum() / (n_clusters - 1)
    within = ((values - means[clusters]) ** 2).sum() / (n_items - n_clusters)
    cluster_size = (n_items - (sizes**2).sum() / n_items) / (n_clusters - 1)
    with np.errstate(invalid="ignore"):  # 0 / 0 if all values are equal
        icc = np.divide(between - within, between + (cluster_size - 1) * within)
    design_effect = 1 + (cluster_size - 1) * icc
    return Clustering(float(icc), float(cluster_size), float(design_effect), n_items, n_clusters)
