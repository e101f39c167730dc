-- Requests from listed bad addresses, with the names of users taken out of the endpoints.
-- The functions are in udfs/logs.py (by finding brackets and quotes).
SELECT l.ip, l.date, l.method, anonymous(l.endpoint) AS endpoint, l.protocol, l.response_code, l.content_size
FROM (
  SELECT
    find_ip(line) AS ip,
    find_date(line) AS date,
    find_method(line) AS method,
    find_endpoint(line) AS endpoint,
    find_protocol(line) AS protocol,
    find_response_code(line) AS response_code,
    find_content_size(line) AS content_size
  FROM logs
  WHERE find_endpoint(line) <> ''
) AS l
JOIN bad_addresses AS b ON l.ip = b.ip;
