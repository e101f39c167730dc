//! The results of a batch while some rows are still missing.

use crate::RunError;
use crate::batch::Destination;
use crate::border;
use crate::items::Lists;
use crate::text::Text;
use crate::views::{Shared, Views};
use arrow::array::{ArrayRef, BooleanArray, PrimitiveArray};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use exuvia_ir::{Int, Object, Type, result_float};
use std::sync::Arc;

/// What a kernel gives for a batch.
#[derive(Debug)]
pub struct Output {
    /// The results of the rows that stayed native.
    pub values: Partial,
    /// The rows that did not, in order, each with its status: the code of an
    /// [`exuvia_ir::ExcKind`] or [`exuvia_ops::def::status::BAILOUT`].
    pub exits: Vec<(u32, u64)>,
}

/// What a kernel with several results gives for a batch.
#[derive(Debug)]
pub struct Selection {
    /// The results: of the rows that were kept one after the other, if some may be dropped;
    /// else of all rows, where those that left are NULL.
    pub values: Vec<Partial>,
    /// The rows that were kept, in order; `None` if none may be dropped.
    pub kept: Option<Vec<u32>>,
    /// For each reason to drop a row, how many were.
    pub dropped: Vec<u64>,
    /// As of [`Output`].
    pub exits: Vec<(u32, u64)>,
}

/// An object that the declared type of the result cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Its class is another one.
    Class,
    /// An int outside the type's range.
    Range,
}

/// A column of results that is filled in row by row. Rows that were not set are NULL.
#[derive(Debug)]
pub struct Partial {
    /// The type of the column.
    declared: DataType,
    /// The type in whose layout its values are ([`border::layout`]).
    ty: DataType,
    rows: usize,
    /// Rows of `width` bytes; for a bool one byte.
    values: Vec<u64>,
    /// One byte a row: 1 if it has a value.
    validity: Vec<u8>,
    strings: Strings,
}

/// Where the texts of a column of strings go, or the lists of one of lists.
#[derive(Debug)]
enum Strings {
    /// It is neither.
    None,
    Views {
        sink: Box<Views>,
        offered: Vec<usize>,
    },
    Text(Box<Text<i32>>),
    Large(Box<Text<i64>>),
    Lists(Box<Lists>),
}

impl Partial {
    /// A column of NULLs, or `None` for a type that no function returns.
    #[must_use]
    pub fn new(ty: &DataType, rows: usize) -> Option<Partial> {
        Partial::sharing(ty, rows, Vec::new(), &Type::Never)
    }

    /// A column of NULLs whose strings may point into `shared`, and whose lists native code has as
    /// that type.
    pub(crate) fn sharing(ty: &DataType, rows: usize, shared: Vec<Shared>, value: &Type) -> Option<Partial> {
        let declared = ty.clone();
        let ty = border::layout(ty);
        let width = width(&ty)?;
        let strings = match ty {
            DataType::Utf8View => Strings::Views { sink: Box::new(Views::new(rows, shared)), offered: Vec::new() },
            DataType::Utf8 => Strings::Text(Box::new(Text::new(rows))),
            DataType::LargeUtf8 => Strings::Large(Box::new(Text::new(rows))),
            DataType::List(_) => Strings::Lists(Box::new(Lists::new(&ty, rows, value)?)),
            _ => Strings::None,
        };
        Some(Partial {
            declared,
            ty,
            rows,
            values: vec![0; (rows * width).div_ceil(8)],
            validity: vec![0; rows],
            strings,
        })
    }

