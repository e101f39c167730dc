-- Z1: houses for sale of fewer than ten bedrooms, between 100,000 and 20,000,000 dollars.
-- The functions are those of udfs/zillow.py. A cell that cannot be parsed is NULL, so its
-- row fails the WHERE.
SELECT url, zipcode, address, city, state, bedrooms, bathrooms, sqft, offer, type, price
FROM (
  SELECT *, list_price(listed, offer, rate, sqft) AS price
  FROM (
    SELECT
      clean_url(url) AS url,
      zipcode(postal_code) AS zipcode,
      street(address) AS address,
      city_name(city) AS city,
      state_code(state) AS state,
      bedrooms(facts_and_features) AS bedrooms,
      bathrooms(facts_and_features) AS bathrooms,
      sqft(facts_and_features) AS sqft,
      price_per_sqft(facts_and_features) AS rate,
      offer(title) AS offer,
      home_type(title) AS type,
      price AS listed
    FROM listings
  )
)
WHERE bedrooms < 10
  AND type = 'house'
  AND offer = 'sale'
  AND 100000 < price AND price < 20000000
