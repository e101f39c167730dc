//! An OpenCL device: found by name, builds programs, runs them.

use crate::loader;
use crate::program::{ARENA, Argument, Given, LARGEST_ARENA, Program};
use arrow::array::ArrayRef;
use ocl::core::{
    self, ArgVal, CommandQueue, Context, ContextProperties, DeviceId, DeviceInfo, DeviceInfoResult, DeviceType, Event,
    Kernel, Mem, MemFlags, PlatformId,
};
use ocl::ffi;
use std::collections::HashMap;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A device that computes with floats of 64 bits.
#[derive(Debug)]
pub struct Device {
    name: String,
    is_cpu: bool,
    id: DeviceId,
    context: Context,
}

/// A program that was built for a device.
#[derive(Debug)]
pub struct Built {
    device: Arc<Device>,
    program: core::Program,
    /// What calls that are over have left for the next ones.
    lanes: Mutex<Vec<Lane>>,
    /// Words of the arena that a row may take.
    room: AtomicUsize,
}

/// What one call at a time needs.
#[derive(Debug)]
struct Lane {
    queue: CommandQueue,
    kernel: Kernel,
    /// The kernel that puts the elements of lists together, where results are lists.
    gather: Option<Kernel>,
    tables: Mem,
    /// By position among the arguments, with their bytes.
    buffers: Vec<(usize, Mem)>,
}

/// What a device made of a batch.
#[derive(Debug)]
pub struct Ran {
    /// A value for each row; NULL for those that left.
    pub values: ArrayRef,
    /// The rows that left, which the host does again.
    pub left: Vec<u32>,
}

/// Bytes of the arena of one launch.
const MOST_ARENA: usize = 1 << 28;

/// Rows of one launch, which nothing interrupts: about as many as run side by side on a large device.
const MOST: usize = 1 << 17;

/// The same on a processor, which runs them one after the other.
const MOST_ON_CPU: usize = 1 << 9;

/// Bits of `CL_DEVICE_DOUBLE_FP_CONFIG` that a device must have: denormals, infinities and NaN,
/// rounding to the nearest, one rounding in `fma`.
const EXACT: u64 = 0x01 | 0x02 | 0x04 | 0x20;

/// The same of floats of 32 bits, which are only loaded and stored: denormals.
const DENORMALS: u64 = 0x01;

/// `CL_DEVICE_DOUBLE_FP_CONFIG` and `CL_DEVICE_SINGLE_FP_CONFIG`.
const CONFIGS: [(u32, u64); 2] = [(0x1032, EXACT), (0x101B, DENORMALS)];

type Result<T> = std::result::Result<T, String>;

impl Device {
    /// The device whose name holds a text, in whatever case; of several, and for no text, one that is
    /// no processor, with the most compute units. A processor is taken only where its name is asked
    /// for or `cpus` are allowed.
    ///
    /// # Errors
    /// Why there is none.
    pub fn find(name: &str, cpus: bool) -> Result<Arc<Device>> {
        type Found = Mutex<HashMap<(String, bool), Result<Arc<Device>>>>;
        static FOUND: OnceLock<Found> = OnceLock::new();
        let mut found = FOUND.get_or_init(Found::default).lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_lowercase(), cpus);
        found.entry(key).or_insert_with(|| guarded(|| look(name, cpus))).clone()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a processor, which runs native code at least as fast.
    #[must_use]
    pub fn is_cpu(&self) -> bool {
        self.is_cpu
    }

    /// Builds a program.
    ///
    /// # Errors
    /// What the device's compiler says.
    pub fn build(self: &Arc<Self>, program: &Program) -> Result<Built> {
        guarded(|| {
            let text = CString::new(program.text.as_str()).map_err(shown)?;
            let built = core::create_program_with_source(&self.context, &[text]).map_err(shown)?;
            let options = CString::new("-cl-std=CL1.2 -w").map_err(shown)?;
            core::build_program(&built, Some(&[self.id]), &options, None, None).map_err(shown)?;
            let (lanes, room) = (Mutex::default(), AtomicUsize::new(ARENA));
            Ok(Built { device: Arc::clone(self), program: built, lanes, room })
        })
    }
}

/// What went wrong, in its first lines.
fn shown(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(6).collect();
    lines.join(" ").chars().take(600).collect()
}

/// Some of the bindings panic where a driver says something new.
fn guarded<R>(run: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("the OpenCL driver gave an unknown answer".to_string()))
}

