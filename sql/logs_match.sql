-- Requests from listed bad addresses, with the names of users taken out of the endpoints.
-- The functions are in udfs/logs.py (by one regular expression).
SELECT l.ip, l.date, l.method, anonymous(l.endpoint) AS endpoint, l.protocol, l.response_code, l.content_size
FROM (
  SELECT
    match_ip(line) AS ip,
    match_date(line) AS date,
    match_method(line) AS method,
    match_endpoint(line) AS endpoint,
    match_protocol(line) AS protocol,
    match_response_code(line) AS response_code,
    match_content_size(line) AS content_size
  FROM logs
  WHERE match_endpoint(line) <> ''
) AS l
JOIN bad_addresses AS b ON l.ip = b.ip;
