//! The settings under `exuvia.`, as a DataFusion configuration extension, so that SET,
//! SHOW and a session's builder reach them as they reach DataFusion's own. RESET does not;
//! [`crate::ExuviaSession`] sees to it.
//!
//! What the host of a session sets by the methods of [`ExuviaOptions`] is a ceiling: SQL
//! can tighten it and never loosen it, because a host sets it for texts that it does not
//! trust. An interpreter that is off stays off, and faults are injected only where the
//! host allows them.

use crate::planning::inline::Inline;
use crate::planning::query::{Queries, Query};
use crate::running::routines::Routines;
use datafusion::common::config::{ConfigEntry, ConfigExtension, ExtensionOptions};
use datafusion::common::{Result, config_err};
use datafusion::config::ConfigOptions;
use datafusion::prelude::SessionContext;
use exuvia_engine::chain::Loops;
use exuvia_engine::interpreter::{OwnProcess, PrintSink, PythonMemory};
use exuvia_engine::{Invocation, Offload, Settings};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The settings of a session.
///
/// ```
/// use datafusion::prelude::SessionConfig;
/// use exuvia::{ExuviaOptions, ExuviaSession};
///
/// // A session that never runs CPython, whatever its SQL says.
/// let config = SessionConfig::new().with_option_extension(ExuviaOptions::default().without_interpreter());
/// let session = ExuviaSession::new_with_config(config);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ExuviaOptions {
    pub(crate) settings: Settings,
    pub(crate) timeout: Option<Duration>,
    pub(crate) ceilings: Ceilings,
    /// Whether calls may become expressions of SQL.
    pub(crate) inline: Inline,
    /// Whether filters and projections around calls are not joined.
    pub(crate) apart: bool,
    /// The session's functions of other kinds than a row's.
    pub(crate) routines: Arc<Routines>,
    /// The native loops of the session.
    pub(crate) loops: Arc<Loops>,
    /// The queries of the session that run, to cancel them.
    pub(crate) queries: Arc<Queries>,
    /// The query for which this copy of the options was made. Without one nothing runs
    /// yet: DataFusion plans, and what is called then folds constants.
    pub(crate) query: Option<Arc<Query>>,
}

/// What SQL cannot go beyond.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ceilings {
    timeout: Option<Duration>,
    row_memory: Option<usize>,
    worker_memory: Option<usize>,
    python_memory: Option<u64>,
    faults: bool,
    no_devices: bool,
    no_interpreter: bool,
}

/// The bytes that SQL may let a row take where the host has set no limit.
const MOST_ROW_MEMORY: usize = 16 << 30;

/// The bytes that a worker may always map: Python itself takes that much.
pub const LEAST_WORKER_MEMORY: usize = 64 << 20;

impl ExuviaOptions {
    /// The same with the interpreter off: what cannot be lifted is refused. The memory of a
    /// row is then limited to what it is now, too.
    #[must_use]
    pub fn without_interpreter(mut self) -> Self {
        self.settings.interpreter = false;
        self.ceilings.no_interpreter = true;
        let row_memory = self.settings.row_memory;
        self.with_row_memory(row_memory)
    }

    /// The same with CPython in a process of the session's own, which may map so many bytes of
    /// memory, at least [`LEAST_WORKER_MEMORY`]: a function that crashes it, ends it or takes all
    /// of that fails its query and nothing else. It costs a copy of each batch and of each result.
    #[must_use]
    pub fn with_worker(mut self, memory: Option<usize>) -> Self {
        let memory = memory.map(|bytes| bytes.max(LEAST_WORKER_MEMORY));
        self.settings.worker = Some(OwnProcess::new(memory));
        self.ceilings.worker_memory = memory;
        self
    }

    /// The same with a limit on the bytes that all of Python's objects in its process may take
    /// together, which is three quarters of the machine's memory otherwise: beyond it Python
    /// raises MemoryError. SQL can set a smaller one only.
    #[must_use]
    pub fn with_python_memory(mut self, bytes: u64) -> Self {
        self.settings.python_memory = PythonMemory::Bytes(bytes);
        self.ceilings.python_memory = Some(bytes);
        self
    }

