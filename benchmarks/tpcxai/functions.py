"""The serving functions of the use cases: one pandas table function each.

They are written as one writes pandas: the tables are DataFrames, the fitted model is a global
of the module. `OPTIONS (models 'segments')` binds the object that was registered under that
name; serve.py does the same for plain pandas. The features that train.py needs as well have
functions of their own, called by both.

A result is a set of rows. No function depends on the order of its tables, but for the last
digits of sums of floats. So `weekly_sales` and `rating` are to be compared with a tolerance
(1e-9 of the value), and a label could differ only where a row lies that close to a border
between two labels.
"""

import pandas as pd


def customer_features(orders, lineitem, order_returns):
    """By customer: the share of what was bought that came back, and the orders in a year."""
    items = lineitem.merge(
        order_returns,
        how="left",
        left_on=["li_order_id", "li_product_id"],
        right_on=["or_order_id", "or_product_id"],
    )
    items = items.merge(orders, left_on="li_order_id", right_on="o_order_id")
    items = items.fillna({"quantity": 0, "price": 0, "or_return_quantity": 0})
    items["bought"] = items["quantity"] * items["price"]
    items["returned"] = items["or_return_quantity"] * items["price"]
    items["year"] = items["date"].dt.year

    per_order = items.groupby(["o_customer_sk", "o_order_id"]).agg(
        bought=("bought", "sum"), returned=("returned", "sum"), year=("year", "first")
    )
    per_order = per_order.reset_index()
    # An order without a price has nothing to give back.
    ratio = per_order["returned"] / per_order["bought"]
    per_order["ratio"] = ratio.where(per_order["bought"] > 0, 0.0)

    return_ratio = per_order.groupby("o_customer_sk")["ratio"].mean()
    per_year = per_order.groupby(["o_customer_sk", "year"])["o_order_id"].nunique()
    frequency = per_year.groupby("o_customer_sk").mean()
    # Customers whose orders have no date have no frequency.
    return pd.DataFrame({"return_ratio": return_ratio, "frequency": frequency}).fillna(0.0)


# sql: uc01(orders TABLE, lineitem TABLE, order_returns TABLE) RETURNS TABLE (o_customer_sk BIGINT, c_cluster_id BIGINT) OPTIONS (models 'segments')
def uc01(orders, lineitem, order_returns):
    """Customer segmentation."""
    customers = customer_features(orders, lineitem, order_returns)
    scaled = segments["scaler"].transform(customers[["return_ratio", "frequency"]])
    customers["c_cluster_id"] = segments["clusters"].predict(scaled)
    return customers.reset_index()[["o_customer_sk", "c_cluster_id"]]


def sales_by_week(orders, lineitem, product):
    """What each department of each store sold in the week that begins on a Monday."""
    sales = orders.merge(lineitem, left_on="o_order_id", right_on="li_order_id")
    sales = sales.merge(product.drop_duplicates(), left_on="li_product_id", right_on="p_product_id")
    sales["date"] = pd.to_datetime(sales["date"])
    sales["week"] = sales["date"] - pd.to_timedelta(sales["date"].dt.day_of_week, unit="D")
    sales["amount"] = sales["quantity"] * sales["price"]
    return sales.groupby(["store", "department", "week"])["amount"].sum().reset_index()


def smooth(amounts, fit):
    """Additive Holt-Winters: the level, the trend and the seasons behind the amounts."""
    alpha, beta, gamma = fit["alpha"], fit["beta"], fit["gamma"]
    level, trend, seasons = fit["level"], fit["trend"], list(fit["seasons"])
    for amount in amounts:
        season = seasons.pop(0)
        before = level
        level = alpha * (amount - season) + (1 - alpha) * (level + trend)
        trend = beta * (level - before) + (1 - beta) * trend
        seasons.append(gamma * (amount - level) + (1 - gamma) * season)
    return level, trend, seasons


# sql: uc03(orders TABLE, lineitem TABLE, product TABLE, store_dept TABLE) RETURNS TABLE (store BIGINT, department TEXT, week DATE, weekly_sales DOUBLE) OPTIONS (models 'winters')
def uc03(orders, lineitem, product, store_dept):
    """Sales forecast: for each store and department asked for, as many weeks as asked for."""
    sales = sales_by_week(orders, lineitem, product)
    asked = store_dept.dropna().drop_duplicates()
    sales = sales.merge(asked, on=["store", "department"])
    # A week without sales is a week that sold nothing.
    weeks = pd.date_range(winters["last_week"], sales["week"].max(), freq="7D")[1:]
    forecasts = []
    for (store, department, horizon), group in sales.groupby(["store", "department", "horizon"]):
        fit = winters["series"].get((store, department))
        if fit is None:
            continue
        amounts = group.set_index("week")["amount"].reindex(weeks, fill_value=0.0)
        level, trend, seasons = smooth(amounts, fit)
        for ahead in range(1, int(horizon) + 1):
            week = weeks[-1] + pd.Timedelta(weeks=ahead)
            amount = level + ahead * trend + seasons[(ahead - 1) % len(seasons)]
            forecasts.append((store, department, week.date(), max(amount, 0.0)))
    return pd.DataFrame(forecasts, columns=["store", "department", "week", "weekly_sales"])


def clean_text(text):
    """Reviews in lower case, with one word each for links and numbers."""
    text = text.fillna("").str.lower()
    text = text.str.replace(r"https?://\S+", " alink ", regex=True)
    return text.str.replace(r"[0-9]+", " anumber ", regex=True)


