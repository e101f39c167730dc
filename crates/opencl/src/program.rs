//! A row function as a kernel's text, and the buffers that it takes and gives.

use crate::Unsupported;
use crate::print::{self, Printed};
use crate::slots::slots;
use arrow::array::{Array, ArrayData, ArrayRef, AsArray, BooleanArray, ListArray, make_array};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use exuvia_ir::{Module, Type};
use exuvia_jit::border;
use std::fmt::Write;
use std::sync::Arc;

/// Words of the arena that a row may take, until rows need more, and then.
pub(crate) const ARENA: usize = 1 << 10;
pub(crate) const LARGEST_ARENA: usize = 1 << 16;

/// What the device says of a row.
mod state {
    pub const LEFT: u8 = 0;
    pub const VALUE: u8 = 1;
    pub const NONE: u8 = 2;
    /// It left since its part of the arena was full.
    pub const FULL: u8 = 3;
}

/// A row function in OpenCL C.
#[derive(Debug)]
pub struct Program {
    /// The whole text.
    pub text: String,
    params: Vec<Param>,
    returns: DataType,
    strict: bool,
    allocates: bool,
    constants: Vec<u64>,
    /// Of a result that is a list, the bytes of an element and whether it may be NULL.
    elements: Option<(usize, bool)>,
}

/// What a launch gave.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// A value for each row; of lists, where in the row's arena it lies and how long it is.
    pub values: Vec<u8>,
    /// What became of each row.
    pub states: Vec<u8>,
    /// Of lists: where the elements of each row begin, the elements, and whether each is there.
    pub starts: Vec<u64>,
    pub elements: Vec<u8>,
    pub valid: Vec<u8>,
}

#[derive(Debug)]
struct Param {
    /// As it lies in memory.
    layout: DataType,
    nullable: bool,
    needed: bool,
    /// Of a list, whether elements may be NULL.
    elements: Option<bool>,
}

/// An argument of the kernel.
pub(crate) enum Argument {
    Bytes(Buffer),
    Word(u64),
}

/// The scalar in a device's memory.
fn scalar(ty: &DataType) -> Option<(&'static str, usize)> {
    Some(match ty {
        DataType::Int8 => ("char", 1),
        DataType::Int16 => ("short", 2),
        DataType::Int32 => ("int", 4),
        DataType::Int64 => ("long", 8),
        DataType::UInt8 => ("uchar", 1),
        DataType::UInt16 => ("ushort", 2),
        DataType::UInt32 => ("uint", 4),
        DataType::UInt64 => ("ulong", 8),
        DataType::Float32 => ("float", 4),
        DataType::Float64 => ("double", 8),
        DataType::Boolean => ("uchar", 1),
        _ => return None,
    })
}