fn look(name: &str, cpus: bool) -> Result<Arc<Device>> {
    if let Some(error) = loader::missing() {
        return Err(format!("no OpenCL: {error}"));
    }
    let mut best: Option<(bool, u32, PlatformId, DeviceId, String)> = None;
    let mut others = Vec::new();
    for platform in platforms()? {
        for id in core::get_device_ids(platform, Some(DeviceType::ALL), None).unwrap_or_default() {
            let Ok(full) = core::get_device_info(id, DeviceInfo::Name) else { continue };
            let full = full.to_string().trim().to_string();
            let is_cpu = matches!(
                core::get_device_info(id, DeviceInfo::Type),
                Ok(DeviceInfoResult::Type(kind)) if kind.contains(DeviceType::CPU)
            );
            let named = !name.is_empty() && full.to_lowercase().contains(&name.to_lowercase());
            if !named && (!name.is_empty() || (is_cpu && !cpus)) {
                others.push(full);
                continue;
            }
            if !is_exact(id) {
                others.push(format!("{full} (which lacks exact floats of 64 bits)"));
                continue;
            }
            let units = match core::get_device_info(id, DeviceInfo::MaxComputeUnits) {
                Ok(DeviceInfoResult::MaxComputeUnits(units)) => units,
                _ => 0,
            };
            if best.as_ref().is_none_or(|(other, most, ..)| (!is_cpu, units) > (*other, *most)) {
                best = Some((!is_cpu, units, platform, id, full));
            }
        }
    }
    let Some((is_other, _, platform, id, name)) = best else {
        let others = if others.is_empty() { String::new() } else { format!("; there is {}", others.join(", ")) };
        return Err(format!("no such OpenCL device{others}"));
    };
    let properties = ContextProperties::new().platform(platform);
    let context = core::create_context(Some(&properties), &[id], None, None).map_err(shown)?;
    Ok(Arc::new(Device { name, is_cpu: !is_other, id, context }))
}

/// The platforms: what the bindings have for that waits for ten seconds where there are none.
fn platforms() -> Result<Vec<PlatformId>> {
    let mut count = 0;
    // SAFETY: asked only how many there are.
    let status = unsafe { ffi::clGetPlatformIDs(0, std::ptr::null_mut(), &raw mut count) };
    if status != 0 || count == 0 {
        return Err("no OpenCL driver".to_string());
    }
    let mut ids: Vec<ffi::cl_platform_id> = vec![std::ptr::null_mut(); count as usize];
    // SAFETY: there is room for `count`.
    let status = unsafe { ffi::clGetPlatformIDs(count, ids.as_mut_ptr(), std::ptr::null_mut()) };
    if status != 0 {
        return Err(format!("no OpenCL driver (status {status})"));
    }
    // SAFETY: they are what OpenCL gave.
    Ok(ids.into_iter().filter(|id| !id.is_null()).map(|id| unsafe { PlatformId::from_raw(id) }).collect())
}

/// Whether its floats of 64 bits are those of IEEE 754.
fn is_exact(id: DeviceId) -> bool {
    CONFIGS.iter().all(|(config, wanted)| {
        let Ok(bytes) = core::get_device_info_raw(id, *config) else { return false };
        let bits = bytes.iter().take(8).enumerate().fold(0, |bits, (at, byte)| bits | u64::from(*byte) << (8 * at));
        bits & wanted == *wanted
    })
}

impl Built {
    /// Runs the program that it was built of over the rows of a batch, in pieces; between them it looks
    /// whether to `stop`. `None` if the arguments do not lie as the program takes them, or it stopped.
    ///
    /// # Errors
    /// What the driver says; nothing of the batch counts then.
    pub fn run(&self, program: &Program, args: &[ArrayRef], rows: usize, stop: &AtomicBool) -> Option<Result<Ran>> {
        if rows <= self.most(program) {
            return self.run_piece(program, args, rows);
        }
        let mut values = Vec::new();
        let mut left = Vec::new();
        let mut start = 0;
        while start < rows {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let count = self.most(program).min(rows - start);
            let piece: Vec<ArrayRef> = args.iter().map(|arg| arg.slice(start, count)).collect();
            match self.run_piece(program, &piece, count)? {
                Ok(ran) => {
                    values.push(ran.values);
                    left.extend(ran.left.into_iter().map(|row| row + start as u32));
                }
                Err(error) => return Some(Err(error)),
            }
            start += count;
        }
        let parts: Vec<&dyn arrow::array::Array> = values.iter().map(AsRef::as_ref).collect();
        let joined = arrow::compute::concat(&parts).map_err(shown);
        Some(joined.map(|values| Ran { values, left }))
    }

    /// The words of the arena for a row.
    fn room(&self, program: &Program) -> usize {
        if program.allocates() { self.room.load(Ordering::Relaxed) } else { 0 }
    }

    /// The rows of a launch.
    fn most(&self, program: &Program) -> usize {
        let most = if self.device.is_cpu { MOST_ON_CPU } else { MOST };
        match self.room(program) {
            0 => most,
            room => most.min(MOST_ARENA / (8 * room)),
        }
    }

