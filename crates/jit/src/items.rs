//! Lists at the border: those of a column as lists of the row's arena, and back.
//!
//! What the lists of a column hold is brought into the slots of native code once for a batch, as
//! far as it is not there already, so that the list of a row is a copy of a part of it.

use crate::columns::{decode_offsets, decode_views};
use crate::output::{Misfit, small};
use crate::views::Views;
use crate::{RunError, border, slots};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float32Array, Float64Array, Int64Array, ListArray, NullBufferBuilder,
    StructArray, UInt32Array, UInt64Array,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::{CastOptions, cast_with_options, take};
use arrow::datatypes::{DataType, FieldRef, Fields, Float64Type, Int64Type, UInt64Type};
use exuvia_ir::{MAX_RESULT_BYTES, Object, Raise, Type, result_float};
use exuvia_ops::cx::{Cx, KernelResult};
use exuvia_ops::list::RawList;
use exuvia_ops::text::ASCII_BIT;
use std::sync::Arc;

/// What a text of a list takes beside its bytes, in a column of views.
const VIEW: usize = 16;

/// Whether values of a type are those of an SQL type, or of some of them: lists that hold nothing,
/// elements that are never NULL.
pub(crate) fn is_of(ty: &Type, declared: &DataType) -> bool {
    let alternatives = ty.alternatives();
    let plain = |ty: &Type| match (ty, &border::layout(declared)) {
        (Type::None, _) => true,
        (Type::List(element), DataType::List(field)) => is_of(element, field.data_type()),
        (Type::Tuple(items), DataType::Struct(fields)) => {
            items.len() == fields.len() && items.iter().zip(fields).all(|(ty, field)| is_of(ty, field.data_type()))
        }
        (ty, other) => crate::columns::Loaded::of(other).is_ok_and(|loaded| loaded.scalar().as_ref() == Some(ty)),
    };
    alternatives.iter().all(plain)
}

/// The alternative of a union with None, or the type itself.
fn present(ty: &Type) -> Option<&Type> {
    let mut others = ty.alternatives().iter().filter(|ty| **ty != Type::None);
    let one = others.next();
    if others.next().is_none() { one } else { None }
}

/// Values that lists hold, as native code has them.
#[derive(Debug)]
pub(crate) struct Items {
    /// Whether the type has a case for NULL.
    nullable: bool,
    nulls: Option<NullBuffer>,
    values: Values,
    /// The slots of one, with its tag.
    slots: usize,
}

#[derive(Debug)]
enum Values {
    Ints(Int64Array),
    /// Those beyond 63 bits are no ints of native code.
    Unsigned(UInt64Array),
    Floats(Float64Array),
    Bools(BooleanBuffer),
    Texts {
        pairs: Vec<[u64; 2]>,
        /// Keeps what they point into.
        _array: ArrayRef,
    },
    Lists(OffsetBuffer<i32>, Box<Items>),
    Structs(Vec<Items>),
    /// Nothing but NULL.
    Nothing,
}

