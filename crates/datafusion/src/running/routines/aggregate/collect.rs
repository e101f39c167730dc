//! The values of groups, collected, and a call for each group.

use crate::planning::coerce;
use crate::running::function::blocking;
use crate::running::routines::{Registered, call_error};
use crate::statements::settings::ExuviaOptions;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, LargeListArray, UInt32Array, UInt64Array, new_empty_array,
};
use datafusion::arrow::buffer::{OffsetBuffer, ScalarBuffer};
use datafusion::arrow::compute::kernels::boolean::and;
use datafusion::arrow::compute::{
    SortColumn, SortOptions, cast, concat, filter, is_not_null, lexsort_to_indices, take,
};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::{DataFusionError, Result, ScalarValue, exec_err, internal_err};
use datafusion::logical_expr::{Accumulator, EmitTo, Expr, GroupsAccumulator};
use exuvia_engine::routine::{item, plain};
use std::collections::HashSet;
use std::sync::Arc;

/// Groups that one call into Python takes.
const GROUPS: usize = 16_384;

/// The values of groups: those of one group where it serves as an [`Accumulator`].
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) registered: Registered,
    pub(super) options: ExuviaOptions,
    distinct: bool,
    /// How the columns behind the arguments sort, and their types.
    order: Vec<(SortOptions, DataType)>,
    /// The number of groups.
    groups: usize,
    parts: Vec<Part>,
    /// Rows of the first parts that a sliding frame has left behind.
    dropped: usize,
}

/// Rows that came together: of each its group, its arguments and what it sorts by.
#[derive(Debug)]
struct Part {
    groups: Vec<u32>,
    columns: Vec<ArrayRef>,
}

