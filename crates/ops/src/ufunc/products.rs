//! Sums of products. NumPy leaves those of floats to OpenBLAS, whose order of adding is another one on each
//! processor: ours is the same on all, so that results differ from NumPy's within a bound only.

use crate::adapt::FloatList;
use crate::cx::{Cx, KernelResult};
use crate::list::RawList;
use crate::op;
use exuvia_ir::Raise;

/// The operations whose results NumPy has to a bound only, which its documentation does not fix.
pub const BOUNDED: &[&str] = &["ufunc.dot", "ufunc.products", "ufunc.slide"];

op! {
    /// The sum of the products of two runs of floats of one length: one after the other where there are few, else
    /// eight sums side by side.
    dot = "ufunc.dot" ""
    Read fn (_cx, _left: floats, _right: floats) -> float { product(_left, _right) }
}

op! {
    /// The product of a matrix of so many rows and inner elements with one of inner elements and so many columns,
    /// both row after row, in the same form. Products with one column are those of `ufunc.dot`, others are added one
    /// after the other.
    products = "ufunc.products" ""
    Alloc fn (cx, _left: floats, _right: floats, rows: int, inner: int, columns: int) -> float_list fallible bails Operands {
        let shape = [rows, inner, columns].map(usize::try_from);
        let [Ok(rows), Ok(inner), Ok(columns)] = shape else { return Err(OTHER_SHAPE) };
        if rows.checked_mul(inner) != Some(_left.len()) || inner.checked_mul(columns) != Some(_right.len()) {
            return Err(OTHER_SHAPE);
        }
        let (list, out) = RawList::filled(cx, rows.checked_mul(columns).ok_or(Raise::ROW_MEMORY)?)?;
        match columns {
            0 => {}
            // Without inner elements there are no runs of them to take, and sums of nothing.
            _ if inner == 0 => out.fill(0.0_f64.to_bits()),
            _ => matrix(cx, _left, _right, inner, columns, out)?,
        }
        Ok(FloatList(list))
    }
}

op! {
    /// The sums of the products of some floats with those among others on which they lie, as by `ufunc.dot`: for so many
    /// places from one on where their last one lies, of those that lie on one.
    slide = "ufunc.slide" ""
    Alloc fn (cx, _items: floats, _short: floats, first: int, count: int) -> float_list fallible bails Operands {
        let ends = usize::try_from(first).ok().zip(usize::try_from(count).ok());
        let Some((first, count)) = ends.filter(|_| !_short.is_empty()) else { return Err(OTHER_SHAPE) };
        let (list, out) = RawList::filled(cx, count)?;
        let mut looks = Looks { cx, made: 0 };
        for (last, out) in (first..).zip(out) {
            let end = _items.len().min(last + 1);
            let start = (last + 1).saturating_sub(_short.len()).min(end);
            let from = (start + _short.len()).saturating_sub(last + 1);
            *out = product(&_items[start..end], &_short[from..from + (end - start)]).to_bits();
            looks.after(_short.len())?;
        }
        Ok(FloatList(list))
    }
}

const OTHER_SHAPE: Raise = Raise::Bailout("a matrix of another shape");

/// The fewest products that OpenBLAS adds side by side.
const SIDE_BY_SIDE: usize = 16;

/// So many products are made between two looks at whether the query was cancelled.
const BETWEEN_LOOKS: usize = 1 << 18;

/// The products since the last look.
struct Looks<'c> {
    cx: &'c Cx,
    made: usize,
}

impl Looks<'_> {
    /// Looks after so many more, if it is time.
    fn after(&mut self, more: usize) -> KernelResult<()> {
        self.made += more;
        if self.made < BETWEEN_LOOKS {
            return Ok(());
        }
        self.made = 0;
        if self.cx.interrupted() { Err(Raise::Interrupted) } else { Ok(()) }
    }
}

fn product(left: &[f64], right: &[f64]) -> f64 {
    if left.len() < SIDE_BY_SIDE {
        return left.iter().zip(right).fold(0.0, |sum, (left, right)| sum + left * right);
    }
    let (left, last) = left.as_chunks::<8>();
    let (right, rest) = right.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (left, right) in left.iter().zip(right) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    last.iter().zip(rest).fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, (left, right)| sum + left * right)
}

/// The rows of a product of matrices, neither of which is empty.
fn matrix(cx: &Cx, left: &[f64], right: &[f64], inner: usize, columns: usize, out: &mut [u64]) -> KernelResult<()> {
    let mut looks = Looks { cx, made: 0 };
    for (row, out) in left.chunks_exact(inner).zip(out.chunks_exact_mut(columns)) {
        if let [out] = out {
            *out = product(row, right).to_bits();
        } else {
            combined(row, right, out);
        }
        looks.after(right.len())?;
    }
    Ok(())
}

/// The sum of the rows of a matrix, each times a number.
fn combined(factors: &[f64], rows: &[f64], out: &mut [u64]) {
    let columns = out.len();
    let mut at = 0;
    while at < columns {
        at += match columns - at {
            8.. => some_columns::<8>(factors, &rows[at..], columns, &mut out[at..]),
            4.. => some_columns::<4>(factors, &rows[at..], columns, &mut out[at..]),
            _ => some_columns::<1>(factors, &rows[at..], columns, &mut out[at..]),
        };
    }
}

/// So many columns of it, whose sums stay in registers; gives their number.
fn some_columns<const N: usize>(factors: &[f64], rows: &[f64], columns: usize, out: &mut [u64]) -> usize {
    let mut sums = [0.0; N];
    for (factor, row) in factors.iter().zip(rows.chunks(columns)) {
        if let Some(row) = row.first_chunk::<N>() {
            for (sum, item) in sums.iter_mut().zip(row) {
                *sum += factor * item;
            }
        }
    }
    out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum.to_bits());
    N
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_of_all_widths() {
        let cx = Cx::for_folding();
        for (rows, inner, columns) in [(1, 1, 1), (2, 3, 2), (3, 20, 1), (2, 5, 4), (1, 64, 16), (3, 7, 13), (2, 2, 31)]
        {
            let left: Vec<f64> = (0..rows * inner).map(|at| (at % 11) as f64 - 4.0).collect();
            let right: Vec<f64> = (0..inner * columns).map(|at| (at % 7) as f64 - 3.0).collect();
            let mut out = vec![0; rows * columns];
            matrix(&cx, &left, &right, inner, columns, &mut out).expect("is not interrupted");
            for (at, found) in out.iter().enumerate() {
                let (row, column) = (at / columns, at % columns);
                // Small whole numbers, whose sums are exact in any order.
                let expected: f64 = (0..inner).map(|k| left[row * inner + k] * right[k * columns + column]).sum();
                assert_eq!(f64::from_bits(*found), expected, "{rows} x {inner} x {columns} at {at}");
            }
        }
    }
}