impl Items {
    /// The values of an array, in the slots of a type.
    pub fn new(array: &ArrayRef, declared: &DataType, ty: &Type) -> Result<Items, RunError> {
        let nullable = matches!(ty, Type::Union(_) | Type::None);
        let array = match array.data_type() {
            DataType::List(_) | DataType::Struct(_) => Arc::clone(array),
            DataType::Dictionary(..) | DataType::Null => as_type(array, declared)?,
            other if other.is_nested() => as_type(array, declared)?,
            _ => Arc::clone(array),
        };
        let array = border::load(&array);
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        if nulls.is_some() && !nullable {
            return Err(RunError::Argument("a NULL within a list that has no case for it".to_string()));
        }
        let wrong = || RunError::Argument(format!("a list of {} for {ty}", array.data_type()));
        let values = match present(ty) {
            None => Values::Nothing,
            Some(Type::Int) if *array.data_type() == DataType::UInt64 => {
                Values::Unsigned(array.as_primitive::<UInt64Type>().clone())
            }
            Some(Type::Int) => Values::Ints(as_type(&array, &DataType::Int64)?.as_primitive::<Int64Type>().clone()),
            Some(Type::Float) => {
                Values::Floats(as_type(&array, &DataType::Float64)?.as_primitive::<Float64Type>().clone())
            }
            Some(Type::Bool) => Values::Bools(array.as_boolean_opt().ok_or_else(wrong)?.values().clone()),
            Some(Type::Str) => {
                let mut pairs = vec![[0; 2]; array.len()];
                match array.data_type() {
                    DataType::Utf8 => decode_offsets::<i32, true>(array.as_string(), 0, &mut pairs),
                    DataType::LargeUtf8 => decode_offsets::<i64, true>(array.as_string(), 0, &mut pairs),
                    DataType::Utf8View => {
                        let views = array.as_string_view();
                        let buffers: Vec<*const u8> = views.data_buffers().iter().map(Buffer::as_ptr).collect();
                        decode_views::<true>(views, &buffers, views.nulls(), 0, &mut pairs)
                    }
                    _ => return Err(wrong()),
                };
                Values::Texts { pairs, _array: Arc::clone(&array) }
            }
            Some(Type::List(element)) => {
                let (offsets, inner) = list_of(&array, declared, element)?;
                Values::Lists(offsets, Box::new(inner))
            }
            Some(Type::Tuple(types)) => {
                let (Some(values), DataType::Struct(fields)) = (array.as_struct_opt(), declared) else {
                    return Err(wrong());
                };
                if values.num_columns() != types.len() || fields.len() != types.len() {
                    return Err(wrong());
                }
                let columns = values.columns().iter().zip(fields).zip(types.iter());
                let columns = columns.map(|((column, field), ty)| Items::new(column, field.data_type(), ty));
                Values::Structs(columns.collect::<Result<_, _>>()?)
            }
            Some(_) => return Err(wrong()),
        };
        Ok(Items { nullable, nulls, values, slots: slots::count(ty) })
    }

    /// A list in the row's arena of the values of a range.
    pub fn list(&self, cx: &mut Cx, from: usize, to: usize) -> KernelResult<*mut RawList> {
        let list = RawList::new(cx, to - from, self.slots)?;
        if to > from && self.slots > 0 {
            // SAFETY: the list was made with room for so many slots, in memory that is initialised
            // and lives as long as the row; nobody else knows it yet.
            let slots = unsafe { std::slice::from_raw_parts_mut((*list).data, (to - from) * self.slots) };
            self.fill(cx, from, to, slots, self.slots)?;
        }
        // SAFETY: as above.
        unsafe { (*list).len = (to - from) as u64 };
        Ok(list)
    }

