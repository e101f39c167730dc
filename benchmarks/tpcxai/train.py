"""Fits the model of each use case on its training tables: MODELS/ucNN.joblib.

    python train.py DATA MODELS [uc01 …]

DATA is what generate.py wrote. The same data gives the same models; of their files only that
of uc04 differs from run to run, by an address in memory that CountVectorizer keeps.
"""

import argparse
import itertools
import json
import time
from pathlib import Path

import functions
import joblib
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits


def uc01(orders, lineitem, order_returns):
    """A scaler and four clusters of customers."""
    customers = functions.customer_features(orders, lineitem, order_returns)
    features = customers[["return_ratio", "frequency"]]
    scaler = MinMaxScaler().fit(features)
    clusters = KMeans(n_clusters=4, n_init=10, random_state=1).fit(scaler.transform(features))
    return {"scaler": scaler, "clusters": clusters}


YEAR = 52
GRID = list(itertools.product([0.05, 0.1, 0.2, 0.4, 0.7], [0.0, 0.01, 0.05, 0.1], [0.05, 0.1, 0.3]))


def uc03(orders, lineitem, product):
    """For each store and department the parameters of Holt-Winters and the state after the training weeks.

    The parameters are those of a grid with the least squared error of one week ahead. All
    series are tried at once: a row of the matrix is a series, a column a week.
    """
    sales = functions.sales_by_week(orders, lineitem, product)
    weeks = pd.date_range(sales["week"].min(), sales["week"].max(), freq="7D")
    wide = sales.pivot_table(index=["store", "department"], columns="week", values="amount", aggfunc="sum")
    series = wide.reindex(columns=weeks).fillna(0.0).to_numpy()

    first, second = series[:, :YEAR], series[:, YEAR : 2 * YEAR]
    level = first.mean(axis=1)
    trend = (second.mean(axis=1) - level) / YEAR
    seasons = ((first - first.mean(axis=1, keepdims=True)) + (second - second.mean(axis=1, keepdims=True))) / 2
    # Of one week alone a season is mostly noise: its neighbours say as much.
    seasons = sum(np.roll(seasons, shift, axis=1) for shift in range(-2, 3)) / 5

    best = np.full(len(series), np.inf)
    fits = [None] * len(series)
    for alpha, beta, gamma in GRID:
        error, state = smooth_all(series, level, trend, seasons, alpha, beta, gamma)
        for row in np.flatnonzero(error < best):
            best[row] = error[row]
            fits[row] = {
                "alpha": alpha,
                "beta": beta,
                "gamma": gamma,
                "level": float(state[0][row]),
                "trend": float(state[1][row]),
                "seasons": state[2][row].tolist(),
            }
    keys = [(int(store), department) for store, department in wide.index]
    return {"last_week": weeks[-1], "series": dict(zip(keys, fits, strict=True))}


def smooth_all(series, level, trend, seasons, alpha, beta, gamma):
    """What functions.smooth does, for all series at once, with the squared error."""
    seasons = seasons.copy()
    error = np.zeros(len(series))
    for week, amount in enumerate(series.T):
        season = seasons[:, week % YEAR].copy()
        error += (amount - (level + trend + season)) ** 2
        before = level
        level = alpha * (amount - season) + (1 - alpha) * (level + trend)
        trend = beta * (level - before) + (1 - beta) * trend
        seasons[:, week % YEAR] = gamma * (amount - level) + (1 - gamma) * season
    # The next week's season comes first.
    return error, (level, trend, np.roll(seasons, -(series.shape[1] % YEAR), axis=1))


def uc04(review):
    """Counts of words, their weights, and naive Bayes."""
    model = make_pipeline(CountVectorizer(min_df=2), TfidfTransformer(), MultinomialNB(alpha=0.1))
    return model.fit(functions.clean_text(review["text"]), review["spam"])


def uc06(smart):
    """A support vector classifier of drives."""
    failed = smart.groupby("serial_number")["failure"].max()
    features = functions.drive_features(smart.drop(columns="failure"))
    model = make_pipeline(StandardScaler(), SVC(C=2.0, class_weight="balanced", random_state=1))
    return model.fit(features, failed.loc[features.index])


