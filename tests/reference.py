"""Algorithms 1 and 3 of the paper in plain NumPy: slow, short, and nobody's optimisation."""

import numpy as np


def hinge_profile(theta, X, y, masks):
    margins = y * (X @ theta[:-1] + theta[-1])
    losses = np.maximum(0.0, 1.0 - margins)
    return np.array([losses[mask].mean() for mask in masks])


def excess_gradient(theta, target, X, y, masks):
    """The gradient of ``||(l(theta) - target)_+||^2``."""
    margins = y * (X @ theta[:-1] + theta[-1])
    profile = hinge_profile(theta, X, y, masks)
    gradient = np.zeros_like(theta)
    for mask, value, wanted in zip(masks, profile, target, strict=True):
        if value > wanted:
            active = mask & (margins < 1.0)
            by_score = np.where(active, -y, 0.0) / mask.sum()
            gradient[:-1] += 2.0 * (value - wanted) * (by_score @ X)
            gradient[-1] += 2.0 * (value - wanted) * by_score.sum()
    return gradient


def adagrad(theta, target, X, y, masks, step=1.0, iterations=100):
    squares = np.full_like(theta, 0.1)  # TensorFlow's initial accumulator
    for _ in range(iterations):
        gradient = excess_gradient(theta, target, X, y, masks)
        squares = squares + gradient**2
        theta = theta - step * gradient / np.sqrt(squares)
    return theta


def interpolate(theta, cost, X, y, masks, m, sigma, rng):
    """Algorithm 3: one row of H and M for each pair of perturbed models."""
    Z = rng.standard_normal((2 * m, len(theta)))
    H, M = [], []
    for first, second in zip(Z[:m], Z[m:], strict=True):
        one, two = theta + sigma * first, theta + sigma * second
        H.append(hinge_profile(one, X, y, masks) - hinge_profile(two, X, y, masks))
        M.append(cost(one) - cost(two))
    return np.linalg.lstsq(np.array(H), np.array(M), rcond=None)[0]


def descend(theta, cost, X, y, masks, *, outer_iterations, eta, m, sigma, rng, iterations=100):
    """Algorithm 1: the path of theta."""
    path = [theta]
    for _ in range(outer_iterations):
        gradient = interpolate(theta, cost, X, y, masks, m, sigma, rng)
        target = hinge_profile(theta, X, y, masks) - eta * gradient
        theta = adagrad(theta, target, X, y, masks, iterations=iterations)
        path.append(theta)
    return np.array(path)