impl Collected {
    pub(super) fn new(
        registered: Registered,
        options: ExuviaOptions,
        distinct: bool,
        order: Vec<(SortOptions, DataType)>,
    ) -> Collected {
        Collected { registered, options, distinct, order, groups: 0, parts: vec![], dropped: 0 }
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.groups.len()).sum::<usize>() - self.dropped
    }

    /// The arguments of all rows, in order, of one group.
    pub(super) fn arguments(&self) -> Result<Vec<ArrayRef>> {
        let (_, columns) = self.all()?;
        Ok(columns)
    }

    fn width(&self) -> usize {
        self.registered.defaults.len()
    }

    /// Adds rows.
    pub(super) fn add(&mut self, values: &[ArrayRef], groups: Vec<u32>, wanted: Option<&BooleanArray>) -> Result<()> {
        let (given, order) = values.split_at(values.len() - self.order.len());
        let mut values = arguments(&self.registered, given)?;
        values.extend(order.iter().cloned());
        let wanted = taken(&self.registered, &values[..self.width()], wanted)?;
        let (columns, groups) = match wanted {
            None => (values, groups),
            Some(wanted) => {
                let columns: Result<Vec<ArrayRef>, _> = values.iter().map(|column| filter(column, &wanted)).collect();
                let kept = groups.iter().enumerate();
                let kept = kept.filter(|(row, _)| wanted.is_valid(*row) && wanted.value(*row));
                (columns?, kept.map(|(_, group)| *group).collect())
            }
        };
        self.registered.routine.count_rows(groups.len());
        if !groups.is_empty() {
            self.parts.push(Part { groups, columns });
        }
        Ok(())
    }

    /// All rows: the group of each, and the columns.
    fn all(&self) -> Result<(Vec<u32>, Vec<ArrayRef>)> {
        let Some(first) = self.parts.first() else {
            let types = self.registered.value_types();
            let types = types.iter().chain(self.order.iter().map(|(_, ty)| ty));
            return Ok((vec![], types.map(new_empty_array).collect()));
        };
        let mut columns = vec![];
        for index in 0..first.columns.len() {
            let parts: Vec<&dyn Array> = self.parts.iter().map(|part| part.columns[index].as_ref()).collect();
            let column = concat(&parts)?;
            columns.push(column.slice(self.dropped, column.len() - self.dropped));
        }
        let groups: Vec<u32> = self.parts.iter().flat_map(|part| part.groups.iter().copied()).collect();
        Ok((groups[self.dropped..].to_vec(), columns))
    }

    /// The columns as lists, one for each of the first `count` groups.
    fn lists(&self, count: usize) -> Result<Vec<ArrayRef>> {
        let (groups, columns) = self.all()?;
        let mut rows: Vec<u32> =
            (0..groups.len() as u32).filter(|row| (groups[*row as usize] as usize) < count).collect();
        if !self.order.is_empty() && groups.len() > 1 {
            let behind = &columns[self.width()..];
            let mut keys: Vec<SortColumn> = behind
                .iter()
                .zip(&self.order)
                .map(|(column, (options, _))| SortColumn { values: Arc::clone(column), options: Some(*options) })
                .collect();
            // Rows of equal keys stay as they came.
            let came: ArrayRef = Arc::new(UInt32Array::from_iter_values(0..groups.len() as u32));
            keys.push(SortColumn { values: came, options: None });
            let sorted = lexsort_to_indices(&keys, None)?;
            rows = sorted.values().iter().copied().filter(|row| (groups[*row as usize] as usize) < count).collect();
        }
        rows.sort_by_key(|row| groups[*row as usize]);
        if self.distinct {
            let fields = columns[..self.width()].iter().map(|column| SortField::new(column.data_type().clone()));
            let keys = RowConverter::new(fields.collect())?.convert_columns(&columns[..self.width()])?;
            let mut seen = HashSet::new();
            rows.retain(|row| seen.insert((groups[*row as usize], keys.row(*row as usize))));
        }
        let mut ends: Vec<i64> = vec![0; count + 1];
        for row in &rows {
            ends[groups[*row as usize] as usize + 1] += 1;
        }
        for group in 0..count {
            ends[group + 1] += ends[group];
        }
        let rows = UInt32Array::from(rows);
        let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
        let list = |column: &ArrayRef| -> Result<ArrayRef> {
            let values = take(column, &rows, None)?;
            Ok(Arc::new(LargeListArray::try_new(item(column.data_type()), ends.clone(), values, None)?))
        };
        columns.iter().map(list).collect()
    }

    /// The results of the first `count` groups.
    fn results(&self, count: usize) -> Result<ArrayRef> {
        let lists = self.lists(count)?;
        // pyarrow takes lists of views, and pandas does not.
        let as_plain = |list: &ArrayRef| match plain(list.data_type()) {
            wanted if wanted != *list.data_type() => cast(list, &wanted),
            _ => Ok(Arc::clone(list)),
        };
        let lists: Vec<ArrayRef> = lists.iter().map(as_plain).collect::<Result<_, _>>()?;
        let args = &lists[..self.width().min(lists.len())];
        let routine = &self.registered.routine;
        let invocation = self.options.invocation(routine.definition().timeout);
        let mut results = vec![];
        let mut at = 0;
        while at < count || at == 0 {
            let groups = (count - at).min(GROUPS);
            let part: Vec<ArrayRef> = args.iter().map(|list| list.slice(at, groups)).collect();
            let result = blocking(|| routine.call_groups(&part, groups, &self.options.settings, &invocation));
            results.push(result.map_err(call_error)?);
            at += groups.max(1);
        }
        let parts: Vec<&dyn Array> = results.iter().map(AsRef::as_ref).collect();
        Ok(cast(&concat(&parts)?, &self.registered.value_type())?)
    }

    /// Forgets the first groups; the others move up.
    fn drop_groups(&mut self, count: usize) -> Result<()> {
        if count >= self.groups {
            self.parts.clear();
            self.groups = 0;
            return Ok(());
        }
        for part in std::mem::take(&mut self.parts) {
            let rows: Vec<u32> =
                (0..part.groups.len() as u32).filter(|row| part.groups[*row as usize] as usize >= count).collect();
            if rows.is_empty() {
                continue;
            }
            let groups = rows.iter().map(|row| part.groups[*row as usize] - count as u32).collect();
            let rows = UInt32Array::from(rows);
            let columns = part.columns.iter().map(|column| take(column, &rows, None)).collect::<Result<_, _>>()?;
            self.parts.push(Part { groups, columns });
        }
        self.groups -= count;
        Ok(())
    }

    /// Adds the rows of states: lists of columns.
    fn merge(&mut self, states: &[ArrayRef], groups: impl Fn(usize) -> u32) -> Result<()> {
        let Some(first) = states.first() else {
            return exec_err!("{} has no arguments to collect", self.registered.name());
        };
        let lists: Vec<&LargeListArray> = states.iter().map(|state| state.as_list::<i64>()).collect();
        let mut of_rows = vec![];
        let mut rows: Vec<u64> = vec![];
        for group in 0..first.len() {
            if lists[0].is_null(group) {
                continue;
            }
            let (start, end) = (lists[0].value_offsets()[group] as u64, lists[0].value_offsets()[group + 1] as u64);
            rows.extend(start..end);
            of_rows.extend((start..end).map(|_| groups(group)));
        }
        let rows = UInt64Array::from(rows);
        let columns = lists.iter().map(|list| take(list.values(), &rows, None)).collect::<Result<Vec<_>, _>>()?;
        if !of_rows.is_empty() {
            self.parts.push(Part { groups: of_rows, columns });
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let part = |part: &Part| {
            let columns: usize = part.columns.iter().map(|column| column.get_array_memory_size()).sum();
            columns + part.groups.len() * 4
        };
        size_of::<Self>() + self.parts.iter().map(part).sum::<usize>()
    }
}