    /// Writes the slots of the values of a range, each `step` after the one before.
    fn fill(&self, cx: &mut Cx, from: usize, to: usize, out: &mut [u64], step: usize) -> KernelResult<()> {
        let value = usize::from(self.nullable);
        if self.nullable {
            for (at, slots) in out.chunks_mut(step).enumerate().take(to - from) {
                let is_null = matches!(self.values, Values::Nothing)
                    || self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(from + at));
                slots[0] = u64::from(!is_null);
            }
        } else if step == 1
            && let Some(words) = self.words()
        {
            out.copy_from_slice(&words[from..to]);
            return Ok(());
        }
        let rows = out.chunks_mut(step).zip(from..to);
        match &self.values {
            Values::Ints(values) => rows.for_each(|(slots, at)| slots[value] = values.value(at) as u64),
            Values::Floats(values) => rows.for_each(|(slots, at)| slots[value] = values.value(at).to_bits()),
            Values::Bools(values) => rows.for_each(|(slots, at)| slots[value] = u64::from(values.value(at))),
            Values::Texts { pairs, .. } => {
                rows.for_each(|(slots, at)| slots[value..value + 2].copy_from_slice(&pairs[at]))
            }
            Values::Unsigned(values) => {
                for (slots, at) in rows {
                    let word = values.value(at);
                    if word > i64::MAX as u64 && !(self.nullable && slots[0] == 0) {
                        return Err(Raise::Bailout("an integer beyond 64 bits"));
                    }
                    slots[value] = word;
                }
            }
            Values::Lists(offsets, inner) => {
                for (slots, at) in rows {
                    if self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(at)) {
                        let list = inner.list(cx, offsets[at] as usize, offsets[at + 1] as usize)?;
                        slots[value] = list as u64;
                    } else {
                        slots[value] = 0;
                    }
                }
            }
            Values::Structs(fields) => {
                let mut start = value;
                for field in fields {
                    if start < step {
                        field.fill(cx, from, to, &mut out[start..], step)?;
                    }
                    start += field.slots;
                }
            }
            Values::Nothing => {}
        }
        Ok(())
    }

    /// The slots of the values, one after the other, where they are that already.
    pub fn words(&self) -> Option<&[u64]> {
        if self.nullable {
            return None;
        }
        let (base, len): (*const u64, usize) = match &self.values {
            Values::Ints(values) => (values.values().as_ptr().cast(), values.len()),
            Values::Floats(values) => (values.values().as_ptr().cast(), values.len()),
            Values::Texts { pairs, .. } => (pairs.as_ptr().cast(), 2 * pairs.len()),
            _ => return None,
        };
        // SAFETY: all are arrays of so many initialised words of eight bytes, aligned to them.
        Some(unsafe { std::slice::from_raw_parts(base, len) })
    }
}

/// Where the lists of a column begin and end, and what they hold.
pub(crate) fn list_of(
    array: &ArrayRef,
    declared: &DataType,
    element: &Type,
) -> Result<(OffsetBuffer<i32>, Items), RunError> {
    let DataType::List(field) = declared else {
        return Err(RunError::Argument(format!("a list for {declared}")));
    };
    let array = match array.data_type() {
        DataType::List(_) => Arc::clone(array),
        _ => as_type(array, declared)?,
    };
    let lists = array.as_list::<i32>();
    let offsets = lists.offsets();
    let (first, last) = (offsets[0], offsets[lists.len()]);
    let values = lists.values().slice(first as usize, (last - first) as usize);
    let offsets: Vec<i32> = offsets.iter().map(|offset| offset - first).collect();
    let items = Items::new(&values, field.data_type(), element)?;
    Ok((OffsetBuffer::new(ScalarBuffer::from(offsets)), items))
}

/// The same values as another type; what does not fit is refused.
fn as_type(array: &ArrayRef, ty: &DataType) -> Result<ArrayRef, RunError> {
    if array.data_type() == ty {
        return Ok(Arc::clone(array));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, ty, &options).map_err(|error| RunError::Argument(error.to_string()))
}

// ---- results ----

/// A column of lists that is filled in row by row, in any order.
#[derive(Debug)]
pub(crate) struct Lists {
    field: FieldRef,
    /// The type of the elements where native code makes the lists.
    ty: Type,
    items: Out,
    /// For each row where its list begins, and how long it is.
    ranges: Vec<(usize, usize)>,
    /// The row from which native code counts.
    base: usize,
    bytes: usize,
    /// Whether a row had more than there was room for.
    full: bool,
}

/// Values in the making.
#[derive(Debug)]
struct Out {
    declared: DataType,
    valid: NullBufferBuilder,
    values: OutValues,
}

