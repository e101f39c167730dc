"""Functions of arrays of a row, as one writes them with NumPy.

They are those of `cargo xtask bench arrays`.
"""

import numpy as np


# sql: standard(x DOUBLE[]) RETURNS DOUBLE[]
def standard(x: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / x.std()


# sql: softmax(x DOUBLE[]) RETURNS DOUBLE[]
def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()


# sql: rolling(x DOUBLE[]) RETURNS DOUBLE[]
def rolling(x: np.ndarray) -> np.ndarray:
    """Means of three neighbours."""
    total = np.cumsum(x)
    total[3:] = total[3:] - total[:-3]
    return total[2:] / 3


# sql: similarity(x DOUBLE[], y DOUBLE[]) RETURNS DOUBLE
def similarity(x: np.ndarray, y: np.ndarray) -> float:
    return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


# sql: cosine(x DOUBLE[], y DOUBLE[]) RETURNS DOUBLE
def cosine(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.dot(x, y) / (np.linalg.norm(x) * np.linalg.norm(y)))


# sql: energy(x DOUBLE[]) RETURNS DOUBLE
def energy(x: np.ndarray) -> float:
    return np.sqrt(np.mean(x ** 2))


# sql: crossings(x DOUBLE[]) RETURNS BIGINT
def crossings(x: np.ndarray) -> int:
    return int(np.count_nonzero(np.diff(np.sign(x - x.mean()))))


# sql: loglik(x DOUBLE[], mu DOUBLE, sigma DOUBLE) RETURNS DOUBLE
def loglik(x: np.ndarray, mu: float, sigma: float) -> float:
    z = (x - mu) / sigma
    return float(-0.5 * np.sum(z * z) - len(x) * np.log(sigma * np.sqrt(2 * np.pi)))


# sql: slope(x DOUBLE[], y DOUBLE[]) RETURNS DOUBLE
def slope(x: np.ndarray, y: np.ndarray) -> float:
    dx = x - x.mean()
    return float((dx * (y - y.mean())).sum() / (dx * dx).sum())


# sql: trimmed(x DOUBLE[]) RETURNS DOUBLE
def trimmed(x: np.ndarray) -> float:
    low, high = np.percentile(x, [10, 90])
    return x[(x >= low) & (x <= high)].mean()


W = np.array([[0.1, -0.2, 0.3, 0.05], [0.4, 0.1, -0.1, 0.2], [-0.3, 0.2, 0.1, 0.1], [0.2, -0.1, 0.05, 0.3]])
U = np.array([[0.2, 0.1, -0.1, 0.0], [0.0, 0.3, 0.1, -0.2], [0.1, 0.0, 0.2, 0.1], [-0.1, 0.2, 0.0, 0.1]])
B = np.array([0.01, -0.02, 0.03, 0.0])


# sql: state(steps DOUBLE[][]) RETURNS DOUBLE[]
def state(steps: np.ndarray) -> np.ndarray:
    """The last state of a recurrent cell."""
    h = np.zeros(4)
    for x in steps:
        h = np.tanh(W @ x + U @ h + B)
    return h


FIRST = np.array([[((7 * i + 13 * j) % 17 - 8) / 40 for j in range(16)] for i in range(64)])
SECOND = np.array([[((5 * i + 3 * j) % 11 - 5) / 10 for j in range(10)] for i in range(16)])


# sql: digit(pixels DOUBLE[]) RETURNS BIGINT
def digit(pixels: np.ndarray) -> int:
    """The class that a perceptron of two layers gives an image of 8 x 8."""
    hidden = np.maximum(pixels @ FIRST, 0.0)
    return int(np.argmax(hidden @ SECOND))
