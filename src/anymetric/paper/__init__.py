"""Paper: the experiments of the paper, from the data to the finished page.

``python -m anymetric.paper --help`` says how to run them.
"""