# sql: uc04(review TABLE) RETURNS TABLE (id BIGINT, spam BIGINT) OPTIONS (models 'spam_filter')
def uc04(review):
    """Spam detection."""
    review["spam"] = spam_filter.predict(clean_text(review["text"]))
    return review[["id", "spam"]]


METRICS = [
    "smart_5_raw",
    "smart_9_raw",
    "smart_187_raw",
    "smart_188_raw",
    "smart_194_raw",
    "smart_197_raw",
    "smart_198_raw",
]


def drive_features(smart):
    """By drive with at least three readings: how its metrics are and how they grow."""
    smart = smart.dropna(subset=["date", "serial_number"]).drop_duplicates()
    smart = smart.groupby("serial_number").filter(lambda readings: len(readings) >= 3)
    medians = smart.groupby("serial_number")[METRICS].transform("median")
    smart[METRICS] = smart[METRICS].fillna(medians).fillna(0)
    smart["date"] = pd.to_datetime(smart["date"])
    smart["heat"] = smart["smart_194_raw"] - smart.groupby("model")["smart_194_raw"].transform("mean")

    drives = smart.groupby("serial_number")
    features = drives.agg(
        {
            "smart_5_raw": ["min", "max"],
            "smart_9_raw": ["max"],
            "smart_187_raw": ["mean", "max"],
            "smart_188_raw": ["sum"],
            "smart_197_raw": ["mean", "std"],
            "smart_198_raw": ["mean", "max"],
            "heat": ["mean", "max"],
            "date": ["min", "max", "nunique"],
        }
    )
    features.columns = ["_".join(column) for column in features.columns]
    days = (features["date_max"] - features["date_min"]).dt.days
    features["growth"] = (features["smart_5_raw_max"] - features["smart_5_raw_min"]) / days.clip(lower=1)
    features["gaps"] = days + 1 - features["date_nunique"]
    # A drive of no known model has no heat to compare.
    return features.drop(columns=["date_min", "date_max", "date_nunique"]).fillna(0.0)


# sql: uc06(smart TABLE) RETURNS TABLE (serial_number TEXT, failure BIGINT) OPTIONS (models 'drive_health')
def uc06(smart):
    """Hardware failure: the drives that will fail."""
    features = drive_features(smart)
    features["failure"] = drive_health.predict(features)
    return features.reset_index()[["serial_number", "failure"]]


# sql: uc07(product_rating TABLE) RETURNS TABLE (user_id BIGINT, product_id BIGINT, rating DOUBLE) OPTIONS (models 'factors')
def uc07(product_rating):
    """Rating prediction: the product of the factors of user and product."""
    pairs = product_rating.merge(factors["users"], how="left", on="user_id")
    pairs = pairs.merge(factors["products"], how="left", on="product_id")
    users = pairs.filter(like="user_factor").to_numpy()
    products = pairs.filter(like="product_factor").to_numpy()
    pairs["rating"] = factors["mean"] + (users * products).sum(axis=1)
    # Whoever is new rates as everybody does.
    pairs["rating"] = pairs["rating"].fillna(factors["mean"]).clip(1.0, 5.0)
    return pairs[["user_id", "product_id", "rating"]]


def trip_features(orders, lineitem, product):
    """By order: counts and sums, the items on each weekday and from each department."""
    data = orders.drop_duplicates().merge(lineitem, left_on="o_order_id", right_on="li_order_id")
    data = data.merge(product.drop_duplicates(), how="left", left_on="li_product_id", right_on="p_product_id")
    data["department"] = data["department"].fillna("unknown")
    data["quantity"] = data["quantity"].fillna(1)
    data["returned"] = data["quantity"].clip(upper=0).abs()
    data["weekday"] = data["date"].dt.day_name()

    totals = data.groupby("o_order_id").agg(
        items=("li_product_id", "size"),
        products=("li_product_id", "nunique"),
        quantity=("quantity", "sum"),
        returned=("returned", "sum"),
    )
    weekdays = data.pivot_table(index="o_order_id", columns="weekday", values="quantity", aggfunc="count")
    departments = data.pivot_table(index="o_order_id", columns="department", values="quantity", aggfunc="sum")
    return totals.join(weekdays).join(departments).fillna(0)


# sql: uc08(orders TABLE, lineitem TABLE, product TABLE) RETURNS TABLE (o_order_id BIGINT, trip_type BIGINT) OPTIONS (models 'trips')
def uc08(orders, lineitem, product):
    """Trip types: what somebody went shopping for."""
    features = trip_features(orders, lineitem, product)
    features = features.reindex(columns=trips.feature_names_in_, fill_value=0)
    features["trip_type"] = trips.predict(features)
    return features.reset_index()[["o_order_id", "trip_type"]]


def hour_of(time):
    return time.hour


def transaction_features(accounts, transactions):
    """The transactions of known accounts, with the hour and the amount between 0 and about 1."""
    data = transactions.merge(accounts, left_on="senderID", right_on="fa_customer_sk")
    data["business_hour_norm"] = pd.to_datetime(data["time"]).apply(hour_of) / 23
    data["amount_norm"] = data["amount"] / data["transaction_limit"]
    return data.fillna({"business_hour_norm": 0.5, "amount_norm": 0.0})


# sql: uc10(accounts TABLE, transactions TABLE) RETURNS TABLE ("transactionID" BIGINT, "isFraud" BIGINT) OPTIONS (models 'fraud_detector')
def uc10(accounts, transactions):
    """Fraud detection."""
    data = transaction_features(accounts, transactions)
    data["isFraud"] = fraud_detector.predict(data[["business_hour_norm", "amount_norm"]])
    return data[["transactionID", "isFraud"]]