    /// The same with a limit on the time that a query's calls may take together. SQL can set
    /// a shorter one only; without a limit it can set any.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self.ceilings.timeout = timeout;
        self
    }

    /// The same with a limit on the bytes that the temporaries of one row may take. SQL can
    /// set a smaller one only.
    ///
    /// ```
    /// # use exuvia::ExuviaOptions;
    /// let options = ExuviaOptions::default().with_row_memory(16 << 20);
    /// ```
    #[must_use]
    pub fn with_row_memory(mut self, bytes: usize) -> Self {
        self.settings.row_memory = bytes;
        self.ceilings.row_memory = Some(bytes);
        self
    }

    /// The same without OpenCL devices: no driver is loaded, whatever SQL says.
    #[must_use]
    pub fn without_devices(mut self) -> Self {
        self.settings.offload = Offload::Off;
        self.ceilings.no_devices = true;
        self
    }

    /// The same where SQL may set `exuvia.fault`, to test what happens then.
    #[must_use]
    pub fn with_faults(mut self) -> Self {
        self.ceilings.faults = true;
        self
    }

    /// The same with another place where functions that run in CPython print; without one
    /// they print to standard output. It is given the text of a row once the row has ended,
    /// on the thread that ran it, and must not run queries of its own.
    ///
    /// ```
    /// # use exuvia::ExuviaOptions;
    /// let options = ExuviaOptions::default().with_print(|text| eprint!("{text}"));
    /// ```
    #[must_use]
    pub fn with_print(mut self, print: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.settings.print = PrintSink::new(print);
        self
    }

    /// The circumstances of a call of the query, which may have a time limit of its own.
    pub(crate) fn invocation(&self, own: Option<Duration>) -> Invocation {
        let own = own.and_then(|timeout| Instant::now().checked_add(timeout));
        let query = self.query.as_deref();
        let deadlines = [own, query.and_then(|query| query.deadline(self.timeout))];
        Invocation {
            cancelled: query.map(|query| Arc::clone(&query.cancelled)).unwrap_or_default(),
            deadline: deadlines.into_iter().flatten().min(),
            without_python: false,
        }
    }

    /// The engine's settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The options in a configuration, or the defaults where the plugin is not installed.
    #[must_use]
    pub fn of(config: &ConfigOptions) -> ExuviaOptions {
        let mut options = config.extensions.get::<ExuviaOptions>().cloned().unwrap_or_default();
        options.settings.threads = config.execution.target_partitions;
        options
    }

    /// The options of a session. The session's whole state would be copied with all its functions.
    pub(crate) fn of_session(ctx: &SessionContext) -> ExuviaOptions {
        ExuviaOptions::of(ctx.state_ref().read().config_options())
    }

    /// Gives a setting its default again, as far as SET may.
    pub(crate) fn reset(&mut self, key: &str) -> Result<()> {
        let name = format!("{}.{key}", Self::PREFIX);
        let mut initial = ExuviaOptions { timeout: self.ceilings.timeout, ..ExuviaOptions::default() };
        if self.ceilings.no_devices {
            initial = initial.without_devices();
        }
        initial.settings.interpreter = !self.ceilings.no_interpreter;
        initial.settings.row_memory = self.ceilings.row_memory.unwrap_or(initial.settings.row_memory);
        if let Some(most) = self.ceilings.python_memory {
            initial.settings.python_memory = PythonMemory::Bytes(most);
        }
        if self.settings.worker.is_some() {
            initial.settings.worker = Some(OwnProcess::new(self.ceilings.worker_memory));
        }
        match initial.entries().into_iter().find(|entry| entry.key == name) {
            Some(ConfigEntry { value: Some(value), .. }) => self.set(key, &value),
            _ => config_err!("there is no setting {name}"),
        }
    }
}

impl ConfigExtension for ExuviaOptions {
    const PREFIX: &'static str = "exuvia";
}