#[derive(Debug)]
enum OutValues {
    Ints(Vec<i64>, i64, i64),
    Unsigned(Vec<u64>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
    Texts(Views),
    Lists(Box<Out>, FieldRef, Vec<i32>),
    Structs(Vec<Out>, Fields),
}

impl Lists {
    /// A column of rows without lists; `None` for a type that no function returns.
    pub fn new(declared: &DataType, rows: usize, ty: &Type) -> Option<Lists> {
        let DataType::List(field) = declared else { return None };
        let element = match present(ty) {
            Some(Type::List(element)) => (**element).clone(),
            _ => Type::Never,
        };
        let items = Out::new(field.data_type())?;
        Some(Lists {
            field: Arc::clone(field),
            ty: element,
            items,
            ranges: vec![(0, 0); rows],
            base: 0,
            bytes: 0,
            full: false,
        })
    }

    /// Whether a column of that type can be made.
    pub fn can_hold(declared: &DataType) -> bool {
        matches!(declared, DataType::List(field) if Out::new(field.data_type()).is_some())
    }

    /// Says that native code counts from a row on.
    pub fn begin_chunk(&mut self, base: usize) {
        self.base = base;
    }

    /// Whether there was more than a batch may have: then there will be no column.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Whether so many elements more are within what a batch may have.
    fn has_room(&mut self, len: usize) -> bool {
        self.full |= self.bytes.saturating_add(len.saturating_mul(8)) > MAX_RESULT_BYTES;
        !self.full
    }

    /// Sets a row's list.
    pub fn set(&mut self, row: usize, object: &Object) -> Result<(), Misfit> {
        let Object::List(list) = object else { return Err(Misfit::Class) };
        let start = self.items.len();
        if !self.has_room(list.read(<[Object]>::len)) {
            return Ok(());
        }
        for item in list.items() {
            if let Err(misfit) = self.items.push(&item, &mut self.bytes) {
                self.items.truncate(start);
                return Err(misfit);
            }
            if !self.has_room(0) {
                self.items.truncate(start);
                return Ok(());
            }
        }
        self.ranges[row] = (start, self.items.len() - start);
        Ok(())
    }

    /// Sets a row's list from native code; whether its elements are of the declared type.
    ///
    /// # Safety
    /// `list` must be a live list of elements of the type that this was made for.
    unsafe fn emit(&mut self, row: usize, list: *const RawList) -> bool {
        let start = self.items.len();
        // SAFETY: the caller vouches for the list.
        let (len, data) = unsafe { ((*list).len as usize, (*list).data) };
        if !self.has_room(len) {
            return true;
        }
        // SAFETY: as above; so many elements lie there.
        if !unsafe { self.items.push_all(&self.ty, data, len, &mut self.bytes) } {
            self.items.truncate(start);
            return !self.has_room(0);
        }
        self.ranges[self.base + row] = (start, len);
        true
    }

    /// The column.
    pub fn finish(self, nulls: Option<NullBuffer>, rows: usize) -> Result<ArrayRef, RunError> {
        if self.full {
            return Err(RunError::OutputTooLarge);
        }
        let wrong = |error: arrow::error::ArrowError| RunError::Argument(error.to_string());
        let is_null = |row: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0i32);
        let (mut end, mut in_order) = (0, true);
        for (row, (start, len)) in self.ranges.iter().take(rows).enumerate() {
            if !is_null(row) {
                in_order &= *start == end || *len == 0;
                end += len;
            }
            offsets.push(i32::try_from(end).map_err(|_| RunError::OutputTooLarge)?);
        }
        in_order &= end == self.items.len();
        let mut values = self.items.finish()?;
        if !in_order {
            let present = self.ranges.iter().take(rows).enumerate().filter(|(row, _)| !is_null(*row));
            let indices: UInt32Array =
                present.flat_map(|(_, (start, len))| (*start..start + len).map(|at| at as u32)).collect();
            values = take(&values, &indices, None).map_err(wrong)?;
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(Arc::new(ListArray::try_new(self.field, offsets, values, nulls).map_err(wrong)?))
    }
}

/// Stores a row's list; called by native code: 0, or the status with which the row leaves.
pub(crate) unsafe extern "C" fn emit_list(lists: *mut Lists, row: u64, list: *const RawList) -> u64 {
    // SAFETY: native code passes the column that it was lent for the call, and a list of the type
    // that it was compiled for.
    let emit = || unsafe { (*lists).emit(row as usize, list) };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(emit)) {
        Ok(true) => 0,
        Ok(false) | Err(_) => exuvia_ops::def::status::BAILOUT,
    }
}