impl Program {
    /// Prints function 0 of a module, the row function of [`exuvia_jit::Kernel::compile`], which has
    /// parameters and a result of these types.
    ///
    /// # Errors
    /// What of it a device does not have.
    pub fn new(module: &Module, params: &[DataType], returns: &DataType, strict: bool) -> Result<Program, Unsupported> {
        let Printed { text: functions, allocates, needed, constants, .. } = print::module(module)?;
        let entry = &module.functions[0];
        let types = entry.param_types();
        let returned = border::layout(returns);
        let list = match &returned {
            DataType::List(field) => Some(field.data_type()),
            _ => None,
        };
        let Some((result, width)) = scalar(list.unwrap_or(&returned)) else {
            return Err(Unsupported::new(format!("a result of type {returns}")));
        };
        let mut text = include_str!("device.cl").to_string();
        text.push_str(&functions);
        text.push_str(
            "kernel void rows(const ulong count, const uint fuel, global ulong *tables, global ulong *arena, \
             const ulong room",
        );
        let mut loads = String::new();
        let mut call = vec!["&item".to_string()];
        let mut makes_lists = allocates;
        let mut kept = Vec::new();
        for (at, ((declared, ty), needed)) in params.iter().zip(&types).zip(&needed).enumerate() {
            let layout = border::layout(declared);
            let nullable = matches!(ty, Type::Union(_));
            let mut elements = None;
            if *needed {
                elements = is_of(ty, &layout)?;
                let value = if let Some(optional) = elements {
                    makes_lists = true;
                    let width = 1 + u32::from(optional);
                    write!(text, ", global int *p{at}, global ulong *e{at}, const ulong s{at}")?;
                    write!(
                        loads,
                        "  list l{at} = allocate(&item, 3);\n  l{at}[0] = (ulong)(p{at}[row + 1] - p{at}[row]);\n  \
                         l{at}[1] = 0;\n  l{at}[2] = (ulong)(e{at} + {width} * ((ulong)p{at}[row] - s{at}));\n"
                    )?;
                    format!("l{at}")
                } else {
                    let Some((name, _)) = scalar(&layout) else {
                        return Err(Unsupported::new(format!("an argument of type {declared}")));
                    };
                    write!(text, ", global const {name} *p{at}")?;
                    match layout {
                        DataType::Boolean => {
                            write!(text, ", const ulong p{at}_bit")?;
                            format!("bit_of(p{at}, p{at}_bit + row)")
                        }
                        DataType::Float32 | DataType::Float64 => format!("(double)p{at}[row]"),
                        DataType::UInt64 => {
                            writeln!(loads, "  if ((long)p{at}[row] < 0) return;")?;
                            format!("(long)p{at}[row]")
                        }
                        _ => format!("(long)p{at}[row]"),
                    }
                };
                if nullable {
                    write!(text, ", global const uchar *n{at}, const ulong n{at}_bit")?;
                    call.push(format!("(long)(n{at}_bit == ~0UL ? 1 : bit_of(n{at}, n{at}_bit + row))"));
                }
                call.push(value);
            } else {
                call.extend(slots(ty)?.iter().map(|slot| slot.zero().to_string()));
            }
            kept.push(Param { layout, nullable, needed: *needed, elements });
        }
        text.push_str(", global const uchar *strict, const ulong strict_bit");
        let found = result_slots(&entry.ret, &returned)?;
        let mut slots_of = String::new();
        for (at, slot) in slots(&entry.ret)?.iter().enumerate() {
            writeln!(slots_of, "  {} r{at} = {};", slot.name(), slot.zero())?;
            call.push(format!("&r{at}"));
        }
        let store = match (&found.value, found.element) {
            (None, _) => String::new(),
            (Some(value), None) => {
                format!(
                    "{}  out[row] = {};\n",
                    leaves_unless(&returned, value, result),
                    stored(&returned, value, result)
                )
            }
            (Some(value), Some(optional)) => store_list(list.unwrap_or(&returned), value, result, optional),
        };
        makes_lists |= list.is_some();
        let none = found.tag.map(|tag| format!("  if ({tag}) {{ state[row] = {}; return; }}\n", state::NONE));
        let out = if list.is_some() { "ulong" } else { result };
        write!(
            text,
            ", global {out} *out, global uchar *state) {{\n  const size_t row = get_global_id(0);\n  \
             if (row >= count) return;\n  state[row] = {};\n  \
             if (strict_bit != ~0UL && !bit_of(strict, strict_bit + row)) {{ state[row] = {}; return; }}\n  \
             struct item item = {{ fuel, tables, arena + row * room, 0, room }};\n{loads}{slots_of}  \
             const uint left = f0({});\n  if (left != 0) {{ if (left == FULL) state[row] = {}; return; }}\n{}{store}  \
             state[row] = {};\n}}\n",
            state::LEFT,
            state::NONE,
            call.join(", "),
            state::FULL,
            none.unwrap_or_default(),
            state::VALUE
        )?;
        let elements = list.zip(found.element).map(|(_, optional)| (width, optional));
        if let Some((ty, optional)) = list.zip(found.element) {
            text.push_str(&gather(ty, result, optional));
        }
        let returns = returns.clone();
        Ok(Program { text, params: kept, returns, strict, allocates: makes_lists, constants, elements })
    }

    /// Of a result that is a list, the bytes of an element and whether it may be NULL.
    pub(crate) fn elements(&self) -> Option<(usize, bool)> {
        self.elements
    }

