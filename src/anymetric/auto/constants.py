"""Constants of the default, each with its purpose and the measurement that set it."""

from __future__ import annotations

# Folds of out-of-fold scores.
FOLDS = 5
# With fewer validation rows only the two plainest models are fitted.
FEWEST_ROWS = 50
# The same for queries with rows of different relevance.
FEWEST_QUERIES = 10
# Bootstrap resamples of a metric that must be called for each, and thresholds of one candidate: set
# by what a fit may take, not by a measurement.
CALLED_RESAMPLES, CALLED_THRESHOLDS = 40, 24
# Entries of the resamples' weights that may be held in memory, and resamples kept in any case.
RESAMPLED_ENTRIES, FEWEST_RESAMPLES = 1 << 22, 20
# Thresholds in one exact sweep: finer than differences between resamples.
SWEPT = 256
# Ridges, in units of one effective row: the first few are tried, a higher one where the last
# improved. On 49 KEEL sets costs fall by 0.009 +- 0.004 with 1 beside 10 and 100, and by
# 0.019 +- 0.009 with 0.1 too.
RIDGES, TRIED = (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0), 4
# Shares of the validation rows in mixtures with training rows, beside the natural one: more of them
# gain nothing (0.0047 +- 0.0096 on noisy KEEL sets, 0.0000 +- 0.0004 on fourteen public tasks).
MIXED = (0.5,)
# Upper bound of the density ratio.
MOST_LIKE = 2.0
# Candidates whose scores correlate less than this with the leader's are not averaged with it: two
# mirror optima, as halves of a class have, have a meaningless average. Without it no KEEL set or
# public task changed beyond noise.
AGREEMENT = 0.5
# Weights of training rows beside validation rows that are tried in threshold tuning.
TRAINING_WEIGHTS = (1.0, 0.3, 0.1)
# A threshold tuned with training rows is kept unless it is worse on the validation rows by this
# many standard errors.
MOST_ERRORS = 1.25
# With fewer training rows for each parameter than this, a training row is scored as if left out:
# F1 of one-hot tables with 500 + 500 rows 0.5725 without it, 0.5921 with it.
CROWDED = 100
# With more rows candidates are compared on a sample of this size, and only the selected ones are
# fitted to all rows.
SCREENED = 100_000
# Trees are not tried with fewer rows, or fewer of a class: they would overfit single rows.
ROWS_FOR_TREES, CLASS_FOR_TREES = 100, 5