/// Adds the values of a union with None of one slot.
fn extend_present<T: Default>(
    (values, valid): (&mut Vec<T>, &mut NullBufferBuilder),
    ty: &Type,
    all: &[u64],
    value: impl Fn(u64) -> T,
) {
    let tag = ty.alternatives().iter().position(|ty| *ty != Type::None).unwrap_or(0);
    let (start, step) = (slots::alternative_start(ty.alternatives(), tag), slots::count(ty));
    values.reserve(all.len() / step);
    for slots in all.chunks_exact(step) {
        let present = slots[0] & 0xFF == tag as u64;
        values.push(if present { value(slots[start]) } else { T::default() });
        valid.append(present);
    }
}

impl Out {
    fn new(declared: &DataType) -> Option<Out> {
        let signed = |min: i64, max: i64| Some(OutValues::Ints(Vec::new(), min, max));
        let values = match &border::layout(declared) {
            DataType::Int8 => signed(i8::MIN.into(), i8::MAX.into()),
            DataType::Int16 => signed(i16::MIN.into(), i16::MAX.into()),
            DataType::Int32 => signed(i32::MIN.into(), i32::MAX.into()),
            DataType::Int64 => signed(i64::MIN, i64::MAX),
            DataType::UInt8 => signed(0, u8::MAX.into()),
            DataType::UInt16 => signed(0, u16::MAX.into()),
            DataType::UInt32 => signed(0, u32::MAX.into()),
            DataType::UInt64 => Some(OutValues::Unsigned(Vec::new())),
            DataType::Float32 | DataType::Float64 => Some(OutValues::Floats(Vec::new())),
            DataType::Boolean => Some(OutValues::Bools(Vec::new())),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(OutValues::Texts(Views::default())),
            DataType::List(field) => {
                Some(OutValues::Lists(Box::new(Out::new(field.data_type())?), Arc::clone(field), vec![0]))
            }
            DataType::Struct(fields) => {
                let columns = fields.iter().map(|field| Out::new(field.data_type())).collect::<Option<_>>()?;
                Some(OutValues::Structs(columns, fields.clone()))
            }
            _ => None,
        }?;
        Some(Out { declared: declared.clone(), valid: NullBufferBuilder::new(0), values })
    }

    fn len(&self) -> usize {
        self.valid.len()
    }

    /// Forgets the values from `len` on.
    fn truncate(&mut self, len: usize) {
        self.valid.truncate(len);
        match &mut self.values {
            OutValues::Ints(values, ..) => values.truncate(len),
            OutValues::Unsigned(values) => values.truncate(len),
            OutValues::Floats(values) => values.truncate(len),
            OutValues::Bools(values) => values.truncate(len),
            OutValues::Texts(texts) => texts.truncate(len),
            OutValues::Lists(inner, _, ends) => {
                ends.truncate(len + 1);
                inner.truncate(ends.last().map_or(0, |end| *end as usize));
            }
            OutValues::Structs(columns, _) => columns.iter_mut().for_each(|column| column.truncate(len)),
        }
    }

    fn push_null(&mut self) {
        self.valid.append_null();
        match &mut self.values {
            OutValues::Ints(values, ..) => values.push(0),
            OutValues::Unsigned(values) => values.push(0),
            OutValues::Floats(values) => values.push(0.0),
            OutValues::Bools(values) => values.push(false),
            OutValues::Texts(texts) => texts.push(&[]),
            OutValues::Lists(_, _, ends) => ends.push(ends.last().copied().unwrap_or(0)),
            OutValues::Structs(columns, _) => columns.iter_mut().for_each(Out::push_null),
        }
    }

