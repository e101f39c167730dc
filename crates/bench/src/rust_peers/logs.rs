//! The query over the log written by hand: one loop over the lines of a batch. It takes each
//! line apart as the functions do and then looks its address up, as the query says.

use super::python_int::decimal;
use anyhow::{Context, Result};
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Builder, RecordBatch, StringViewArray, StringViewBuilder};
use memchr::{memchr, memchr_iter, memmem, memrchr};
use regex::{CaptureLocations, Regex};
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

/// The listed addresses.
#[derive(Debug)]
pub struct BadAddresses(HashSet<String>);

impl BadAddresses {
    /// The addresses of a table with the column `ip`.
    ///
    /// # Errors
    /// If the column has another type.
    pub fn new(batch: &RecordBatch) -> Result<BadAddresses> {
        let column = batch.column(0).as_string_opt::<i32>().context("no texts")?;
        Ok(BadAddresses(column.iter().flatten().map(str::to_string).collect()))
    }
}

/// How lines are taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// By splitting them at spaces.
    Split,
    /// By finding the brackets and quotes.
    Find,
    /// By one regular expression.
    Match,
}

/// The pattern of `udfs/logs.py`, for the whole line.
const LINE: &str = r#"^(\S+) (\S+) (\S+) \[([\w:/]+)\s[+\-]\d{4}\] "(\S+) (\S+)\s*(\S*)" (\d{3}) (\S+)$"#;

/// A line taken apart.
struct Request<'l> {
    ip: &'l str,
    method: &'l str,
    endpoint: &'l str,
    protocol: &'l str,
    response_code: i64,
    content_size: i64,
}

/// Runs the query on a batch of lines.
///
/// # Errors
/// If the column is missing or has another type.
pub fn logs(batch: &RecordBatch, taking: Taking, bad: &BadAddresses) -> Result<RecordBatch> {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(LINE).ok());
    let pattern = PATTERN.as_ref().context("a pattern that is none")?;
    let mut groups = pattern.capture_locations();
    let lines: &StringViewArray = batch.column(0).as_string_view_opt().context("no string views")?;
    let mut out: [StringViewBuilder; 5] = std::array::from_fn(|_| StringViewBuilder::new());
    let mut numbers: [Int64Builder; 2] = std::array::from_fn(|_| Int64Builder::new());
    let status = memmem::FinderRev::new("\" ");
    let (mut spaces, mut date) = (Vec::new(), String::new());
    for line in lines.iter().flatten() {
        let request = match taking {
            Taking::Split => split(line, &mut spaces, &mut date),
            Taking::Find => find(line, &status, &mut date),
            Taking::Match => matched(line, pattern, &mut groups, &mut date),
        };
        let Some(request) = request else { continue };
        if !bad.0.contains(request.ip) {
            continue;
        }
        let [ip, dates, method, endpoint, protocol] = &mut out;
        ip.append_value(request.ip);
        dates.append_value(&date);
        method.append_value(request.method);
        append_anonymous(request.endpoint, endpoint);
        protocol.append_value(request.protocol);
        numbers[0].append_value(request.response_code);
        numbers[1].append_value(request.content_size);
    }
    let [ip, dates, method, endpoint, protocol] = out.map(|mut out| Arc::new(out.finish()) as ArrayRef);
    let [code, size] = numbers.map(|mut out| Arc::new(out.finish()) as ArrayRef);
    Ok(RecordBatch::try_from_iter([
        ("ip", ip),
        ("date", dates),
        ("method", method),
        ("endpoint", endpoint),
        ("protocol", protocol),
        ("response_code", code),
        ("content_size", size),
    ])?)
}

/// The text without its first character.
fn rest(text: &str) -> &str {
    let mut rest = text.chars();
    rest.next();
    rest.as_str()
}

/// The text without its last character.
fn init(text: &str) -> &str {
    let mut init = text.chars();
    init.next_back();
    init.as_str()
}

fn number(text: &str) -> i64 {
    decimal(text).unwrap_or(-1)
}

fn size(text: &str) -> i64 {
    if text == "-" { 0 } else { number(text) }
}