RANK = 6
ROUNDS = 12


def uc07(product_rating):
    """Factors of users and products by alternating least squares.

    The first two factors of a user are 1 and their own mildness, those of a product its
    goodness and 1, so that the product of the factors holds both biases.
    """
    ratings = product_rating.dropna()
    # Who rates a product twice means the mean.
    ratings = ratings.groupby(["user_id", "product_id"])["rating"].mean().reset_index()
    user, users = pd.factorize(ratings["user_id"], sort=True)
    product, products = pd.factorize(ratings["product_id"], sort=True)
    mean = ratings["rating"].mean()
    target = (ratings["rating"] - mean).to_numpy()
    rng = np.random.default_rng(1)
    of_users = np.hstack([np.ones((len(users), 1)), rng.normal(0, 0.1, (len(users), RANK + 1))])
    goodness, ones = np.zeros((len(products), 1)), np.ones((len(products), 1))
    of_products = np.hstack([goodness, ones, rng.normal(0, 0.1, (len(products), RANK))])
    for _ in range(ROUNDS):
        free = solve(user, len(users), of_products[product][:, 1:], target - of_products[product, 0])
        of_users[:, 1:] = free
        regressors = np.delete(of_users[user], 1, axis=1)
        free = solve(product, len(products), regressors, target - of_users[user, 1])
        of_products[:, 0], of_products[:, 2:] = free[:, 0], free[:, 1:]
    names = range(RANK + 2)
    return {
        "mean": float(mean),
        "users": frame("user", users.astype("int64"), of_users, names),
        "products": frame("product", products.astype("int64"), of_products, names),
    }


def solve(group, groups, regressors, target, ridge=4.0):
    """Ridge regression of the target on the regressors, for each group on its own."""
    rank = regressors.shape[1]
    squares = np.zeros((groups, rank, rank))
    products = np.zeros((groups, rank))
    for i in range(rank):
        products[:, i] = np.bincount(group, regressors[:, i] * target, groups)
        for j in range(rank):
            squares[:, i, j] = np.bincount(group, regressors[:, i] * regressors[:, j], groups)
    return np.linalg.solve(squares + ridge * np.eye(rank), products[:, :, None])[:, :, 0]


def frame(name, keys, factors, numbers):
    columns = {f"{name}_factor{number}": factors[:, number] for number in numbers}
    return pd.DataFrame({f"{name}_id": keys, **columns})


def uc08(orders, lineitem, product):
    """Gradient-boosted trees over the pivoted weekdays and departments of orders."""
    trip = orders.drop_duplicates().set_index("o_order_id")["trip_type"]
    features = functions.trip_features(orders.drop(columns="trip_type"), lineitem, product)
    model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=15, random_state=1)
    return model.fit(features, trip.loc[features.index])


def uc10(accounts, transactions):
    """Logistic regression on the hour and the amount."""
    data = functions.transaction_features(accounts, transactions)
    return LogisticRegression(max_iter=1000).fit(data[["business_hour_norm", "amount_norm"]], data["isFraud"])


USE_CASES = {"uc01": uc01, "uc03": uc03, "uc04": uc04, "uc06": uc06, "uc07": uc07, "uc08": uc08, "uc10": uc10}


def main():
    parser = argparse.ArgumentParser(description="Fits the models of the use cases.")
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("models", type=Path, metavar="MODELS")
    parser.add_argument("only", nargs="*", metavar="UC", help="use cases, such as uc01; all of them if none is named")
    arguments = parser.parse_args()
    arguments.models.mkdir(parents=True, exist_ok=True)
    for name in arguments.only or USE_CASES:
        tables = {
            path.stem.removeprefix("train_"): pq.read_table(path).to_pandas()
            for path in sorted((arguments.data / name).glob("train_*.parquet"))
        }
        start = time.perf_counter()
        # Threads of OpenMP that wait for a busy core make the training of trees fifty times slower.
        with threadpool_limits(1):
            model = USE_CASES[name](**tables)
        joblib.dump(model, arguments.models / f"{name}.joblib")
        print(json.dumps({"uc": name, "train_s": round(time.perf_counter() - start, 3)}), flush=True)


if __name__ == "__main__":
    main()
