"""KEEL: the classifier on imbalanced data sets, against tuned thresholds and class weights."""