/// `None` if there is no endpoint.
fn split<'l>(line: &'l str, spaces: &mut Vec<usize>, date: &mut String) -> Option<Request<'l>> {
    spaces.clear();
    spaces.extend(memchr_iter(b' ', line.as_bytes()));
    let parts = spaces.len() + 1;
    let part = |at: usize| {
        if at >= parts {
            return "";
        }
        let start = at.checked_sub(1).map_or(0, |before| spaces[before] + 1);
        &line[start..spaces.get(at).copied().unwrap_or(line.len())]
    };
    let endpoint = part(6).trim_end_matches('"');
    if endpoint.is_empty() {
        return None;
    }
    date.clear();
    let day = rest(part(3));
    match day.split_once(':') {
        Some((day, time)) => date.extend([day, " ", time]),
        None => date.push_str(day),
    }
    let (mut response_code, mut content_size) = (-1, -1);
    if parts >= 9 {
        response_code = number(part(parts - 2));
        content_size = size(part(parts - 1));
    }
    let protocol = if parts > 9 { init(part(7)) } else { "" };
    Some(Request { ip: part(0), method: rest(part(5)), endpoint, protocol, response_code, content_size })
}

fn find<'l>(line: &'l str, status: &memmem::FinderRev<'_>, date: &mut String) -> Option<Request<'l>> {
    let bytes = line.as_bytes();
    let request = match (memchr(b'"', bytes), memrchr(b'"', bytes)) {
        (Some(start), Some(end)) if start < end => &line[start + 1..end],
        _ => "",
    };
    let (method, after) = match memchr(b' ', request.as_bytes()) {
        Some(end) => (&request[..end], &request[end + 1..]),
        None => (request, ""),
    };
    let (endpoint, protocol) = match memchr(b' ', after.as_bytes()) {
        Some(end) => (&after[..end], &after[end + 1..]),
        None => (after, ""),
    };
    if endpoint.is_empty() {
        return None;
    }
    date.clear();
    if let Some(start) = memchr(b'[', bytes)
        && let Some(length) = memchr(b' ', &bytes[start..])
    {
        let day = &line[start + 1..start + length];
        match memchr(b':', day.as_bytes()) {
            Some(end) => date.extend([&day[..end], " ", &day[end + 1..]]),
            None => date.push_str(day),
        }
    }
    let status = status.rfind(bytes).map_or("", |end| &line[end + 2..]);
    let (code, bytes_sent) = match memchr(b' ', status.as_bytes()) {
        Some(end) => (&status[..end], &status[end + 1..]),
        None => (status, ""),
    };
    let ip = memchr(b' ', bytes).map_or(line, |end| &line[..end]);
    Some(Request { ip, method, endpoint, protocol, response_code: number(code), content_size: size(bytes_sent) })
}

fn matched<'l>(
    line: &'l str,
    pattern: &Regex,
    groups: &mut CaptureLocations,
    date: &mut String,
) -> Option<Request<'l>> {
    pattern.captures_read(groups, line)?;
    let group = |number: usize| groups.get(number).map_or("", |(start, end)| &line[start..end]);
    date.clear();
    match group(4).split_once(':') {
        Some((day, time)) => date.extend([day, " ", time]),
        None => date.push_str(group(4)),
    }
    Some(Request {
        ip: group(1),
        method: group(5),
        endpoint: group(6),
        protocol: group(7),
        response_code: number(group(8)),
        content_size: size(group(9)),
    })
}

fn append_anonymous(endpoint: &str, out: &mut StringViewBuilder) {
    let Some(user) = endpoint.strip_prefix("/~") else {
        out.append_value(endpoint);
        return;
    };
    let end = memchr(b'/', user.as_bytes()).unwrap_or(user.len());
    let mut code =
        user[..end].chars().fold(5381u64, |code, letter| (code * 33 + u64::from(u32::from(letter))) % (1 << 32));
    let mut name = String::with_capacity(12 + user.len() - end);
    name.push_str("/~");
    for _ in 0..10 {
        name.push(char::from(65 + (code % 26) as u8));
        code = (code * 1_103_515_245 + 12345) % (1 << 32);
    }
    name.push_str(&user[end..]);
    out.append_value(name);
}
