"""Certificates: bounds of metrics that hold on new rows with a confidence.

Training rows, scored out of fold, order the thresholds; validation rows, which are not used
otherwise, test them one after the other. Exact where the statistics allow.
"""

from anymetric.certificates.certificate import Certificate, Claim, Watch
from anymetric.certificates.certify import Certified, certify, certify_as_it_is
from anymetric.certificates.evidence import evidence
from anymetric.certificates.sequence import Scored

__all__ = [
    "Certificate",
    "Certified",
    "Claim",
    "Scored",
    "Watch",
    "certify",
    "certify_as_it_is",
    "evidence",
]