/// Values as the parameters take them, and the defaults of those that are left out.
pub(super) fn arguments(registered: &Registered, values: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
    let types = registered.value_types();
    let mut columns = vec![];
    for (index, value) in values.iter().enumerate() {
        let Some(ty) = types.get(index) else { return internal_err!("an aggregate with too many arguments") };
        let name = &registered.routine.definition().params[index].name;
        let value = coerce::check(ty, Arc::clone(value))
            .map_err(|message| DataFusionError::Execution(format!("argument {name}: {message}")))?;
        columns.push(if value.data_type() == ty { value } else { cast(&value, ty)? });
    }
    let rows = values.first().map_or(0, |column| column.len());
    for (default, ty) in registered.defaults.iter().zip(&types).skip(values.len()) {
        match default.as_ref().map(|default| &default.expr) {
            Some(Expr::Literal(value, _)) => columns.push(cast(&value.to_array_of_size(rows)?, ty)?),
            _ => return exec_err!("{}: a default of an aggregate is a constant", registered.name()),
        }
    }
    Ok(columns)
}

/// The rows that an aggregate takes of those that are wanted: a strict one none with NULL.
pub(super) fn taken(
    registered: &Registered,
    values: &[ArrayRef],
    wanted: Option<&BooleanArray>,
) -> Result<Option<BooleanArray>> {
    let mut wanted = wanted.cloned();
    if registered.routine.definition().strict {
        for column in values {
            let present = is_not_null(column)?;
            wanted = Some(match wanted {
                Some(wanted) => and(&wanted, &present)?,
                None => present,
            });
        }
    }
    Ok(wanted)
}

/// The groups that a call for results is about.
pub(super) fn emitted(emit: EmitTo, groups: usize) -> usize {
    match emit {
        EmitTo::All => groups,
        EmitTo::First(count) => count,
    }
}

impl GroupsAccumulator for Collected {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.groups = total_num_groups;
        self.add(values, group_indices.iter().map(|group| *group as u32).collect(), opt_filter)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let count = emitted(emit_to, self.groups);
        if count == 0 {
            return Ok(new_empty_array(&self.registered.value_type()));
        }
        let results = self.results(count)?;
        self.drop_groups(count)?;
        Ok(results)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let count = emitted(emit_to, self.groups);
        let lists = self.lists(count)?;
        self.drop_groups(count)?;
        Ok(lists)
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.groups = total_num_groups;
        self.merge(values, |row| group_indices[row] as u32)
    }

    fn convert_to_state(&self, values: &[ArrayRef], opt_filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |column| column.len());
        let mut each = Collected::new(self.registered.clone(), self.options.clone(), self.distinct, self.order.clone());
        each.groups = rows;
        each.add(values, (0..rows as u32).collect(), opt_filter)?;
        GroupsAccumulator::state(&mut each, EmitTo::All)
    }

    fn size(&self) -> usize {
        self.bytes()
    }
}

impl Accumulator for Collected {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let rows = values.first().map_or(0, |column| column.len());
        self.add(values, vec![0; rows], None)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&self.results(1)?, 0)
    }

    fn size(&self) -> usize {
        self.bytes()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.lists(1)?.iter().map(|list| ScalarValue::try_from_array(list, 0)).collect()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.merge(states, |_| 0)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        if self.registered.routine.definition().strict {
            // Rows with NULL were not kept.
            let mut probe = Collected::new(self.registered.clone(), self.options.clone(), false, vec![]);
            probe.add(values, vec![0; values.first().map_or(0, |column| column.len())], None)?;
            self.dropped += probe.rows();
        } else {
            self.dropped += values.first().map_or(0, |column| column.len());
        }
        while let Some(first) = self.parts.first() {
            if first.groups.len() > self.dropped {
                break;
            }
            self.dropped -= first.groups.len();
            self.parts.remove(0);
        }
        if self.dropped > 0 && self.parts.is_empty() {
            return internal_err!("a frame has lost more rows than it had");
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }
}