    /// Sets a row's result.
    ///
    /// # Errors
    /// Why the declared type cannot hold it; the row stays NULL.
    pub fn set(&mut self, row: usize, object: &Object) -> Result<(), Misfit> {
        if *object == Object::None {
            self.validity[row] = 0;
            return Ok(());
        }
        match (&self.ty, object) {
            (DataType::Boolean, Object::Bool(value)) => self.bytes()[row] = u8::from(*value),
            (DataType::Float64, Object::Float(value)) => self.store(row, result_float(*value)),
            // An int becomes the nearest float, as `float(value)` does.
            (DataType::Float64, Object::Int(value)) => self.store(row, value.to_i64().ok_or(Misfit::Range)? as f64),
            (DataType::Float32, Object::Int(value)) => {
                self.store(row, value.to_i64().ok_or(Misfit::Range)? as f64 as f32);
            }
            // Rounds to the nearest, ties to even.
            (DataType::Float32, Object::Float(value)) => self.store(row, result_float(*value) as f32),
            (DataType::Int8, Object::Int(value)) => self.store(row, small::<i8>(value)?),
            (DataType::Int16, Object::Int(value)) => self.store(row, small::<i16>(value)?),
            (DataType::Int32, Object::Int(value)) => self.store(row, small::<i32>(value)?),
            (DataType::Int64, Object::Int(value)) => self.store(row, value.to_i64().ok_or(Misfit::Range)?),
            (DataType::UInt8, Object::Int(value)) => self.store(row, small::<u8>(value)?),
            (DataType::UInt16, Object::Int(value)) => self.store(row, small::<u16>(value)?),
            (DataType::UInt32, Object::Int(value)) => self.store(row, small::<u32>(value)?),
            (DataType::UInt64, Object::Int(value)) => {
                self.store(row, u64::try_from(value.to_big()).map_err(|_| Misfit::Range)?);
            }
            (DataType::List(_), object) => match &mut self.strings {
                Strings::Lists(lists) => lists.set(row, object)?,
                _ => return Err(Misfit::Class),
            },
            (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, Object::Str(text)) => match &mut self.strings {
                Strings::None | Strings::Lists(_) => return Err(Misfit::Class),
                Strings::Views { sink, .. } => sink.set(row, text.as_bytes()),
                Strings::Text(sink) => sink.set(row, text),
                Strings::Large(sink) => sink.set(row, text),
            },
            _ => return Err(Misfit::Class),
        }
        self.validity[row] = 1;
        Ok(())
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    fn bytes(&mut self) -> &mut [u8] {
        let len = self.values.len() * 8;
        // SAFETY: a `u64` is eight initialised bytes.
        unsafe { std::slice::from_raw_parts_mut(self.values.as_mut_ptr().cast(), len) }
    }

    fn store<T: Copy>(&mut self, row: usize, value: T) {
        debug_assert_eq!(Some(size_of::<T>()), width(&self.ty));
        assert!(row < self.rows, "a row of the batch");
        // SAFETY: `values` holds `rows` values of the type's width, which is that of `T`.
        unsafe { self.values.as_mut_ptr().cast::<T>().add(row).write(value) };
    }

    /// Where the results of the rows from `row` on go.
    pub(crate) fn from(&mut self, row: usize) -> Destination {
        let width = width(&self.ty).unwrap_or(0);
        Destination {
            values: self.values.as_mut_ptr().cast::<u8>().wrapping_add(row * width),
            validity: self.validity[row..].as_mut_ptr(),
            strings: self.strings(row),
        }
    }

    /// Makes room for `needed` rows of at most `most`, which are valid or not.
    pub(crate) fn grow(&mut self, needed: usize, most: usize, valid: bool) {
        if needed <= self.rows {
            return;
        }
        self.rows = needed.max(self.rows * 2).min(most);
        self.values.resize((self.rows * width(&self.ty).unwrap_or(0)).div_ceil(8), 0);
        self.validity.resize(self.rows, u8::from(valid));
        if let Strings::Views { sink, .. } = &mut self.strings {
            sink.grow(self.rows);
        }
    }

    /// Drops the rows from `rows` on.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.values.truncate((rows * width(&self.ty).unwrap_or(0)).div_ceil(8));
        self.rows = rows;
        self.validity.truncate(rows);
        match &mut self.strings {
            Strings::None | Strings::Lists(_) => {}
            Strings::Views { sink, .. } => sink.truncate(rows),
            Strings::Text(sink) => sink.truncate(rows),
            Strings::Large(sink) => sink.truncate(rows),
        }
    }

    /// Says that rows have a value unless told otherwise.
    pub(crate) fn assume_valid_from(&mut self, row: usize) {
        self.validity[row..].fill(1);
    }

    /// Makes a row NULL.
    pub(crate) fn clear(&mut self, row: usize) {
        self.validity[row] = 0;
    }

    /// The sink of strings, told that the next rows count from `base`.
    fn strings(&mut self, base: usize) -> *mut u8 {
        match &mut self.strings {
            Strings::None => std::ptr::null_mut(),
            Strings::Views { sink, .. } => {
                sink.begin_chunk(base);
                (&raw mut **sink).cast()
            }
            Strings::Text(sink) => {
                sink.begin_chunk(base);
                (&raw mut **sink).cast()
            }
            Strings::Large(sink) => {
                sink.begin_chunk(base);
                (&raw mut **sink).cast()
            }
            Strings::Lists(sink) => {
                sink.begin_chunk(base);
                (&raw mut **sink).cast()
            }
        }
    }

    /// Says how many bytes of text each argument's rows have.
    pub(crate) fn offer(&mut self, bytes: Vec<usize>) {
        if let Strings::Views { offered, .. } = &mut self.strings {
            *offered = bytes;
        }
    }

    /// Forgets the results of the rows from `row` on.
    pub(crate) fn forget_from(&mut self, row: usize) {
        self.validity[row..].fill(0);
        match &mut self.strings {
            // What a row has is overwritten.
            Strings::None | Strings::Lists(_) => {}
            Strings::Views { sink, .. } => sink.forget_from(row),
            Strings::Text(sink) => sink.forget_from(row),
            Strings::Large(sink) => sink.forget_from(row),
        }
    }

    /// Whether there may be more text than a batch may have.
    pub(crate) fn may_be_full(&self) -> bool {
        !matches!(self.strings, Strings::None)
    }

