//! The bytes that results take.

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::DataType;

/// The bytes of a column's rows, without those of other rows that share its buffers.
#[must_use]
pub fn column_bytes(column: &ArrayRef) -> usize {
    // What views point to is in no buffer that Arrow counts.
    let texts = match column.data_type() {
        DataType::Utf8View => column.as_string_view().total_buffer_bytes_used(),
        DataType::BinaryView => column.as_binary_view().total_buffer_bytes_used(),
        _ => 0,
    };
    texts + column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{StringArray, StringViewArray};
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
}