impl ExtensionOptions for ExuviaOptions {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "native" => self.settings.native = switch(key, value)?,
            "optimize" => self.settings.optimize = switch(key, value)?,
            "lift" => self.settings.lift = switch(key, value)?,
            "inline" => self.inline = if switch(key, value)? { Inline::Auto } else { Inline::Off },
            "fuse" => self.apart = !switch(key, value)?,
            "exact" => {
                self.settings.exact = match value {
                    "strict" => true,
                    "bounded" => false,
                    _ => return config_err!("exuvia.exact is 'strict' or 'bounded', not '{value}'"),
                };
            }
            "memoize" => self.settings.memoize = switch(key, value)?,
            "offload" => {
                self.settings.offload = match value.to_ascii_lowercase().as_str() {
                    "off" => Offload::Off,
                    "auto" | "force" if self.ceilings.no_devices => {
                        return config_err!("exuvia.offload is off in this session and cannot be switched on");
                    }
                    "auto" => Offload::Auto,
                    "force" => Offload::Force,
                    _ => return config_err!("exuvia.offload is 'auto', 'off' or 'force', not '{value}'"),
                };
            }
            "device" if value.eq_ignore_ascii_case("any") => self.settings.device.clear(),
            "device" => self.settings.device = value.to_string(),
            "interpreter" => match value.to_ascii_lowercase().as_str() {
                "off" => self.settings.interpreter = false,
                "worker" if self.settings.interpreter => {
                    self.settings.worker.get_or_insert_with(|| OwnProcess::new(None));
                }
                "auto" if self.settings.interpreter && self.settings.worker.is_none() => {}
                "auto" if self.settings.interpreter => {
                    return config_err!("exuvia.interpreter is 'worker' in this session, which only 'off' can follow");
                }
                "auto" | "worker" => {
                    return config_err!("exuvia.interpreter is off in this session and cannot be switched on");
                }
                _ => return config_err!("exuvia.interpreter is 'auto', 'worker' or 'off', not '{value}'"),
            },
            "worker_memory" => {
                let memory = match parse_bytes(value) {
                    Some(bytes) => Some(bytes),
                    None if matches!(value.to_ascii_lowercase().as_str(), "off" | "none" | "0") => None,
                    None => {
                        return config_err!(
                            "exuvia.worker_memory is a number of bytes such as 4GB or off, not '{value}'"
                        );
                    }
                };
                if memory.is_some_and(|bytes| bytes < LEAST_WORKER_MEMORY) {
                    return config_err!(
                        "exuvia.worker_memory is at least 64MB, which Python itself takes, not {value}"
                    );
                }
                if let Some(most) = self.ceilings.worker_memory
                    && memory.is_none_or(|memory| memory > most)
                {
                    return config_err!("exuvia.worker_memory is at most {most} in this session, not {value}");
                }
                match &self.settings.worker {
                    Some(process) if process.memory() == memory => {}
                    Some(_) => self.settings.worker = Some(OwnProcess::new(memory)),
                    None => return config_err!("exuvia.worker_memory is for exuvia.interpreter = 'worker'"),
                }
            }
            "python_memory" => {
                let memory = match (parse_bytes(value), value.to_ascii_lowercase().as_str()) {
                    (_, "auto") => PythonMemory::Auto,
                    (_, "off" | "none" | "0") => PythonMemory::Unlimited,
                    (Some(bytes), _) => PythonMemory::Bytes(bytes as u64),
                    (None, _) => {
                        return config_err!(
                            "exuvia.python_memory is a number of bytes such as 4GB, auto or off, not '{value}'"
                        );
                    }
                };
                match (memory, self.ceilings.python_memory) {
                    (PythonMemory::Bytes(bytes), _) if bytes < LEAST_WORKER_MEMORY as u64 => {
                        return config_err!(
                            "exuvia.python_memory is at least 64MB, which Python itself takes, not {value}"
                        );
                    }
                    (PythonMemory::Bytes(bytes), Some(most)) if bytes <= most => {}
                    (_, Some(most)) => {
                        return config_err!("exuvia.python_memory is at most {most} in this session, not {value}");
                    }
                    (_, None) => {}
                }
                self.settings.python_memory = memory;
            }
            "row_memory" => {
                let Some(bytes) = parse_bytes(value) else {
                    return config_err!("exuvia.row_memory is a number of bytes such as 64MB, not '{value}'");
                };
                let most = self.ceilings.row_memory.unwrap_or(MOST_ROW_MEMORY);
                if bytes > most {
                    return config_err!("exuvia.row_memory is at most {most} in this session, not {value}");
                }
                self.settings.row_memory = bytes;
            }
            "timeout" => {
                let none = matches!(value.to_ascii_lowercase().as_str(), "" | "off" | "none" | "0");
                let timeout = match parse_duration(value) {
                    _ if none => None,
                    Some(timeout) => Some(timeout),
                    None => return config_err!("exuvia.timeout is a time such as 30s or off, not '{value}'"),
                };
                if let Some(most) = self.ceilings.timeout
                    && timeout.is_none_or(|timeout| timeout > most)
                {
                    let most = show_duration(most);
                    return config_err!("exuvia.timeout is at most {most} in this session, not {value}");
                }
                self.timeout = timeout;
            }
            "fault" if !self.ceilings.faults && !matches!(value, "off" | "none" | "") => {
                return config_err!("exuvia.fault is for tests, and the host of this session does not allow it");
            }
            "fault" => match value.to_ascii_lowercase().as_str() {
                fault @ ("guards" | "compile" | "memoize" | "loops" | "calls" | "wide" | "turns" | "") => {
                    self.settings.fault = fault.to_string()
                }
                "off" | "none" => self.settings.fault.clear(),
                _ => {
                    return config_err!(
                        "exuvia.fault is 'guards', 'compile', 'memoize', 'loops', 'calls', 'wide', 'turns' or 'off', not '{value}'"
                    );
                }
            },
            _ => return config_err!("there is no setting exuvia.{key}"),
        }
        Ok(())
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        let on = |on: bool| if on { "on" } else { "off" }.to_string();
        let settings = &self.settings;
        let entry = |key: &str, value: String, description: &'static str| ConfigEntry {
            key: format!("{}.{key}", Self::PREFIX),
            value: Some(value),
            description,
        };
        vec![
            entry("native", on(settings.native), "Whether functions are compiled to native code"),
            entry("optimize", on(settings.optimize), "Whether lifted functions are optimised"),
            entry("lift", on(settings.lift), "Whether functions are lifted; off: all run in CPython"),
            entry("inline", on(self.inline == Inline::Auto), "Whether calls may become expressions of SQL"),
            entry("fuse", on(!self.apart), "Whether filters and projections around calls become one operator"),
            entry(
                "exact",
                if settings.exact { "strict" } else { "bounded" }.to_string(),
                "Whether what NumPy computes to a bound only (dot, @, norm) is left to it",
            ),
            entry(
                "offload",
                match settings.offload {
                    Offload::Auto => "auto",
                    Offload::Off => "off",
                    Offload::Force => "force",
                }
                .to_string(),
                "Whether batches run on an OpenCL device: where that is measured to be faster (auto), wherever possible (force) or never (off)",
            ),
            entry(
                "device",
                if settings.device.is_empty() { "any" } else { &settings.device }.to_string(),
                "A part of the name of that device; any: one that is no processor",
            ),
            entry("memoize", on(settings.memoize), "Whether equal arguments of a batch may be called once"),
            entry(
                "interpreter",
                match (settings.interpreter, &settings.worker) {
                    (false, _) => "off",
                    (true, Some(_)) => "worker",
                    (true, None) => "auto",
                }
                .to_string(),
                "Whether CPython may run what cannot be lifted, in this process (auto) or one of its own (worker); cannot be taken back",
            ),
            entry(
                "worker_memory",
                settings
                    .worker
                    .as_ref()
                    .and_then(OwnProcess::memory)
                    .map_or("off".to_string(), |bytes| bytes.to_string()),
                "Bytes of memory that the process of exuvia.interpreter = 'worker' may map",
            ),
            entry(
                "python_memory",
                match settings.python_memory {
                    PythonMemory::Auto => "auto".to_string(),
                    PythonMemory::Unlimited => "off".to_string(),
                    PythonMemory::Bytes(bytes) => bytes.to_string(),
                },
                "Bytes that all of Python's objects in its process may take; auto: three quarters of the machine's memory",
            ),
            entry("row_memory", settings.row_memory.to_string(), "Bytes that the temporaries of one row may take"),
            entry(
                "timeout",
                self.timeout.map_or("off".to_string(), show_duration),
                "Time that the Python calls of one query may take together",
            ),
            entry(
                "fault",
                if settings.fault.is_empty() { "off".to_string() } else { settings.fault.clone() },
                "For tests: take every guard ('guards') or fail every compilation ('compile')",
            ),
        ]
    }
}