    /// Adds a value. What was added in part is the caller's to take back.
    fn push(&mut self, object: &Object, bytes: &mut usize) -> Result<(), Misfit> {
        *bytes += 8;
        if *object == Object::None {
            self.push_null();
            return Ok(());
        }
        match (&mut self.values, object) {
            (OutValues::Ints(values, min, max), Object::Int(value)) => {
                let value: i64 = small(value)?;
                if value < *min || value > *max {
                    return Err(Misfit::Range);
                }
                values.push(value);
            }
            (OutValues::Unsigned(values), Object::Int(value)) => {
                values.push(u64::try_from(value.to_big()).map_err(|_| Misfit::Range)?);
            }
            (OutValues::Floats(values), Object::Float(value)) => values.push(result_float(*value)),
            (OutValues::Bools(values), Object::Bool(value)) => values.push(*value),
            (OutValues::Texts(texts), Object::Str(text)) => {
                *bytes += VIEW + text.len();
                texts.push(text.as_bytes());
            }
            (OutValues::Lists(inner, _, ends), Object::List(list)) => {
                for item in list.items() {
                    inner.push(&item, bytes)?;
                }
                ends.push(i32::try_from(inner.len()).map_err(|_| Misfit::Range)?);
            }
            (OutValues::Structs(columns, _), Object::Tuple(items)) if items.len() == columns.len() => {
                for (column, item) in columns.iter_mut().zip(items.iter()) {
                    column.push(item, bytes)?;
                }
            }
            _ => return Err(Misfit::Class),
        }
        self.valid.append_non_null();
        Ok(())
    }

