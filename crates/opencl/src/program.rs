//! A row function as a kernel's text, and the buffers that it takes and gives.

use crate::Unsupported;
use crate::print::{self, Printed};
use crate::slots::slots;
use arrow::array::{Array, ArrayData, ArrayRef, AsArray, BooleanArray, ListArray, make_array};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use exuvia_ir::{Module, Type};
use exuvia_jit::border;
use std::fmt::Write;
use std::sync::Arc;

/// Words of the arena that a row may take.
pub(crate) const ARENA: usize = 1024;

/// What the device says of a row.
mod state {
    pub const LEFT: u8 = 0;
    pub const VALUE: u8 = 1;
    pub const NONE: u8 = 2;
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
        let Some((result, _)) = scalar(&returned) else {
            return Err(Unsupported::new(format!("a result of type {returns}")));
        };
        let mut text = include_str!("device.cl").to_string();
        text.push_str(&functions);
        text.push_str("kernel void rows(const ulong count, const uint fuel, global ulong *tables, global ulong *arena");
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
        let (value, tag) = result_slots(&entry.ret, &returned)?;
        let mut store = String::new();
        let mut slots_of = String::new();
        for (at, slot) in slots(&entry.ret)?.iter().enumerate() {
            writeln!(slots_of, "  {} r{at} = {};", slot.name(), slot.zero())?;
            call.push(format!("&r{at}"));
        }
        if let Some(value) = value {
            match returned {
                DataType::Float32 | DataType::Float64 => {
                    writeln!(
                        store,
                        "  out[row] = ({result})(isnan({value}) ? as_double(0x7ff8000000000000UL) : {value});"
                    )?;
                }
                DataType::Boolean => {
                    writeln!(store, "  out[row] = (uchar){value};")?;
                }
                DataType::UInt64 => {
                    writeln!(store, "  if ({value} < 0) return;\n  out[row] = (ulong){value};")?;
                }
                _ => {
                    writeln!(
                        store,
                        "  if ((long)({result}){value} != {value}) return;\n  out[row] = ({result}){value};"
                    )?;
                }
            }
        }
        let none = tag.map(|tag| format!("  if ({tag}) {{ state[row] = {}; return; }}\n", state::NONE));
        let arena = if makes_lists { ARENA } else { 0 };
        write!(
            text,
            ", global {result} *out, global uchar *state) {{\n  const size_t row = get_global_id(0);\n  \
             if (row >= count) return;\n  state[row] = {};\n  \
             if (strict_bit != ~0UL && !bit_of(strict, strict_bit + row)) {{ state[row] = {}; return; }}\n  \
             struct item item = {{ fuel, tables, arena + row * {arena}, 0, {arena} }};\n{loads}{slots_of}  \
             if (f0({}) != 0) return;\n{}{store}  state[row] = {};\n}}\n",
            state::LEFT,
            state::NONE,
            call.join(", "),
            none.unwrap_or_default(),
            state::VALUE
        )?;
        Ok(Program { text, params: kept, returns: returns.clone(), strict, allocates: makes_lists, constants })
    }

    /// The words of the arena for so many rows.
    pub(crate) fn arena(&self, rows: usize) -> usize {
        if self.allocates { ARENA * rows } else { 0 }
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
    pub(crate) fn results(&self, values: Vec<u8>, states: &[u8]) -> Option<(ArrayRef, Vec<u32>)> {
        let left: Vec<u32> = (0u32..).zip(states).filter(|(_, is)| **is == state::LEFT).map(|(row, _)| row).collect();
        let nulls = NullBuffer::from_iter(states.iter().map(|is| *is == state::VALUE));
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        let array: ArrayRef = match border::layout(&self.returns) {
            DataType::Boolean => {
                Arc::new(BooleanArray::new(BooleanBuffer::from_iter(values.iter().map(|value| *value != 0)), nulls))
            }
            layout => {
                let data = ArrayData::builder(layout).len(states.len()).add_buffer(Buffer::from_vec(values));
                make_array(data.nulls(nulls).align_buffers(true).build().ok()?)
            }
        };
        Some((border::store(array, &self.returns).ok()?, left))
    }
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

/// The expression of the result, and that which says that it is None.
fn result_slots(ret: &Type, layout: &DataType) -> Result<(Option<String>, Option<String>), Unsupported> {
    let wanted = match layout {
        DataType::Boolean => Type::Bool,
        DataType::Float32 | DataType::Float64 => Type::Float,
        _ => Type::Int,
    };
    match ret {
        ty if *ty == wanted => Ok((Some("r0".to_string()), None)),
        Type::None => Ok((None, Some("1".to_string()))),
        Type::Union(alternatives) if alternatives[..] == [Type::None, wanted] => {
            Ok((Some("r1".to_string()), Some("r0 == 0".to_string())))
        }
        other => Err(Unsupported::new(format!("a result of {other}"))),
    }
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