    /// Where the elements of each row of lists go, and behind the last how many there are.
    pub(crate) fn starts(values: &[u8], states: &[u8]) -> Vec<u64> {
        let words = values.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()));
        let mut starts = vec![0];
        let mut end = 0;
        for (word, is) in words.zip(states) {
            end += if *is == state::VALUE { word & u64::from(u32::MAX) } else { 0 };
            starts.push(end);
        }
        starts
    }

    /// Whether many rows left since their parts of the arena were full.
    pub(crate) fn wants_room(states: &[u8]) -> bool {
        states.iter().filter(|is| **is == state::FULL).count() * 8 > states.len()
    }

    /// Whether rows take parts of the arena.
    pub(crate) fn allocates(&self) -> bool {
        self.allocates
    }

    /// The bytes of a row's result.
    pub(crate) fn width(&self) -> usize {
        scalar(&border::layout(&self.returns)).map_or(8, |(_, width)| width)
    }

    /// What the kernel takes, before the buffers that it writes: `None` if an argument has another
    /// layout than it was made for.
    pub(crate) fn run<R>(
        &self,
        args: &[ArrayRef],
        rows: usize,
        launch: impl FnOnce(&[u64], &[Argument]) -> R,
    ) -> Option<R> {
        let mut arrays = Vec::new();
        for (array, param) in args.iter().zip(&self.params) {
            let array = border::load(array);
            if array.len() != rows {
                return None;
            }
            if param.needed && *array.data_type() != param.layout {
                return None;
            }
            if !self.strict && !param.nullable && array.logical_null_count() > 0 {
                return None;
            }
            arrays.push(array);
        }
        let strict = if self.strict {
            arrays.iter().fold(None, |all, array| NullBuffer::union(all.as_ref(), array.logical_nulls().as_ref()))
        } else {
            None
        };
        let mut given = Vec::new();
        for (array, param) in arrays.iter().zip(&self.params).filter(|(_, param)| param.needed) {
            match param.elements {
                Some(optional) => {
                    let list = array.as_list::<i32>();
                    given.push(Argument::Bytes(list.offsets().inner().inner().clone()));
                    given.push(Argument::Bytes(elements(list, optional)?));
                    given.push(Argument::Word(list.offsets()[0] as u64));
                }
                None => values(array, &mut given)?,
            }
            if param.nullable {
                bits(array.nulls(), &mut given);
            }
        }
        bits(strict.as_ref(), &mut given);
        Some(launch(&self.constants, &given))
    }

    /// The results as an array of the declared type, and the rows that left, which are NULL in it.
    pub(crate) fn results(&self, given: Given) -> Option<(ArrayRef, Vec<u32>)> {
        let Given { values, states, .. } = given;
        let left = |is: &u8| matches!(*is, state::LEFT | state::FULL);
        let left: Vec<u32> = (0u32..).zip(&states).filter(|(_, is)| left(is)).map(|(row, _)| row).collect();
        let nulls = NullBuffer::from_iter(states.iter().map(|is| *is == state::VALUE));
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        let array: ArrayRef = match border::layout(&self.returns) {
            DataType::List(field) => {
                let starts =
                    given.starts.iter().map(|start| i32::try_from(*start).ok()).collect::<Option<Vec<i32>>>()?;
                let there = self.elements?.1.then(|| NullBuffer::from_iter(given.valid.iter().map(|is| *is != 0)));
                let there = there.filter(|there| there.null_count() > 0);
                if there.is_some() && !field.is_nullable() {
                    return None;
                }
                let elements = column(field.data_type(), given.elements, there)?;
                Arc::new(ListArray::try_new(field, OffsetBuffer::new(starts.into()), elements, nulls).ok()?)
            }
            layout => column(&layout, values, nulls)?,
        };
        Some((border::store(array, &self.returns).ok()?, left))
    }
}

/// A column of numbers or truth values of its bytes.
fn column(ty: &DataType, values: Vec<u8>, nulls: Option<NullBuffer>) -> Option<ArrayRef> {
    if *ty == DataType::Boolean {
        let bits = BooleanBuffer::from_iter(values.iter().map(|value| *value != 0));
        return Some(Arc::new(BooleanArray::new(bits, nulls)));
    }
    let (_, width) = scalar(ty)?;
    let data = ArrayData::builder(ty.clone()).len(values.len() / width).add_buffer(Buffer::from_vec(values));
    Some(make_array(data.nulls(nulls).align_buffers(true).build().ok()?))
}

/// The statement by which a row leaves whose value a column cannot hold.
fn leaves_unless(ty: &DataType, value: &str, name: &str) -> String {
    match ty {
        DataType::Float32 | DataType::Float64 | DataType::Boolean | DataType::Int64 => String::new(),
        DataType::UInt64 => format!("  if ({value} < 0) return;\n"),
        _ => format!("  if ((long)({name}){value} != {value}) return;\n"),
    }
}