    fn run_piece(&self, program: &Program, args: &[ArrayRef], rows: usize) -> Option<Result<Ran>> {
        let fuel = self.device.fuel();
        let output = program.run(args, rows, |tables, given| {
            guarded(|| {
                let lane = self.lanes.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let mut lane = lane.map_or_else(|| self.lane(program, tables), Ok)?;
                let room = self.room(program);
                let output = launch(&self.device, &mut lane, &Launch { program, room, fuel, given, rows })?;
                if room > 0 && room < LARGEST_ARENA && Program::wants_room(&output.states) {
                    self.room.fetch_max(8 * room, Ordering::Relaxed);
                }
                // One that failed is not used again.
                self.lanes.lock().unwrap_or_else(PoisonError::into_inner).push(lane);
                Ok(output)
            })
        })?;
        match output {
            Ok(given) => program.results(given).map(|(values, left)| Ok(Ran { values, left })),
            Err(error) => Some(Err(error)),
        }
    }

    fn lane(&self, program: &Program, tables: &[u64]) -> Result<Lane> {
        let device = &self.device;
        let queue = core::create_command_queue(&device.context, device.id, None).map_err(shown)?;
        let kernel = |name: &str| core::create_kernel(&self.program, name).map_err(shown);
        let gather = program.elements().map(|_| kernel("gather")).transpose()?;
        let kernel = kernel("rows")?;
        let none = [0];
        let data = if tables.is_empty() { &none } else { tables };
        let flags = MemFlags::READ_WRITE | MemFlags::COPY_HOST_PTR;
        // SAFETY: the device copies the words during the call.
        let tables = unsafe { core::create_buffer(&device.context, flags, data.len(), Some(data)) }.map_err(shown)?;
        Ok(Lane { queue, kernel, gather, tables, buffers: Vec::new() })
    }
}

/// What a launch takes.
struct Launch<'l> {
    program: &'l Program,
    /// Words of the arena for a row.
    room: usize,
    fuel: u32,
    given: &'l [Argument],
    rows: usize,
}

/// Gives the results and the states of the rows.
fn launch(device: &Device, lane: &mut Lane, launch: &Launch<'_>) -> Result<Given> {
    let rows = launch.rows;
    let mut given = Given { values: vec![0; rows * launch.program.width()], states: vec![0; rows], ..Given::default() };
    let done = guarded(|| {
        enqueue(device, lane, launch, &mut given.values, &mut given.states)?;
        gathered(device, lane, launch, &mut given)
    });
    if done.is_err() {
        // What was enqueued before reads and writes what is freed here.
        drop(core::finish(&lane.queue));
    }
    done.map(|()| given)
}

/// Makes buffers of these sizes, from a position among the arguments on, where those that are there are smaller.
fn make_room(device: &Device, buffers: &mut Vec<(usize, Mem)>, first: usize, sizes: &[usize]) -> Result<()> {
    for (at, bytes) in (first..).zip(sizes) {
        let wanted = (*bytes).max(1).next_power_of_two();
        if buffers.get(at).is_some_and(|(room, _)| *room >= wanted) {
            continue;
        }
        // SAFETY: nothing is copied.
        let buffer = unsafe { core::create_buffer::<_, u8>(&device.context, MemFlags::READ_WRITE, wanted, None) };
        let buffer = (wanted, buffer.map_err(shown)?);
        match buffers.get_mut(at) {
            Some(place) => *place = buffer,
            None => buffers.push(buffer),
        }
    }
    Ok(())
}

/// How many buffers arguments take.
fn count(given: &[Argument]) -> usize {
    given.iter().filter(|argument| matches!(argument, Argument::Bytes(_))).count()
}

