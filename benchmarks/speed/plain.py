"""Plain: Algorithm 1 with sigmoid surrogates in plain NumPy, as the formulas are written."""

from __future__ import annotations

import numpy as np


def sigmoid_profile(theta, X, y, masks):
    margins = y * (X @ theta[:-1] + theta[-1])
    losses = 1.0 / (1.0 + np.exp(margins))
    return np.array([losses[mask].mean() for mask in masks])


def excess_gradient(theta, target, X, y, masks):
    """The gradient of ``||(l(theta) - target)_+||^2``."""
    margins = y * (X @ theta[:-1] + theta[-1])
    losses = 1.0 / (1.0 + np.exp(margins))
    gradient = np.zeros_like(theta)
    for mask, wanted in zip(masks, target, strict=True):
        value = losses[mask].mean()
        if value > wanted:
            by_score = np.where(mask, -y * losses * (1.0 - losses), 0.0) / mask.sum()
            gradient[:-1] += 2.0 * (value - wanted) * (by_score @ X)
            gradient[-1] += 2.0 * (value - wanted) * by_score.sum()
    return gradient


def adagrad(theta, target, X, y, masks, iterations):
    squares = np.full_like(theta, 0.1)
    for _ in range(iterations):
        gradient = excess_gradient(theta, target, X, y, masks)
        if not gradient.any():
            break
        squares = squares + gradient**2
        theta = theta - gradient / np.sqrt(squares)
    return theta


def interpolate(theta, cost, X, y, masks, m, sigma, rng):
    """Algorithm 3: one row of H and M for each pair of perturbed models."""
    Z = rng.standard_normal((2 * m, len(theta)))
    H, M = [], []
    for first, second in zip(Z[:m], Z[m:], strict=True):
        one, two = theta + sigma * first, theta + sigma * second
        H.append(sigmoid_profile(one, X, y, masks) - sigmoid_profile(two, X, y, masks))
        M.append(cost(one) - cost(two))
    return np.linalg.lstsq(np.array(H), np.array(M), rcond=None)[0]


def descend(theta, cost, X, y, masks, *, outer_iterations, eta, m, sigma, iterations, rng):
    """Algorithm 1: the path of theta."""
    path = [theta]
    for _ in range(outer_iterations):
        gradient = interpolate(theta, cost, X, y, masks, m, sigma, rng)
        target = sigmoid_profile(theta, X, y, masks) - eta * gradient
        theta = adagrad(theta, target, X, y, masks, iterations)
        path.append(theta)
    return np.array(path)