/// A value as a column holds it.
fn stored(ty: &DataType, value: &str, name: &str) -> String {
    match ty {
        DataType::Float32 | DataType::Float64 => {
            format!("({name})(isnan({value}) ? as_double(0x7ff8000000000000UL) : {value})")
        }
        _ => format!("({name}){value}"),
    }
}

/// An element of a list of words, as a value.
fn element(ty: &DataType, optional: bool) -> String {
    let at = if optional { "2 * at + 1" } else { "at" };
    match ty {
        DataType::Float32 | DataType::Float64 => format!("as_double(items[{at}])"),
        _ => format!("(long)items[{at}]"),
    }
}

/// Says where in the row's part of the arena a list lies, whose elements a column can hold; one that lies
/// elsewhere, an argument, is copied there.
fn store_list(ty: &DataType, value: &str, name: &str, optional: bool) -> String {
    let width = 1 + u32::from(optional);
    let mut text = format!(
        "  const ulong length = {value}[0];\n  list items = list_at({value}, 0, {width});\n  \
         if ((ulong)items < (ulong)item.arena || (ulong)items >= (ulong)(item.arena + room)) {{\n    \
         list copy = allocate(&item, length * {width});\n    if (!copy) {{ state[row] = {}; return; }}\n    \
         for (ulong at = 0; at < length * {width}; at++) copy[at] = items[at];\n    items = copy;\n  }}\n",
        state::FULL
    );
    let check = leaves_unless(ty, "value", name);
    if !check.is_empty() {
        let absent = if optional { " if (items[2 * at] == 0) continue;" } else { "" };
        let element = element(ty, optional);
        text.push_str(&format!(
            "  for (ulong at = 0; at < length; at++) {{{absent} const long value = {element};\n  {check}  }}\n"
        ));
    }
    text.push_str("  out[row] = length == 0 ? 0 : (ulong)(items - item.arena) << 32 | length;\n");
    text
}

/// The kernel that puts the elements of all rows one after the other.
fn gather(ty: &DataType, name: &str, optional: bool) -> String {
    let (param, store) = match optional {
        true => (", global uchar *valid", "    valid[start + at] = items[2 * at] != 0;\n"),
        false => ("", ""),
    };
    let value = stored(ty, "value", name);
    let kind = if matches!(ty, DataType::Float32 | DataType::Float64) { "double" } else { "long" };
    format!(
        "kernel void gather(const ulong count, global const ulong *arena, const ulong room, global const ulong *out, \
         global const ulong *starts, global {name} *values{param}) {{\n  const size_t row = get_global_id(0);\n  \
         if (row >= count) return;\n  const ulong start = starts[row], length = starts[row + 1] - start;\n  \
         global const ulong *items = arena + row * room + (out[row] >> 32);\n  \
         for (ulong at = 0; at < length; at++) {{\n    const {kind} value = {};\n    values[start + at] = {value};\n\
         {store}  }}\n}}\n",
        element(ty, optional)
    )
}

/// Checks that the function takes values of a parameter as they lie; gives of lists whether elements
/// may be NULL.
fn is_of(ty: &Type, layout: &DataType) -> Result<Option<bool>, Unsupported> {
    let plain = |ty: &Type| match ty {
        Type::Union(alternatives) if alternatives.len() == 2 && alternatives[0] == Type::None => {
            (alternatives[1].clone(), true)
        }
        other => (other.clone(), false),
    };
    let fits = |ty: &Type, layout: &DataType| match (ty, layout) {
        (Type::Bool, DataType::Boolean) | (Type::Float, DataType::Float32 | DataType::Float64) => true,
        (Type::Int, layout) => layout.is_integer(),
        _ => false,
    };
    match (plain(ty).0, layout) {
        (Type::List(element), DataType::List(field)) => {
            let (element, optional) = plain(&element);
            // Half of those are beyond 63 bits.
            if fits(&element, field.data_type()) && *field.data_type() != DataType::UInt64 {
                return Ok(Some(optional));
            }
        }
        (ty, layout) if fits(&ty, layout) => return Ok(None),
        _ => {}
    }
    Err(Unsupported::new(format!("an argument of {layout} as {ty}")))
}