    /// Whether there is more text than a batch may have: then there will be no column.
    pub(crate) fn is_full(&self) -> bool {
        match &self.strings {
            Strings::None => false,
            Strings::Views { sink, .. } => sink.is_full(),
            Strings::Text(sink) => sink.is_full(),
            Strings::Large(sink) => sink.is_full(),
            Strings::Lists(sink) => sink.is_full(),
        }
    }

    /// The column.
    ///
    /// # Errors
    /// [`RunError::OutputTooLarge`].
    pub fn finish(self) -> Result<ArrayRef, RunError> {
        let nulls = nulls(&self.validity);
        let rows = self.rows;
        let primitive = self.values;
        let declared = self.declared;
        let values: ArrayRef = match self.ty {
            DataType::Boolean => {
                let bytes = Buffer::from_vec(primitive);
                Arc::new(BooleanArray::new(bits(&bytes[..rows]), nulls))
            }
            DataType::Int8 => array::<Int8Type>(primitive, rows, nulls),
            DataType::Int16 => array::<Int16Type>(primitive, rows, nulls),
            DataType::Int32 => array::<Int32Type>(primitive, rows, nulls),
            DataType::Int64 => array::<Int64Type>(primitive, rows, nulls),
            DataType::UInt8 => array::<UInt8Type>(primitive, rows, nulls),
            DataType::UInt16 => array::<UInt16Type>(primitive, rows, nulls),
            DataType::UInt32 => array::<UInt32Type>(primitive, rows, nulls),
            DataType::UInt64 => array::<UInt64Type>(primitive, rows, nulls),
            DataType::Float32 => array::<Float32Type>(primitive, rows, nulls),
            DataType::Float64 => array::<Float64Type>(primitive, rows, nulls),
            ty => match self.strings {
                Strings::None => return Err(RunError::Argument(format!("results of type {ty}"))),
                Strings::Views { sink, offered } => sink.finish(nulls, &offered)?,
                Strings::Text(sink) => sink.finish(nulls)?,
                Strings::Large(sink) => sink.finish(nulls)?,
                Strings::Lists(sink) => return sink.finish(nulls, rows),
            },
        };
        border::store(values, &declared)
    }
}

/// The bytes of a value in the column; none for strings.
pub(crate) fn width(ty: &DataType) -> Option<usize> {
    Some(match ty {
        DataType::Boolean | DataType::Int8 | DataType::UInt8 => 1,
        DataType::Int16 | DataType::UInt16 => 2,
        DataType::Int32 | DataType::UInt32 | DataType::Float32 => 4,
        DataType::Int64 | DataType::UInt64 | DataType::Float64 => 8,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => 0,
        list @ DataType::List(_) if Lists::can_hold(list) => 0,
        _ => return None,
    })
}

pub(crate) fn small<T: TryFrom<i64>>(value: &Int) -> Result<T, Misfit> {
    value.to_i64().and_then(|value| T::try_from(value).ok()).ok_or(Misfit::Range)
}

fn array<T: ArrowPrimitiveType>(values: Vec<u64>, rows: usize, nulls: Option<NullBuffer>) -> ArrayRef {
    let values = ScalarBuffer::<T::Native>::new(Buffer::from_vec(values), 0, rows);
    Arc::new(PrimitiveArray::<T>::new(values, nulls))
}

/// The bitmap of one byte a row; `None` if no row is NULL.
fn nulls(validity: &[u8]) -> Option<NullBuffer> {
    // Whole blocks at once, which compiles to vector instructions.
    let valid = |block: &[u8]| block.iter().fold(1, |all, byte| all & byte) == 1;
    if validity.chunks(256).all(valid) {
        return None;
    }
    Some(NullBuffer::new(bits(validity)))
}

/// The bitmap of bytes that are 0 or 1.
fn bits(bytes: &[u8]) -> BooleanBuffer {
    // The product moves the lowest bit of byte `i` to bit `56 + i`; no two meet.
    let byte = |word: &[u8]| {
        let mut eight = [0; 8];
        eight[..word.len()].copy_from_slice(word);
        (u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
    };
    let mut words = bytes.chunks_exact(8);
    let mut bitmap = Vec::with_capacity(bytes.len().div_ceil(8));
    bitmap.extend(words.by_ref().map(byte));
    if !words.remainder().is_empty() {
        bitmap.push(byte(words.remainder()));
    }
    BooleanBuffer::new(Buffer::from_vec(bitmap), 0, bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmaps() {
        let bytes: Vec<u8> = (0..300u32).map(|at| u8::from(at * at % 7 < 3)).collect();
        for len in [0, 1, 7, 8, 9, 64, 65, 300] {
            let bitmap = bits(&bytes[..len]);
            assert_eq!(bitmap, BooleanBuffer::collect_bool(len, |row| bytes[row] != 0));
        }
        assert_eq!(nulls(&[1; 1000]), None);
        assert_eq!(nulls(&[1, 0, 1]).map(|nulls| nulls.null_count()), Some(1));
    }
}
