//! What is told of a class of the standard library whose objects are values ([`Class::is_value`]): a row for
//! each, which stands where the operations on its objects do.

use exuvia_ir::{Class, Object};

/// The text of an object of such fields.
pub type Shown = fn(&[Object]) -> Option<String>;

/// A class of the standard library whose objects are values. Its functions take the fields of an object, and give
/// `None` where those are not of its types.
#[derive(Debug)]
pub struct ValueClass {
    /// The class.
    pub class: Class,
    /// Its methods: a module of the prelude of the class's name.
    pub methods: &'static str,
    /// `repr` of an object.
    pub repr: Shown,
    /// `str` of an object.
    pub text: Shown,
    /// `hash` of an object.
    pub hash: fn(&[Object]) -> Option<i64>,
}

impl ValueClass {
    /// That of a class.
    #[must_use]
    pub fn of(class: Class) -> Option<&'static ValueClass> {
        crate::CLASSES.iter().copied().find(|row| row.class == class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_values_has_a_row() {
        for class in Class::ALL {
            assert_eq!(ValueClass::of(*class).is_some(), class.is_value(), "{class}");
        }
    }
}
