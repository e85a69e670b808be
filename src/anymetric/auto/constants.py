"""Constants of the default, each with what it decides and the measurement that set it."""

from __future__ import annotations

# Folds in which validation rows are scored by models that they did not train.
FOLDS = 5
# Fewer validation rows than this cannot choose between models: the two plainest are fitted.
FEWEST_ROWS = 50
# Fewer validation queries with rows of different relevance cannot choose either.
FEWEST_QUERIES = 10
# Bootstrap resamples of a metric that must be called for each, and thresholds of one candidate: set
# by what a fit may take, not by a measurement.
CALLED_RESAMPLES, CALLED_THRESHOLDS = 40, 24
# Entries of the resamples' weights that may be held in memory, and resamples kept in any case.
RESAMPLED_ENTRIES, FEWEST_RESAMPLES = 1 << 22, 20
# Thresholds in one exact sweep: finer than any resample can tell apart.
SWEPT = 256
# Ridges, in units of one effective row: the first so many are tried, a higher one where the one
# before it paid. On 49 KEEL sets costs fall by 0.009 +- 0.004 with 1 beside 10 and 100, and by
# 0.019 +- 0.009 with 0.1 too.
RIDGES, TRIED = (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0), 4
# Shares of the validation rows in mixtures with training rows, beside the natural one: more of them
# gain nothing (0.0047 +- 0.0096 on noisy KEEL sets, 0.0000 +- 0.0004 on fourteen public tasks).
MIXED = (0.5,)
# Of a density ratio: a training row stands for no more validation rows than this.
MOST_LIKE = 2.0
# Candidates whose scores correlate less than this with the leader's are not averaged with it: two
# mirror optima, as halves of a class have, average into nonsense. Without it no KEEL set or public
# task changed beyond noise.
AGREEMENT = 0.5
# Weights of training rows beside validation rows that are tried where a threshold is placed.
TRUSTED = (1.0, 0.3, 0.1)
# A threshold placed with the help of training rows is kept unless validation rows say, by so many
# standard errors, that it is worse.
DOUBTED = 1.25
# With fewer training rows for each parameter than this, a training row is scored as if left out:
# F1 of one-hot tables with 500 + 500 rows 0.5725 without it, 0.5921 with it.
CROWDED = 100
# Rows beyond which candidates are compared on a sample of so many, and only those chosen are
# fitted to all rows.
SCREENED = 100_000
# Trees are not tried with fewer rows, or fewer of a class: they would follow single rows.
ROWS_FOR_TREES, CLASS_FOR_TREES = 100, 5
