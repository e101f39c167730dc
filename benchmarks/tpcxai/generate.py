"""Writes the tables of the use cases: OUT/ucNN/NAME.parquet to serve, train_NAME.parquet to train.

    python generate.py --sf 1 OUT [uc01 …]

Every table is random from a fixed seed, so the same scale factor gives the same tables (with
the same version of NumPy). Behind each use case stands a model of how its data comes about:
kinds of customers, seasons of departments, drives that wear out. That is what training finds
again. Unless a table says otherwise, of the cells that may be missing 1 to 2 % are NULL, of
the keys 1 to 3 % match nothing, of the rows 1 % are there twice, and of the days 3 % have no
rows. One name in ten has letters beyond ASCII.
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DAY = np.timedelta64(1, "D")


def column(values, null=None):
    """An Arrow column of a plain type; NULL where the mask says so."""
    if values.dtype.kind == "M":
        day = np.datetime_data(values.dtype)[0] == "D"
        return pa.array(values, type=pa.date32() if day else pa.timestamp("us"), mask=null)
    if values.dtype.kind in "OU":
        return pa.array(values.astype(object), type=pa.string(), mask=null)
    return pa.array(values, mask=null)


def with_nulls(rng, values, share=0.01):
    return column(values, rng.random(len(values)) < share)


def table(rng, columns, twice=0.01):
    """A table in random order in which a share of the rows is there twice."""
    columns = {name: column(values) if isinstance(values, np.ndarray) else values for name, values in columns.items()}
    result = pa.table(columns)
    again = rng.choice(result.num_rows, int(result.num_rows * twice), replace=False)
    rows = np.concatenate([np.arange(result.num_rows), again])
    rng.shuffle(rows)
    return result.take(pa.array(rows))


def scaled(number, scale, least):
    return max(least, round(number * scale))


def open_days(rng, first, count):
    """The days of a span, without those that have no rows."""
    days = np.datetime64(first) + np.arange(count) * DAY
    return days[rng.random(count) >= 0.03]


def unmatched(rng, keys, share):
    """The keys, a share of them moved behind all that exist."""
    return np.where(rng.random(len(keys)) < share, keys + 1_000_000_000, keys)


def uc01(rng, world, scale, training):
    """Customers who order seldom or often, and who give back little or much."""
    customers, products = scaled(8_000, scale, 40), scaled(5_000, scale, 50)
    orders = customers * 6
    kind = rng.integers(4, size=customers)
    busy = np.array([1.0, 6.0, 2.0, 5.0])[kind] * rng.gamma(8.0, 1 / 8, customers)
    gives_back = np.array([0.02, 0.04, 0.35, 0.6])[kind]
    customer = rng.choice(customers, orders, p=busy / busy.sum())
    days = open_days(rng, "2021-01-01", 4 * 365)
    second = rng.integers(86_400, size=orders).astype("timedelta64[s]")
    date = rng.choice(days, orders).astype("datetime64[us]") + second

    order = np.repeat(np.arange(orders), 1 + rng.poisson(3.1, orders))
    product = rng.integers(products, size=len(order)) + 1
    quantity = 1 + rng.poisson(1.5, len(order))
    price = world.lognormal(3.0, 0.8, products)[product - 1].round(2)
    back = rng.random(len(order)) < gives_back[customer[order]]
    return {
        "orders": table(rng, {
            "o_order_id": np.arange(orders) + 1,
            "o_customer_sk": with_nulls(rng, customer + 1),
            "date": with_nulls(rng, date),
        }),
        "lineitem": table(rng, {
            "li_order_id": unmatched(rng, order + 1, 0.02),
            "li_product_id": with_nulls(rng, product),
            "quantity": with_nulls(rng, quantity),
            "price": with_nulls(rng, price),
        }),
        "order_returns": table(rng, {
            "or_order_id": unmatched(rng, order[back] + 1, 0.02),
            "or_product_id": with_nulls(rng, product[back]),
            "or_return_quantity": with_nulls(rng, rng.integers(1, quantity[back], endpoint=True)),
        }),
    }  # fmt: skip


DEPARTMENTS = np.array([
    "Bakery", "Books", "Cheese", "Chocolate", "Coffee & Tea", "Flowers", "Frozen Food", "Fruit",
    "Games", "Garden", "Hardware", "Household", "Jewelry", "Käse & Wurst", "Linen", "Music",
    "Office", "Papeterie française", "Pets", "Shoes", "Sports", "Toys", "Wine", "文房具",
])  # fmt: skip
WEEKS_TRAINED = 104
WEEKS_SERVED = 26


def shop_products(world, number):
    """Products of the departments; of some nobody wrote down the department."""
    department = DEPARTMENTS[world.integers(len(DEPARTMENTS), size=number)]
    price = world.lognormal(2.2, 0.7, number).round(2)
    return department, price, with_nulls(world, department, 0.02)


def uc03(rng, world, scale, training):
    """Two years of sales by store and department to learn from, half a year to go on."""
    stores = scaled(20, scale, 2)
    product_department, product_price, department_column = shop_products(world, 960)
    shape = (stores, len(DEPARTMENTS), 1)
    base = world.gamma(3.0, 4.0, shape)
    growth = world.normal(0.002, 0.002, shape)
    swing = world.uniform(0.1, 0.8, shape)
    phase = world.uniform(0, 2 * np.pi, shape)
    missing_department = world.random(shape) < 0.08
    # Fashions come and go: some departments drift more than others.
    drift = world.choice([0.0, 0.02, 0.06, 0.12], shape)
    steps = world.normal(0, 1, (*shape[:2], WEEKS_TRAINED + WEEKS_SERVED)) * drift
    fashion = np.exp(np.cumsum(steps, axis=2) - drift * 4)

    week = np.arange(WEEKS_TRAINED) if training else WEEKS_TRAINED + np.arange(WEEKS_SERVED)
    expected = base * (1 + growth * week) * (1 + swing * np.sin(2 * np.pi * week / 52 + phase)) * fashion[:, :, week]
    closed = rng.random(expected.shape) < 0.02
    count = rng.poisson(np.where(closed | missing_department, 0.0, expected))

    store, department, index = (np.repeat(axis.ravel(), count.ravel()) for axis in np.indices(count.shape))
    weekday = rng.choice(7, len(store), p=[0.1, 0.1, 0.12, 0.14, 0.18, 0.24, 0.12])
    day = week[index] * 7 + weekday
    order_of_items = np.lexsort((rng.random(len(store)), day, store))
    store, department, day = store[order_of_items], department[order_of_items], day[order_of_items]
    # About four items make an order of one day in one store.
    begins = rng.random(len(store)) < 0.25
    begins[1:] |= (store[1:] != store[:-1]) | (day[1:] != day[:-1])
    begins[0] = True
    order = np.cumsum(begins)
    open_store = rng.random(order[-1]) >= 0.02

    product = np.empty(len(store), dtype=np.int64)
    for number, name in enumerate(DEPARTMENTS):
        items = department == number
        product[items] = rng.choice(np.flatnonzero(product_department == name), items.sum())
    quantity = 1 + rng.poisson(1.0, len(store))
    monday = np.datetime64("2022-01-03")
    tables = {
        "orders": table(rng, {
            "o_order_id": order[begins][open_store],
            "store": with_nulls(rng, store[begins][open_store] + 1),
            "date": with_nulls(rng, (monday + day[begins] * DAY)[open_store]),
        }),
        "lineitem": table(rng, {
            "li_order_id": order,
            "li_product_id": with_nulls(rng, unmatched(rng, product + 1, 0.01)),
            "quantity": with_nulls(rng, quantity),
            "price": with_nulls(rng, (product_price[product] * rng.uniform(0.9, 1.1, len(store))).round(2)),
        }),
        "product": table(rng, {"p_product_id": np.arange(960) + 1, "department": department_column}),
    }  # fmt: skip
    if not training:
        # Stores that were opened lately, and departments that a store does not have, are asked for too.
        asked = np.indices((stores + 1, len(DEPARTMENTS))).reshape(2, -1)
        tables["store_dept"] = table(rng, {
            "store": asked[0] + 1,
            "department": with_nulls(rng, DEPARTMENTS[asked[1]]),
            "horizon": with_nulls(rng, rng.integers(1, 13, asked.shape[1])),
        })  # fmt: skip
    return tables


PLAIN_WORDS = (
    "room staff breakfast delivery package quality shipping friendly clean broken returned bought daughter "
    "kitchen garden battery screen comfortable size fits color weeks ordered arrived service weather walk coffee "
    "café crème brûlée gemütlich Straße naïve señor mañana smørrebrød 美味しい отлично książka"
).split()
SPAM_WORDS = (
    "free winner prize cash click offer guarantee loan casino pills bonus urgent claim exclusive earn cheap "
    "limited congratulations viagrà gewinnen бесплатно 無料 discount subscribe"
).split()
SYLLABLES = (
    "ba be bo da de di fa fe ga gi ha ka ke ko la le li lo ma me mi na ne no pa pe ra re ri ro sa se si so ta te ti to "
    "va ve zé ñu ö"
).split()


def uc04(rng, world, scale, training):
    """Reviews of a few dozen words, of which one in six is spam."""
    rows = scaled(100_000, scale, 500) if not training else scaled(40_000, scale, 800)
    lengths = world.integers(2, 5, 3_000)
    common = ["".join(SYLLABLES[k] for k in world.integers(len(SYLLABLES), size=length)) for length in lengths]
    words = np.array(common + PLAIN_WORDS + SPAM_WORDS, dtype=object)
    plain = np.arange(len(common), len(common) + len(PLAIN_WORDS))
    salesy = np.arange(len(common) + len(PLAIN_WORDS), len(words))

    spam = rng.random(rows) < 0.16
    length = rng.integers(4, 40, rows)
    is_spam = np.repeat(spam, length)
    total = len(is_spam)
    # Frequent words are few, as in any language.
    word = np.minimum((rng.pareto(0.7, total) * 20).astype(np.int64), len(common) - 1)
    kind = rng.random(total)
    word = np.where(kind < np.where(is_spam, 0.08, 0.25), rng.choice(plain, total), word)
    word = np.where(kind > np.where(is_spam, 0.72, 0.985), rng.choice(salesy, total), word)
    texts, at = [], 0
    look = rng.random(rows)
    numbers = rng.integers(1, 10_000, rows)
    for row in range(rows):
        text = " ".join(words[word[at : at + length[row]]])
        at += length[row]
        if look[row] < 0.05:
            text = text.upper()
        elif look[row] < 0.10:
            text = text.replace(" ", "  ", 2) + " &amp; more!!!"
        elif look[row] < 0.15:
            text = text.capitalize() + f" 👍 {numbers[row]}"
        elif look[row] < (0.5 if spam[row] else 0.17):
            text += f" https://www.example.com/{numbers[row]}?a=ö"
        elif look[row] > 0.99:
            text = ""
        texts.append(text)
    columns = {"id": np.arange(rows) + 1, "text": with_nulls(rng, np.array(texts, dtype=object), 0.02)}
    if training:
        columns["spam"] = spam.astype(np.int64)
    return {"review": table(rng, columns, twice=0.02)}


DRIVE_MODELS = np.array(["ST4000", "ST8000", "HMS5C", "WDC 60", "Ørsted X2", "東和 10T", "MG07", "HUH72"])


def uc06(rng, world, scale, training):
    """Daily readings of drives; one drive in ten wears out, which shows in its last weeks."""
    drives = scaled(5_200, scale, 60) if not training else scaled(3_000, scale, 300)
    days = open_days(rng, "2023-01-01" if training else "2024-01-01", 30)
    model = rng.integers(len(DRIVE_MODELS), size=drives)
    bad = rng.random(drives) < 0.1
    age = rng.integers(0, 50_000, drives)
    serial = np.array([f"Z{n:07d}é" if n % 17 == 0 else f"Z{n:07d}" for n in range(drives)])
    wear = np.where(bad, rng.gamma(4.0, 0.5, drives), rng.gamma(0.3, 0.1, drives))

    drive, day = (axis.ravel() for axis in np.indices((drives, len(days))))
    # Some drives come late, some readings are lost.
    comes = np.where(rng.random(drives) < 0.1, rng.integers(0, len(days), drives), 0)
    there = (day >= comes[drive]) & (rng.random(len(drive)) >= 0.04)
    drive, day = drive[there], day[there]
    rows = len(drive)
    passed = (days[day] - days[0]).astype(np.int64)
    worn = wear[drive] * passed / 30
    heat = world.normal(30, 4, len(DRIVE_MODELS))
    columns = {
        "date": with_nulls(rng, days[day], 0.005),
        "serial_number": with_nulls(rng, serial[drive]),
        "model": with_nulls(rng, DRIVE_MODELS[model[drive]]),
        "smart_5_raw": np.floor(worn * 20 + rng.poisson(2.0, drives)[drive]),
        "smart_9_raw": (age[drive] + passed * 24).astype(np.float64),
        "smart_187_raw": rng.poisson(worn * 2).astype(np.float64),
        "smart_188_raw": rng.poisson(0.05 + worn * 0.3).astype(np.float64),
        "smart_194_raw": (heat[model[drive]] + rng.normal(0, 2, rows) + worn * 2).round(),
        "smart_197_raw": rng.poisson(0.2 + worn * 4).astype(np.float64),
        "smart_198_raw": rng.poisson(0.1 + worn * 3).astype(np.float64),
    }
    for name in columns:
        if name.startswith("smart"):
            columns[name] = with_nulls(rng, columns[name], 0.02)
    if training:
        columns["failure"] = (bad[drive] & (day == len(days) - 1)).astype(np.int64)
    return {"smart": table(rng, columns)}


def uc07(rng, world, scale, training):
    """Users and products with tastes of four dimensions; to serve, pairs without a rating."""
    users, products = scaled(4_000, scale, 60), scaled(1_000, scale, 40)
    rows = scaled(150_000, scale, 1_200) if training else scaled(200_000, scale, 500)
    likes = world.normal(0, 0.45, (users, 4))
    is_like = world.normal(0, 0.9, (products, 4))
    mild = world.normal(0, 0.4, users)
    good = world.normal(0, 0.5, products)
    user = rng.integers(users, size=rows)
    product = np.minimum(rng.exponential(products / 3, rows).astype(np.int64), products - 1)
    stars = 3.5 + mild[user] + good[product] + (likes[user] * is_like[product]).sum(axis=1) + rng.normal(0, 0.5, rows)
    if training:
        return {"product_rating": table(rng, {
            "user_id": with_nulls(rng, user + 1),
            "product_id": product + 1,
            "rating": with_nulls(rng, stars.round().clip(1, 5).astype(np.int64)),
        })}  # fmt: skip
    return {"product_rating": table(rng, {
        "user_id": with_nulls(rng, unmatched(rng, user + 1, 0.02)),
        "product_id": unmatched(rng, product + 1, 0.02),
    })}  # fmt: skip


TRIPS = 7


def uc08(rng, world, scale, training):
    """Orders of seven kinds of trips, each with its departments, weekdays and size."""
    orders = scaled(20_000, scale, 800) if training else scaled(40_000, scale, 300)
    product_department, _, department_column = shop_products(world, 800)
    number_of = np.searchsorted(DEPARTMENTS, product_department)
    taste = world.dirichlet(np.full(len(DEPARTMENTS), 0.3), TRIPS)
    weekday_share = world.dirichlet(np.full(7, 1.0), TRIPS)
    size = np.array([1.5, 3.0, 4.0, 5.0, 8.0, 12.0, 2.0])
    # On the last kind of trip people bring things back.
    brings_back = np.array([0.02, 0.02, 0.02, 0.02, 0.02, 0.05, 0.8])

    trip = rng.choice(TRIPS, orders, p=[0.2, 0.16, 0.16, 0.16, 0.14, 0.1, 0.08])
    weekday = (rng.random((orders, 1)) > np.cumsum(weekday_share, axis=1)[trip]).sum(axis=1).clip(max=6)
    mondays = np.datetime64("2024-01-01") + np.arange(52) * 7 * DAY
    date = rng.choice(mondays, orders) + weekday * DAY
    # Holidays have no rows: their orders move to the same weekday a year later.
    holidays = rng.choice(np.datetime64("2024-01-01") + np.arange(364) * DAY, 11, replace=False)
    date = np.where(np.isin(date, holidays), date + 364 * DAY, date).astype("datetime64[us]")
    date = date + rng.integers(8 * 3600, 20 * 3600, orders).astype("timedelta64[s]")

    order = np.repeat(np.arange(orders), 1 + rng.poisson(size[trip]))
    share = np.cumsum(taste, axis=1)[trip[order]]
    department = (rng.random((len(order), 1)) > share).sum(axis=1).clip(max=len(DEPARTMENTS) - 1)
    product = np.empty(len(order), dtype=np.int64)
    for number in range(len(DEPARTMENTS)):
        items = department == number
        product[items] = rng.choice(np.flatnonzero(number_of == number), items.sum())
    quantity = 1 + rng.poisson(0.7, len(order))
    quantity = np.where(rng.random(len(order)) < brings_back[trip[order]], -quantity, quantity)
    columns = {"o_order_id": np.arange(orders) + 1, "date": with_nulls(rng, date)}
    if training:
        columns["trip_type"] = trip
    return {
        "orders": table(rng, columns),
        "lineitem": table(rng, {
            "li_order_id": unmatched(rng, order + 1, 0.02),
            "li_product_id": with_nulls(rng, unmatched(rng, product + 1, 0.02)),
            "quantity": with_nulls(rng, quantity),
        }),
        "product": table(rng, {"p_product_id": np.arange(800) + 1, "department": department_column}),
    }  # fmt: skip


BRANCHES = np.array(["Bremen", "Łódź", "Köln", "Leeds", "Porto", "São Paulo", "Utrecht", "Zürich", "Austin", "東京"])


def uc10(rng, world, scale, training):
    """Transactions: what is large for the account and late in the day is rather fraud."""
    accounts = scaled(10_000, scale, 100)
    rows = scaled(250_000, scale, 1_000) if not training else scaled(80_000, scale, 2_000)
    limit = world.lognormal(7.5, 0.8, accounts).round(-1).clip(50)
    sender = rng.integers(accounts, size=rows)
    share = rng.lognormal(-1.6, 0.9, rows)
    amount = (limit[sender] * share).round(2)
    days = open_days(rng, "2023-01-01", 365)
    minute = np.minimum(rng.gamma(9.0, 95.0, rows).astype(np.int64), 24 * 60 - 1)
    time = (rng.choice(days, rows).astype("datetime64[m]") + minute).astype(str)
    score = -7.0 + 4.0 * (minute // 60) / 23 + 5.0 * amount / limit[sender]
    fraud = rng.random(rows) < 1 / (1 + np.exp(-score))
    columns = {
        "transactionID": np.arange(rows) + 1,
        "senderID": unmatched(rng, sender + 1, 0.02),
        "receiverID": np.char.add("ACC-", rng.integers(1, 1_000_000, rows).astype(str)),
        "amount": with_nulls(rng, amount),
        "time": with_nulls(rng, time),
    }
    if training:
        columns["isFraud"] = fraud.astype(np.int64)
    return {
        # An account that is there twice would make two of each of its transactions.
        "accounts": table(rng, {
            "fa_customer_sk": np.arange(accounts) + 1,
            "branch": with_nulls(rng, BRANCHES[world.integers(len(BRANCHES), size=accounts)]),
            "transaction_limit": with_nulls(rng, limit),
            "active": with_nulls(rng, rng.random(accounts) < 0.9),
        }, twice=0.0),
        "transactions": table(rng, columns),
    }  # fmt: skip


USE_CASES = {"uc01": uc01, "uc03": uc03, "uc04": uc04, "uc06": uc06, "uc07": uc07, "uc08": uc08, "uc10": uc10}


def main():
    parser = argparse.ArgumentParser(description="Writes the tables of the use cases.")
    parser.add_argument("--sf", type=float, default=1.0, help="scale factor: 1 is 100,000 to 300,000 rows to serve")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("only", nargs="*", metavar="UC", help="use cases, such as uc01; all of them if none is named")
    arguments = parser.parse_args()
    for name in arguments.only or USE_CASES:
        number = int(name[2:])
        folder = arguments.out / name
        folder.mkdir(parents=True, exist_ok=True)
        for training in (True, False):
            # What both share, such as the tastes of users, comes from the generator of the world.
            world, rng = np.random.default_rng(number), np.random.default_rng([number, int(training) + 1])
            tables = USE_CASES[name](rng, world, arguments.sf, training)
            for part, rows in tables.items():
                pq.write_table(rows, folder / f"{'train_' if training else ''}{part}.parquet")


if __name__ == "__main__":
    main()