    /// Adds `len` values of a type, which lie one after the other; whether all fit. What was added
    /// in part is the caller's to take back.
    ///
    /// # Safety
    /// So many must lie there, as native code lays them out.
    unsafe fn push_all(&mut self, ty: &Type, data: *const u64, len: usize, bytes: &mut usize) -> bool {
        let step = slots::count(ty);
        *bytes += 8 * len;
        // SAFETY: so many slots lie there; each is an initialised word.
        let all = if len * step == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(data, len * step) } };
        match (&mut self.values, ty) {
            (OutValues::Ints(values, i64::MIN, i64::MAX), Type::Int) => {
                values.extend(all.iter().map(|word| *word as i64));
                self.valid.append_n_non_nulls(len);
                return true;
            }
            (OutValues::Floats(values), Type::Float) => {
                values.extend(all.iter().map(|word| result_float(f64::from_bits(*word))));
                self.valid.append_n_non_nulls(len);
                return true;
            }
            (OutValues::Floats(values), Type::Union(_)) if present(ty) == Some(&Type::Float) => {
                let value = |word| result_float(f64::from_bits(word));
                extend_present((values, &mut self.valid), ty, all, value);
                return true;
            }
            (OutValues::Ints(values, i64::MIN, i64::MAX), Type::Union(_)) if present(ty) == Some(&Type::Int) => {
                extend_present((values, &mut self.valid), ty, all, |word| word as i64);
                return true;
            }
            _ => {}
        }
        if step == 0 {
            // Elements without slots are all None.
            (0..len).for_each(|_| self.push_null());
            return true;
        }
        // SAFETY: as above.
        all.chunks(step).all(|slots| unsafe { self.push_slots(ty, slots, bytes) })
    }

    /// Adds the value in those slots.
    ///
    /// # Safety
    /// As [`Out::push_all`].
    unsafe fn push_slots(&mut self, ty: &Type, slots: &[u64], bytes: &mut usize) -> bool {
        let (ty, slots) = match ty {
            Type::Union(alternatives) => {
                let tag = (slots[0] & 0xFF) as usize;
                let Some(alternative) = alternatives.get(tag) else { return false };
                (alternative, &slots[slots::alternative_start(alternatives, tag)..])
            }
            other => (other, slots),
        };
        match (&mut self.values, ty) {
            (_, Type::None) => {
                self.push_null();
                return true;
            }
            (OutValues::Ints(values, min, max), Type::Int) => {
                let value = slots[0] as i64;
                if value < *min || value > *max {
                    return false;
                }
                values.push(value);
            }
            (OutValues::Unsigned(values), Type::Int) => {
                if (slots[0] as i64) < 0 {
                    return false;
                }
                values.push(slots[0]);
            }
            (OutValues::Floats(values), Type::Float) => values.push(result_float(f64::from_bits(slots[0]))),
            (OutValues::Bools(values), Type::Bool) => values.push(slots[0] & 1 == 1),
            (OutValues::Texts(texts), Type::Str) => {
                let len = (slots[1] & !ASCII_BIT) as usize;
                *bytes += VIEW + len;
                if *bytes > MAX_RESULT_BYTES {
                    return false;
                }
                // SAFETY: the slots are those of a text that lives.
                texts.push(unsafe { std::slice::from_raw_parts(slots[0] as *const u8, len) });
            }
            (OutValues::Lists(inner, _, ends), Type::List(element)) => {
                // SAFETY: the slot is the address of a live list.
                let (len, data) = unsafe {
                    let list = slots[0] as *const RawList;
                    ((*list).len as usize, (*list).data)
                };
                if *bytes + 8 * len > MAX_RESULT_BYTES {
                    *bytes += 8 * len;
                    return false;
                }
                // SAFETY: as above.
                if !unsafe { inner.push_all(element, data, len, bytes) } {
                    return false;
                }
                let Ok(end) = i32::try_from(inner.len()) else { return false };
                ends.push(end);
            }
            (OutValues::Structs(columns, _), Type::Tuple(types)) if types.len() == columns.len() => {
                for (at, (column, ty)) in columns.iter_mut().zip(types.iter()).enumerate() {
                    let start = slots::element_start(types, at);
                    // SAFETY: as above.
                    if !unsafe { column.push_all(ty, slots[start..].as_ptr(), 1, bytes) } {
                        return false;
                    }
                }
            }
            _ => return false,
        }
        self.valid.append_non_null();
        true
    }

    fn finish(self) -> Result<ArrayRef, RunError> {
        let wrong = |error: arrow::error::ArrowError| RunError::Argument(error.to_string());
        let nulls = self.valid.build();
        let array: ArrayRef = match self.values {
            OutValues::Ints(values, ..) => Arc::new(Int64Array::new(values.into(), nulls)),
            OutValues::Unsigned(values) => Arc::new(UInt64Array::new(values.into(), nulls)),
            // Rounds to the nearest, ties to even.
            OutValues::Floats(values) if self.declared == DataType::Float32 => {
                Arc::new(Float32Array::new(values.into_iter().map(|value| value as f32).collect(), nulls))
            }
            OutValues::Floats(values) => Arc::new(Float64Array::new(values.into(), nulls)),
            OutValues::Bools(values) => Arc::new(BooleanArray::new(values.into(), nulls)),
            OutValues::Texts(texts) => texts.finish(nulls, &[])?,
            OutValues::Lists(inner, field, ends) => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
                Arc::new(ListArray::try_new(field, offsets, inner.finish()?, nulls).map_err(wrong)?)
            }
            OutValues::Structs(columns, fields) => {
                let len = columns.first().map_or(0, Out::len);
                let columns = columns.into_iter().map(Out::finish).collect::<Result<Vec<_>, _>>()?;
                Arc::new(StructArray::try_new_with_length(fields, columns, nulls, len).map_err(wrong)?)
            }
        };
        let array = as_type(&array, &border::layout(&self.declared))?;
        border::store(array, &self.declared)
    }
}
