"""Search for the start of EM: clusters are grown by splits, merged, and mixed with other starts; nothing is random."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

from lvmkit.core.distinct import Distinct
from lvmkit.core.parallel import rows_between
from lvmkit.core.typing import Array, Labels, Progress
from lvmkit.mixtures.e_step import MixtureParams, em_step
from lvmkit.mixtures.em import accelerated
from lvmkit.mixtures.families import Family, Prior
from lvmkit.moments.weightings import row_totals

FEW, PART = 8_000, 2
"""Moves are made on so many rows, or on half of them all if that is more …"""
JUDGES, MANY = 20_000, 150_000
"""… and judged on so many, first and then."""
PAIR_ROWS = 2_000
"""Rows by which pairs to merge are compared."""

FIRST_POWERS = (0.5, 0.3, 0.8, 0.0, 0.6, 1.0, 0.4)
"""Features are divided by their variance to these powers when rows are split: each shows other splits."""
RUNS, SHARE = 10, 0.6
"""The search may cost as much as so many runs of EM from near the mean; of that, this share on few rows."""
LEAST_STEPS = 100
"""… or so many steps, where runs are short."""
PATIENCE, LAST = 5, 2
"""Moves on few rows end after so many in a row that gained next to nothing; then moves on many rows begin."""
LEAST_GAIN = 2e-4
"""What a move has to gain, in nats per row; at least one nat in all."""
SETTLED = 1e-4
"""A move is judged when EM gains less in a step, in nats per row; at least half a nat in all."""
SETTLING = 30
"""At most so many steps of EM go into judging a move."""
ROUGH = 10
"""Steps of EM before clusters are mixed with others."""
LONG_SETTLING = 100
"""Steps from a start near the mean, whose clusters come apart slowly."""
WARM = 0.1
"""A start is pulled so near to the mean (a tenth of the way is left) before EM: from there it finds other ends."""
LEARNED = 10
"""Expected occurrences of a feature in a cluster from which on its probability is something learned."""
FLAT = 4
"""Rows that a cluster needs to be split."""


class Tried(NamedTuple):
    """A move of the search."""

    move: str
    """What was tried."""
    objective: float
    """Log-likelihood plus log prior where it ended, nats per row of those it was judged on."""
    kept: bool
    """Whether it was higher than all before."""


class BestStart(NamedTuple):
    """The best start, and how it was found."""

    params: MixtureParams
    tried: list[Tried]


Moments = Callable[[Distinct], MixtureParams]
"""Reads a start off the moments of rows."""


def best_start(
    data: Distinct,
    k: int,
    family: Family,
    prior: Prior,
    *,
    moments: Sequence[Moments],
    tell: Progress,
) -> BestStart:
    """Return the best start of k clusters that moves from several starts find; the first of `moments` is trusted."""
    # Growing by splits alone ends near the best of many random starts, merging from half as many clusters again ends at
    # it, and what two starts have found apart is found together by merging the clusters of both (Ueda 2000 splits
    # and merges one at a time). A start near the mean finds ends that the others do not (Ueda 1998).
    # Moments are consistent, the likelihood of a fit is optimistic: what moments show stands until something is higher
    # by more than fits of so many parameters differ by chance.
    search = _StartSearch(data, k, family, prior, tell)
    if moments:
        search.trust(moments[0])
    search.grow()
    if moments and search.agreed():
        return BestStart(search.confirmed(moments[0]), search.tried)
    search.look_closer()
    for start in moments[1:]:
        search.begin(start)
    moves = _moves(search)
    search.run(moves, PATIENCE, SHARE if search.few is not search.many else 1.0)
    if search.few is not search.many:
        search.few = search.many
        search.run(moves, LAST, 1.0)
    best = search.confirmed(moments[0]) if moments and not search.beaten() else search.best
    return BestStart(_padded(best, k, prior), search.tried)


class Nearest(NamedTuple):
    """The two clusters that could be one at the least cost."""

    clusters: tuple[int, int]
    loss: float
    """What the log-likelihood of all rows would lose, in nats."""
    n_features: int
    """Features that occur in the two: what the second of them adds to the parameters."""
    asked: float
    """What BIC (Schwarz 1978) asks the log-likelihood to gain for them: half the log of the rows in the two, each."""

    @property
    def doubtful(self) -> bool:
        """Whether the two tell less than they cost."""
        return self.loss < self.asked


def caution_of(nearest: Nearest, k: int, n: float) -> str:
    """Return why the clusters may be more than n rows show, in numbers, or "" if they are not."""
    if not nearest.doubtful:
        return ""
    one, other = nearest.clusters
    return (
        f"n_components={k} may be more clusters than the {n:.0f} rows show: {one} and {other} could be one, which "
        f"would cost {nearest.loss:,.0f} nats of the log-likelihood, while BIC asks for {nearest.asked:,.0f} for the "
        f"{nearest.n_features:,} parameters more. Fewer clusters or more rows are safer; "
        "scores.select_n_components compares numbers of clusters."
    )


def nearest_clusters(
    data: Distinct, params: MixtureParams, family: Family, prior: Prior
) -> Nearest:
    """Return the two clusters that are most like one, judged on some of the rows."""
    rows = _Judge(data.sample(FEW), family, prior, _Cost(1, lambda stage, done: None))
    first, second, losses = rows.losses(params)
    pair = int(np.argmin(losses))
    one, other = sorted((int(first[pair]), int(second[pair])))
    weights = params.weights[[one, other]]
    occurring = int((data.total * (weights @ params.centers[[one, other]]) >= 1).sum())
    asked = 0.5 * occurring * np.log(max(data.total * weights.sum(), 1.0))
    return Nearest((one, other), float(data.total * losses[pair]), occurring, float(asked))


def _padded(params: MixtureParams, k: int, prior: Prior) -> MixtureParams:
    """Add clusters that are all but empty, at the mean, where rows of too few kinds gave fewer than k."""
    missing = k - len(params.weights)
    if not missing:
        return params
    weights = np.append(params.weights, np.full(missing, 1e-6 / k))
    centers = np.vstack([params.centers, np.tile(prior.mean, (missing, 1))])
    return MixtureParams(weights / weights.sum(), centers)


def _moves(search: "_StartSearch") -> Iterator[Callable[[], None]]:
    """Yield what is tried, one after the other; each begins from the best so far."""
    regrown = cycle(FIRST_POWERS[1:] + FIRST_POWERS[:1])
    while True:
        yield lambda: search.overfit(1.5)
        yield lambda: search.mix(next(regrown))
        yield lambda: search.mix(next(regrown))
        yield search.warm
        yield lambda: search.mix(next(regrown))
        yield lambda: search.overfit(1.25)


class _StartSearch:
    """The best clusters so far, and moves from them."""

    def __init__(
        self, data: Distinct, k: int, family: Family, prior: Prior, tell: Progress
    ) -> None:
        self.k, self.data, total = k, data, data.total
        self.make = partial(_Judge, family=family, prior=prior)
        self.cost = _Cost(min(data.rows.shape[0], MANY) * k, tell)
        self.few = self.make(data.sample(FEW), cost=self.cost)
        self.many = self.make(data.sample(JUDGES), cost=self.cost)
        self.least, self.settled = max(LEAST_GAIN, 1 / total), max(SETTLED, 0.5 / total)
        self.mean = prior.mean
        self.small = self.few.data.rows.shape[0]
        self.trusted_objective = -np.inf
        self.tried: list[Tried] = []
        self.failed, self.objective = 0, -np.inf
        self.number = 0  # of the moves: the power by which features are scaled changes with it

    def run(self, moves: Iterator[Callable[[], None]], patience: int, share: float) -> None:
        """Make moves until several in a row fail, or a share of what the search may cost is spent."""
        self.failed = 0
        for move in moves:
            move()
            if self.failed >= patience or self.cost.spent > share * self.cost.allowed:
                break

    def trust(self, moments: Moments) -> None:
        """Begin with the start from moments."""
        self.trusted = self._judge("moments", moments(self.few.data))
        self.trusted_objective = self.objective

    def agreed(self) -> bool:
        """Return whether splits, which share nothing with moments, and both together lead to nothing higher."""
        moments, grown = (tried.objective for tried in self.tried)
        if abs(grown - moments) < self._chance():
            return True
        if grown > moments:
            return False
        self._judge("moments and splits together", self._mixed(self.best, self.grown))
        return self.objective - moments < self._chance()

    def beaten(self) -> bool:
        """Return whether something is clearly higher than what the moments led to."""
        return self.objective - self.trusted_objective >= self._chance()

    def confirmed(self, moments: Moments) -> MixtureParams:
        """Return where the moments of all rows lead, if that is higher than where those of few did."""
        if self.data.rows.shape[0] == self.small:
            return self.trusted
        before, self.objective = self.trusted, self.trusted_objective
        after = self._judge("moments of all rows", moments(self.data))
        return after if self.tried[-1].kept else before

    def _chance(self) -> float:
        """Return by how much fits that are equally good differ, in nats per row."""
        # Twice the optimism of a fit of p parameters is about a chi-square of p degrees; those count of which there is
        # anything to learn.
        expected = self.data.total * self.trusted.weights[:, None] * self.trusted.centers
        return float(np.sqrt((expected >= LEARNED).sum() / 2) / self.data.total)

    def look_closer(self) -> None:
        """Judge by more rows from now on, and begin with the clusters found so far."""
        best, trusted = self.best, getattr(self, "trusted", None)
        many = self.data.sample(MANY)
        n = many.rows.shape[0]
        if n > self.many.data.rows.shape[0]:
            self.many = self.make(many, cost=self.cost)
            self.objective = -np.inf
            self._judge("the best so far, by more rows", best)
            if trusted is not None and trusted is not best:
                self.trusted = self._judge("moments, by more rows", trusted)
            elif trusted is not None:
                self.trusted = self.best
            self.trusted_objective = self.tried[-1].objective
        if n > FEW:
            self.few = self.make(self.data.sample(max(FEW, n // PART)), cost=self.cost)
        else:
            self.few = self.many

    def grow(self) -> None:
        """Begin: grow half as many clusters again as are wanted from one, and merge."""
        one = MixtureParams(np.ones(1), self.mean[None, :].copy())
        self.grown = self._judge(
            "grown by splits", self._merged(self._grown(one, self._more(1.5), 0))
        )

    def begin(self, moments: Moments) -> None:
        """Try the start from moments, from near the mean, and its clusters together with those so far."""
        before, spent = self.best, self.cost.steps
        other = self.few.em(self._near_mean(moments(self.few.data)), LONG_SETTLING, self.settled)
        self.cost.allowed = max(self.cost.allowed, RUNS * (self.cost.steps - spent))
        other = self._judge("raw moments, from near the mean", other)
        self._judge("these clusters, mixed in", self._mixed(other, before))
        self.failed = 0

    def overfit(self, times: float) -> None:
        """Split the clusters until there are `times` as many, and merge."""
        self.number += 1
        grown = self._grown(self.best, self._more(times), self.number)
        self._judge(f"split to {len(grown.weights)} and merged", self._merged(grown))

    def mix(self, power: float) -> None:
        """Grow other clusters from one, and merge them with those so far."""
        one = MixtureParams(np.ones(1), self.mean[None, :].copy())
        other = self.few.em(self.few.grown(one, self.k, power), ROUGH, 10 * self.settled)
        self._judge("grown otherwise, mixed in", self._mixed(self.best, other))

    def warm(self) -> None:
        """Pull the centers to near the mean, and let EM find them again."""
        again = self.few.em(self._near_mean(self.best), LONG_SETTLING, self.settled)
        self._judge("again from near the mean", again)

    def _judge(self, move: str, params: MixtureParams) -> MixtureParams:
        """Settle clusters on many rows, keep them if they are the best; return them."""
        floor = self.objective if self.tried else -np.inf
        result = self.many.settled(params, SETTLING, self.settled, floor)
        reached = float(result.log_likelihoods[-1])
        kept = reached > self.objective
        gain = reached - self.objective
        # To come to the same end from elsewhere tells more than to come to a lower one.
        self.failed = 0 if gain > self.least else self.failed + (2 if gain > -self.least else 1)
        self.tried.append(Tried(move, reached, kept))
        if kept:
            self.best, self.objective = result.params, reached
        return result.params

    def _mixed(self, one: MixtureParams, other: MixtureParams) -> MixtureParams:
        """Merge the clusters of both down to k."""
        both = MixtureParams(
            np.concatenate([one.weights, other.weights]) / 2,
            np.vstack([one.centers, other.centers]),
        )
        return self._merged(self.few.stepped(both, 3))

    def _merged(self, params: MixtureParams) -> MixtureParams:
        return self.few.merged(params, self.k)

    def _grown(self, params: MixtureParams, k: int, number: int) -> MixtureParams:
        return self.few.grown(params, k, FIRST_POWERS[number % 3])

    def _more(self, times: float) -> int:
        """Return `times` as many clusters, at least one more."""
        return max(int(np.ceil(times * self.k)), self.k + 1)

    def _near_mean(self, params: MixtureParams) -> MixtureParams:
        k = len(params.weights)
        return MixtureParams(np.full(k, 1 / k), WARM * params.centers + (1 - WARM) * self.mean)


class _Cost:
    """What the search has cost, in steps of EM on the rows that it is judged on."""

    def __init__(self, one: int, tell: Progress) -> None:
        self.one, self.tell = one, tell
        self.spent, self.steps, self.allowed = 0.0, 0, float(LEAST_STEPS)
        self.told = 0.0

    def add(self, entries: int) -> None:
        """Count a step; whoever is told may cancel."""
        self.spent += entries / self.one
        self.steps += 1
        self.told = max(self.told, min(self.spent / self.allowed, 1.0))  # what is allowed may grow
        self.tell("starts", self.told)


class _Judged(NamedTuple):
    """Rows as clusters see them."""

    posteriors: Array
    """(n, k)."""
    logs: Array
    """(n,): Log-likelihood of each row, without its carrier."""


class _Judge:
    """Rows that clusters are judged by, their family and prior: EM, splits and merges on them."""

    def __init__(self, data: Distinct, family: Family, prior: Prior, cost: "_Cost") -> None:
        self.data, self.family, self.prior, self.cost = data, family, prior, cost
        n = data.rows.shape[0]
        self.weight = np.ones(n) if data.weight is None else data.weight
        # Words of a row whose number is given: what it tells is which they are, not how many.
        self.totals = row_totals(data.rows) if family.given_totals else None
        self.length = 1.0
        if self.totals is not None:
            self.length = max(float(self.weight @ self.totals / self.weight.sum()), 1e-9)
        step = em_step(data.rows, family, prior, data.weight)

        def counted(params: MixtureParams) -> tuple[MixtureParams, float]:
            cost.add(n * len(params.weights))
            return step(params)

        self.step = counted

    def stepped(self, params: MixtureParams, steps: int) -> MixtureParams:
        """Make steps of EM."""
        for _ in range(steps):
            params = self.step(params)[0]
        return params

    def settled(self, params: MixtureParams, steps: int, tol: float, floor: float) -> Any:
        """Run EM until it gains little, or will hardly reach the floor."""
        return accelerated(
            params, self.step, self.family, tol=tol, max_iter=steps, floor=floor, judged=True
        )

    def em(self, params: MixtureParams, steps: int, tol: float) -> MixtureParams:
        """Run EM until it gains little."""
        return accelerated(params, self.step, self.family, tol=tol, max_iter=steps).params

    def grown(self, params: MixtureParams, k: int, power: float) -> MixtureParams:
        """Split the clusters that gain most by it, all at once, until there are k."""
        while len(params.weights) < k:
            gains, children = self._splits(params, power)
            room = min(k - len(gains), len(gains))
            chosen = [j for j in np.argsort(-gains, kind="stable")[:room] if np.isfinite(gains[j])]
            if not chosen:
                break
            rest = np.setdiff1d(np.arange(len(gains)), chosen)
            parts = [children[j] for j in chosen]
            params = MixtureParams(
                np.concatenate([params.weights[rest], *(part.weights for part in parts)]),
                np.vstack([params.centers[rest], *(part.centers for part in parts)]),
            )
            params = self.stepped(params, 4)
        return params

    def merged(self, params: MixtureParams, k: int) -> MixtureParams:
        """Merge the pairs that lose least by it, half of what is too much at once, until there are k."""
        few = _Judge(self.data.sample(PAIR_ROWS), self.family, self.prior, self.cost)
        while len(params.weights) > k:
            many = len(params.weights)
            first, second, losses = few.losses(params)
            weights, centers = params.weights.copy(), params.centers.copy()
            gone: list[int] = []
            used: set[int] = set()
            for pair in np.argsort(losses, kind="stable"):
                one, other = int(first[pair]), int(second[pair])
                if used & {one, other}:
                    continue
                used |= {one, other}
                gone.append(other)
                both = weights[one] + weights[other]
                centers[one] += (weights[other] / both) * (centers[other] - centers[one])
                weights[one] = both
                if len(gone) >= (many - k + 1) // 2:
                    break
            rest = np.setdiff1d(np.arange(many), gone)
            params = self.stepped(MixtureParams(weights[rest], centers[rest]), 2)
        return params

    def _judged(self, params: MixtureParams) -> _Judged:
        """Return posteriors and likelihoods; products are in single precision, as in the E step."""
        scores = self._scores(self.data.rows, params).astype(np.float64)
        top = scores.max(axis=1)
        np.exp(scores - top[:, None], out=scores)
        totals = scores.sum(axis=1)
        scores /= totals[:, None]
        return _Judged(scores, top + np.log(totals))

    def _scores(self, rows: Any, params: MixtureParams) -> Array:
        """Return log π_j P(x_i | j), (n, k)."""
        slopes, constants = self.family.linear(params.centers)
        right = np.ascontiguousarray(slopes.T, dtype=np.float32)
        scores: Array = np.asarray(rows @ right) + (constants + np.log(params.weights))
        return scores

    def _splits(
        self, params: MixtureParams, power: float
    ) -> tuple[Array, list[MixtureParams | None]]:
        """Return what each cluster gains by being split in two, (k,), and its two parts."""
        judged = self._judged(params)
        k = len(params.weights)
        label = judged.posteriors.argmax(axis=1)
        order = np.argsort(label, kind="stable")
        bounds = np.searchsorted(label[order], np.arange(k + 1))
        rows = self.data.rows[order]
        gains = np.full(k, -np.inf)
        children: list[MixtureParams | None] = [None] * k
        for j in range(k):
            members = order[bounds[j] : bounds[j + 1]]
            weight = self.weight[members]
            if weight.sum() < FLAT or len(members) < 2:
                continue
            part = rows_between(rows, bounds[j], bounds[j + 1])
            share = judged.posteriors[members, j]
            totals = None if self.totals is None else self.totals[members]
            two = self._halves(part, share * weight, power, totals)
            two = MixtureParams(two.weights * params.weights[j], two.centers)
            densities = self._scores(part, two) - judged.logs[members, None]
            after = 1 - share + np.exp(np.minimum(densities, 50)).sum(axis=1)
            gains[j] = (weight @ np.log(after)) / self.weight.sum()
            children[j] = two
        return gains, children

    def _halves(
        self, rows: Any, weight: Array, power: float, totals: Array | None
    ) -> MixtureParams:
        """Part rows along their leading direction, and make some steps of EM. rows (m, d), weight (m,), totals (m,)."""
        w = weight.astype(np.float32)
        mean = np.asarray(rows.T @ w, dtype=np.float64) / weight.sum()
        scale = np.maximum(self.family.variance(mean), 1e-4) ** -power
        # What a row is compared with: the mean, or as many words of the mean as it has.
        size = np.ones(len(w)) if totals is None else totals / max(mean.sum(), 1e-9)
        side = np.where(_leading_scores(rows, w, mean, scale, size) > 0, 0.9, 0.1)
        for _ in range(4):
            both = np.stack([side * weight, (1 - side) * weight], axis=1)
            counts = both.sum(axis=0)
            sums = np.asarray(rows.T @ both.astype(np.float32), dtype=np.float64).T
            centers = self.family.m_step(counts, sums, self.prior)
            weights = (counts + 1e-9) / (counts.sum() + 2e-9)
            two = MixtureParams(weights, centers)
            scores = self._scores(rows, two)
            side = 1 / (1 + np.exp(np.clip(scores[:, 1] - scores[:, 0], -500, 500)))
        return two

    def losses(self, params: MixtureParams) -> tuple[Labels, Labels, Array]:
        """Return pairs of clusters that are alike, (m,) and (m,), and what the likelihood loses by merging each."""
        weights, centers = params
        k = len(weights)
        one, other = np.triu_indices(k, 1)
        judged = self._judged(params)
        # Nearest pairs: what merging would cost if every row were known to be of its cluster, less what rows gain that
        # are of both.
        points = self.family.stabilized(centers)
        squares = (points * points).sum(axis=1)
        distances = squares[one] + squares[other] - 2 * (points @ points.T)[one, other]
        harmonic = weights[one] * weights[other] / (weights[one] + weights[other])
        shared = (judged.posteriors.T * self.weight) @ judged.posteriors / self.weight.sum()
        cost = 2 * self.length * harmonic * distances
        near = np.argsort(cost - shared[one, other], kind="stable")[: 3 * k]
        one, other = one[near], other[near]
        losses = np.empty(len(near))
        for start in range(0, len(near), 256):
            part = slice(start, start + 256)
            losses[part] = self._loss(params, judged, one[part], other[part])
        return one, other, losses

    def _loss(self, params: MixtureParams, judged: _Judged, one: Labels, other: Labels) -> Array:
        """Return what the likelihood loses by merging each pair alone, (m,)."""
        weights, centers = params
        both = weights[one] + weights[other]
        share = (weights[other] / both)[:, None]
        joined = MixtureParams(both, (1 - share) * centers[one] + share * centers[other])
        densities = self._scores(self.data.rows, joined) - judged.logs[:, None]
        np.exp(np.minimum(densities, 50, out=densities), out=densities)
        rest = 1 - judged.posteriors[:, one] - judged.posteriors[:, other]
        densities += np.maximum(rest, 1e-300)
        losses: Array = -(self.weight @ np.log(densities)) / self.weight.sum()
        return losses


def _leading_scores(rows: Any, weight: Array, mean: Array, scale: Array, size: Array) -> Array:
    """Return the scores of rows along their leading direction, roughly, (m,). rows (m, d), weight (m,), size (m,)."""
    # Five power iterations from a start that leans on every feature a little differently.
    scale, center = scale.astype(np.float32), mean.astype(np.float32)
    size = size.astype(np.float32)
    direction = (np.modf(np.arange(len(mean)) * 0.6180339887498949)[0] - 0.5).astype(np.float32)
    across = rows.T
    for _ in range(5):
        scores = _centered(rows, scale * direction, center, size) * weight
        image = scale * (across @ scores - center * (size @ scores))
        norm = np.sqrt(image @ image)
        if not norm > 0:
            break
        direction = image / norm
    return _centered(rows, scale * direction, center, size)


def _centered(rows: Any, direction: Array, center: Array, size: Array) -> Array:
    """Return ⟨x − size·center, direction⟩ of every row, (m,)."""
    scores: Array = np.asarray(rows @ direction) - size * (center @ direction)
    return scores