/// Where the result is.
struct Found {
    /// The expression of it, if it is ever there.
    value: Option<String>,
    /// That which says that it is None.
    tag: Option<String>,
    /// Of a list, whether elements may be None.
    element: Option<bool>,
}

fn result_slots(ret: &Type, layout: &DataType) -> Result<Found, Unsupported> {
    let wanted = |layout: &DataType| match layout {
        DataType::Boolean => Type::Bool,
        DataType::Float32 | DataType::Float64 => Type::Float,
        _ => Type::Int,
    };
    let of = |ty: &Type| match (ty, layout) {
        (Type::List(element), DataType::List(field)) => {
            let element_type = wanted(field.data_type());
            let optional = **element == element_type.clone().optional();
            (optional || **element == element_type).then_some(Some(optional))
        }
        (_, DataType::List(_)) => None,
        _ => (*ty == wanted(layout)).then_some(None),
    };
    let found = |value: Option<&str>, tag: Option<&str>, element| Found {
        value: value.map(str::to_string),
        tag: tag.map(str::to_string),
        element,
    };
    if let Some(element) = of(ret) {
        return Ok(found(Some("r0"), None, element));
    }
    match ret {
        Type::None => return Ok(found(None, Some("1"), None)),
        Type::Union(alternatives) => {
            if let [Type::None, other] = &alternatives[..]
                && let Some(element) = of(other)
            {
                return Ok(found(Some("r1"), Some("r0 == 0"), element));
            }
        }
        _ => {}
    }
    Err(Unsupported::new(format!("a result of {ret}")))
}

/// The values of a column of numbers or truth values.
fn values(array: &ArrayRef, given: &mut Vec<Argument>) -> Option<()> {
    if let Some(bools) = array.as_boolean_opt() {
        bitmap(bools.values(), given);
        return Some(());
    }
    let (_, width) = scalar(array.data_type())?;
    let data = array.to_data();
    given.push(Argument::Bytes(data.buffers()[0].slice_with_length(data.offset() * width, data.len() * width)));
    Some(())
}

/// The elements of all rows as words, each behind another that says whether it is there where some
/// may be NULL.
fn elements(list: &ListArray, optional: bool) -> Option<Buffer> {
    let (first, last) = (list.offsets()[0] as usize, list.offsets()[list.len()] as usize);
    let values = list.values();
    if !optional && values.logical_null_count() > 0 {
        return None;
    }
    let values = values.slice(first, last - first);
    if !optional && matches!(values.data_type(), DataType::Int64 | DataType::Float64) {
        let data = values.to_data();
        return Some(data.buffers()[0].slice_with_length(8 * data.offset(), 8 * data.len()));
    }
    let word: Box<dyn Fn(usize) -> u64> = match values.data_type() {
        DataType::Float32 | DataType::Float64 => {
            let floats = cast(&values, &DataType::Float64).ok()?.as_primitive::<Float64Type>().clone();
            Box::new(move |at| floats.value(at).to_bits())
        }
        DataType::Boolean => {
            let bools = values.as_boolean().clone();
            Box::new(move |at| u64::from(bools.value(at)))
        }
        _ => {
            let ints = cast(&values, &DataType::Int64).ok()?.as_primitive::<Int64Type>().clone();
            Box::new(move |at| ints.value(at) as u64)
        }
    };
    let mut words = Vec::with_capacity(values.len() * 16);
    for at in 0..values.len() {
        let valid = values.is_valid(at);
        if optional {
            // None is the first alternative of the union.
            words.extend(u64::from(valid).to_ne_bytes());
        }
        words.extend(if valid { word(at) } else { 0 }.to_ne_bytes());
    }
    Some(Buffer::from_vec(words))
}

/// Which rows are not NULL.
fn bits(nulls: Option<&NullBuffer>, given: &mut Vec<Argument>) {
    match nulls.filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => bitmap(nulls.inner(), given),
        None => given.extend([Argument::Bytes(Buffer::from_vec(vec![0u8])), Argument::Word(u64::MAX)]),
    }
}

/// A bitmap from the byte of its first bit on, and the position of that.
fn bitmap(bits: &BooleanBuffer, given: &mut Vec<Argument>) {
    given.push(Argument::Bytes(bits.inner().slice(bits.offset() / 8)));
    given.push(Argument::Word((bits.offset() % 8) as u64));
}
