-- Requests from listed bad addresses, with the names of users taken out of the endpoints.
-- The functions are in udfs/logs.py (by splitting the line).
SELECT l.ip, l.date, l.method, anonymous(l.endpoint) AS endpoint, l.protocol, l.response_code, l.content_size
FROM (
  SELECT
    ip_of(line) AS ip,
    date_of(line) AS date,
    method_of(line) AS method,
    endpoint_of(line) AS endpoint,
    protocol_of(line) AS protocol,
    response_code_of(line) AS response_code,
    content_size_of(line) AS content_size
  FROM logs
  WHERE endpoint_of(line) <> ''
) AS l
JOIN bad_addresses AS b ON l.ip = b.ip;
