//! The bytes that results take.

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::DataType;

/// The bytes of a column's rows, without those of other rows that share its buffers.
#[must_use]
pub fn column_bytes(column: &ArrayRef) -> usize {
    let within = |values: &ArrayRef, first: usize, end: usize| column_bytes(&values.slice(first, end - first));
    // What views point to is in no buffer that Arrow counts, at any depth.
    match column.data_type() {
        DataType::Utf8View => own(column) + column.as_string_view().total_buffer_bytes_used(),
        DataType::BinaryView => own(column) + column.as_binary_view().total_buffer_bytes_used(),
        DataType::List(_) => {
            let list = column.as_list::<i32>();
            let (first, end) = (list.value_offsets()[0], list.value_offsets()[list.len()]);
            size_of_val(list.value_offsets()) + within(list.values(), first as usize, end as usize)
        }
        DataType::LargeList(_) => {
            let list = column.as_list::<i64>();
            let (first, end) = (list.value_offsets()[0], list.value_offsets()[list.len()]);
            size_of_val(list.value_offsets()) + within(list.values(), first as usize, end as usize)
        }
        DataType::Struct(_) => column.as_struct().columns().iter().map(column_bytes).sum(),
        _ => own(column),
    }
}

/// What Arrow counts of the rows.
fn own(column: &ArrayRef) -> usize {
    column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{ListBuilder, StringArray, StringViewArray, StringViewBuilder, StructArray};
    use datafusion::arrow::datatypes::Field;
    use std::sync::Arc;

    #[test]
    fn the_texts_of_the_rows_alone_count() {
        let texts = vec!["é".repeat(50); 10];
        let columns: [ArrayRef; 2] =
            [Arc::new(StringArray::from(texts.clone())), Arc::new(StringViewArray::from_iter_values(&texts))];
        for column in columns {
            let (all, half) = (column_bytes(&column), column_bytes(&column.slice(5, 5)));
            assert!((1000..1200).contains(&all) && (500..600).contains(&half), "{all} {half}");
        }
    }

    #[test]
    fn texts_within_lists_count_too() {
        let mut lists = ListBuilder::new(StringViewBuilder::new());
        for _ in 0..10 {
            (0..3).for_each(|_| lists.values().append_value("é".repeat(50)));
            lists.append(true);
        }
        let lists: ArrayRef = Arc::new(lists.finish());
        let fields = vec![(Arc::new(Field::new("l", lists.data_type().clone(), true)), Arc::clone(&lists))];
        let of_structs: ArrayRef = Arc::new(StructArray::from(fields));
        for column in [lists, of_structs] {
            let (all, half) = (column_bytes(&column), column_bytes(&column.slice(5, 5)));
            assert!((3000..4000).contains(&all) && (1500..2000).contains(&half), "{all} {half}");
        }
    }
}
