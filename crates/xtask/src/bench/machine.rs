//! On what the benchmark ran.

use std::process::Command;

/// Whether processes can be pinned to a core.
pub(super) fn can_pin() -> bool {
    Command::new("taskset").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The machine in one line: processor, cores, memory, system, and that processes have one
/// core each.
pub(super) fn describe() -> String {
    let pinned = if can_pin() { "each process pinned to one core" } else { "not pinned" };
    format!("{}; {pinned}", hardware())
}

/// Processor, cores, memory, system.
pub(super) fn hardware() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = cpu.lines().find(|line| line.starts_with(name))?;
        line.split(':').nth(1).map(|value| value.trim().to_string())
    };
    let model = field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_string());
    let family = field("cpu family").map(|family| format!(" (family {family})")).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        .map(|kilobytes| format!(", {} GiB", (kilobytes + (1 << 19)) >> 20))
        .unwrap_or_default();
    format!("{model}{family}, {cores} cores{memory}, {}", std::env::consts::OS)
}