/// Runs the rows of the states.
fn enqueue(device: &Device, lane: &mut Lane, launch: &Launch<'_>, values: &mut [u8], states: &mut [u8]) -> Result<()> {
    let Launch { room, fuel, given, rows, .. } = *launch;
    // The arena, the results and the states behind the arguments.
    let sizes: Vec<usize> = given
        .iter()
        .filter_map(|argument| match argument {
            Argument::Bytes(bytes) => Some(bytes.len()),
            Argument::Word(_) => None,
        })
        .chain([8 * room * rows, values.len(), states.len()])
        .collect();
    make_room(device, &mut lane.buffers, 0, &sizes)?;
    let Lane { queue, kernel, tables, buffers, .. } = lane;
    let [.., (_, arena), (_, out), (_, state)] = &buffers[..sizes.len()] else {
        return Err("a kernel without buffers".to_string());
    };
    let mut at = 0;
    let mut set = |value: ArgVal<'_>| {
        at += 1;
        core::set_kernel_arg(kernel, at - 1, value).map_err(shown)
    };
    set(ArgVal::scalar(&(rows as u64)))?;
    set(ArgVal::scalar(&fuel))?;
    set(ArgVal::mem(tables))?;
    set(ArgVal::mem(arena))?;
    set(ArgVal::scalar(&(room as u64)))?;
    let mut next = buffers.iter();
    for argument in given {
        match argument {
            Argument::Bytes(bytes) => {
                let (_, buffer) = next.next().ok_or("a kernel without buffers")?;
                if !bytes.is_empty() {
                    // SAFETY: the bytes live until the blocking read below, before which the
                    // queue, which keeps its order, has copied them; where something fails, the
                    // caller waits for the queue.
                    unsafe {
                        core::enqueue_write_buffer(queue, buffer, false, 0, bytes.as_slice(), NO_EVENTS, NO_EVENT)
                    }
                    .map_err(shown)?;
                }
                set(ArgVal::mem(buffer))?;
            }
            Argument::Word(word) => set(ArgVal::scalar(word))?,
        }
    }
    set(ArgVal::mem(out))?;
    set(ArgVal::mem(state))?;
    // SAFETY: the arguments are those of the kernel, which looks at no row from `rows` on; each
    // buffer has room for what the kernel reads and writes of it.
    unsafe { core::enqueue_kernel(queue, kernel, 1, None, &items(rows), None, NO_EVENTS, NO_EVENT) }.map_err(shown)?;
    // SAFETY: both reads end before anybody looks at what they write: the second blocks, and the
    // queue keeps its order. Where something fails, the caller waits for the queue.
    unsafe {
        core::enqueue_read_buffer(queue, out, false, 0, values, NO_EVENTS, NO_EVENT).map_err(shown)?;
        core::enqueue_read_buffer(queue, state, true, 0, states, NO_EVENTS, NO_EVENT).map_err(shown)?;
    }
    Ok(())
}

/// Puts the elements of the lists that the rows gave one after the other, and takes them from the device.
fn gathered(device: &Device, lane: &mut Lane, launch: &Launch<'_>, given: &mut Given) -> Result<()> {
    let Some((width, optional)) = launch.program.elements() else { return Ok(()) };
    given.starts = Program::starts(&given.values, &given.states);
    let elements = given.starts.last().map_or(0, |end| *end as usize);
    let first = count(launch.given);
    let sizes = [8 * given.starts.len(), elements * width, if optional { elements } else { 0 }];
    make_room(device, &mut lane.buffers, first + 3, &sizes)?;
    given.elements = vec![0; elements * width];
    given.valid = vec![0; sizes[2]];
    if elements == 0 {
        return Ok(());
    }
    let Lane { queue, gather, buffers, .. } = lane;
    let (Some(kernel), [(_, arena), (_, out), _, (_, starts), (_, values), (_, valid), ..]) =
        (gather, &buffers[first..])
    else {
        return Err("a kernel without buffers".to_string());
    };
    // SAFETY: the starts live until the blocking read below; where something fails, the caller waits.
    unsafe { core::enqueue_write_buffer(queue, starts, false, 0, &given.starts, NO_EVENTS, NO_EVENT) }
        .map_err(shown)?;
    let mut at = 0;
    let mut set = |value: ArgVal<'_>| {
        at += 1;
        core::set_kernel_arg(kernel, at - 1, value).map_err(shown)
    };
    set(ArgVal::scalar(&(launch.rows as u64)))?;
    set(ArgVal::mem(arena))?;
    set(ArgVal::scalar(&(launch.room as u64)))?;
    set(ArgVal::mem(out))?;
    set(ArgVal::mem(starts))?;
    set(ArgVal::mem(values))?;
    if optional {
        set(ArgVal::mem(valid))?;
    }
    // SAFETY: the arguments are those of the kernel, which looks at no row from `rows` on; the elements lie
    // where the rows said, and there is room for as many as all of them have.
    unsafe {
        core::enqueue_kernel(queue, kernel, 1, None, &items(launch.rows), None, NO_EVENTS, NO_EVENT).map_err(shown)?;
        if optional {
            core::enqueue_read_buffer(queue, valid, false, 0, &mut given.valid, NO_EVENTS, NO_EVENT).map_err(shown)?;
        }
        core::enqueue_read_buffer(queue, values, true, 0, &mut given.elements, NO_EVENTS, NO_EVENT).map_err(shown)?;
    }
    Ok(())
}

/// The work items for so many rows.
fn items(rows: usize) -> [usize; 3] {
    [rows.next_multiple_of(64), 1, 1]
}

const NO_EVENTS: Option<&Event> = None;
const NO_EVENT: Option<&mut Event> = None;

impl Device {
    /// Rounds of loops and calls that a row may take in a launch, which nothing interrupts. A
    /// processor runs the rows one after the other.
    fn fuel(&self) -> u32 {
        if self.is_cpu { 1 << 16 } else { 1 << 22 }
    }
}