fn switch(key: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "true" | "1" | "yes" => Ok(true),
        "off" | "false" | "0" | "no" => Ok(false),
        _ => config_err!("exuvia.{key} is on or off, not '{value}'"),
    }
}

/// Reads `64MB`, `1 GiB`, `4096`. The units are powers of two, as in DataFusion's own
/// memory settings.
#[must_use]
pub fn parse_bytes(text: &str) -> Option<usize> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: usize = text[..digits].parse().ok()?;
    let shift = match text[digits..].trim() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return None,
    };
    number.checked_mul(1 << shift).filter(|&bytes| bytes > 0)
}

/// Reads `1.5s`, `200 ms`, `2min`, `1h`; a bare number counts seconds.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" | "sec" | "second" | "seconds" => 1.0,
        "m" | "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * unit).ok().filter(|duration| !duration.is_zero())
}

pub(crate) fn show_duration(duration: Duration) -> String {
    if duration.subsec_nanos() == 0 {
        format!("{}s", duration.as_secs())
    } else {
        format!("{}ms", duration.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_and_sizes() {
        assert_eq!(parse_duration("1s"), Some(Duration::from_secs(1)));
        assert_eq!(parse_duration("250 ms"), Some(Duration::from_millis(250)));
        assert_eq!(parse_duration("1.5"), Some(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2 min"), Some(Duration::from_secs(120)));
        assert_eq!(parse_duration("soon"), None);
        assert_eq!(parse_duration("0s"), None);
        assert_eq!(parse_bytes("64MB"), Some(64 << 20));
        assert_eq!(parse_bytes("1 GiB"), Some(1 << 30));
        assert_eq!(parse_bytes("-1"), None);
    }

    #[test]
    fn what_the_host_set_is_a_ceiling() {
        let mut options = ExuviaOptions::default();
        assert!(options.set("fault", "guards").is_err());
        options.set("row_memory", "1GB").expect("no ceiling");
        options.set("timeout", "1h").expect("no ceiling");
        let mut options = options.with_timeout(Some(Duration::from_secs(2))).with_row_memory(1 << 20).with_faults();
        for (key, value) in [("timeout", "off"), ("timeout", "3s"), ("row_memory", "2MB")] {
            assert!(options.set(key, value).is_err(), "{key} = {value}");
        }
        for (key, value) in [("timeout", "1s"), ("timeout", "2s"), ("row_memory", "1KB"), ("fault", "guards")] {
            options.set(key, value).expect("within the ceiling");
        }
        options.reset("row_memory").expect("back to the ceiling");
        options.reset("timeout").expect("back to the ceiling");
        assert_eq!(options.settings.row_memory, 1 << 20);
        assert_eq!(options.timeout, Some(Duration::from_secs(2)));
        let mut worker = ExuviaOptions::default().with_worker(Some(4 << 30));
        worker.set("python_memory", "1GB").expect("a number");
        assert_eq!(worker.settings.python_memory, PythonMemory::Bytes(1 << 30));
        worker.set("python_memory", "off").expect("a word");
        let mut bounded = ExuviaOptions::default().with_python_memory(1 << 30);
        for loosened in ["2GB", "off", "auto"] {
            assert!(bounded.set("python_memory", loosened).is_err());
        }
        bounded.set("python_memory", "512MB").expect("within the ceiling");
        bounded.reset("python_memory").expect("back to the ceiling");
        assert_eq!(bounded.settings.python_memory, PythonMemory::Bytes(1 << 30));
        assert!(worker.set("worker_memory", "off").is_err());
        assert!(worker.set("worker_memory", "1MB").is_err());
        worker.set("worker_memory", "1GB").expect("within the ceiling");
        worker.reset("worker_memory").expect("back to the ceiling");
        assert_eq!(worker.settings.worker.as_ref().and_then(OwnProcess::memory), Some(4 << 30));
        worker.reset("interpreter").expect("as it was");
        let mut trusted = ExuviaOptions::default().without_interpreter();
        assert!(trusted.set("row_memory", "1GB").is_err());
        assert!(ExuviaOptions::default().set("row_memory", "17GB").is_err());
    }

    #[test]
    fn sql_only_tightens() {
        let mut options = ExuviaOptions::default();
        options.set("interpreter", "auto").expect("still on");
        options.set("interpreter", "off").expect("off is tighter");
        assert!(options.set("interpreter", "auto").is_err());
        assert!(options.set("nothing", "on").is_err());
    }
}
