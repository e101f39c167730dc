//! What values are at the border that are no single run-time value: functions in Python, written as text
//! for a type of SQL.

use crate::border::SqlClass;
use exuvia_ir::Object;
use std::fmt::Write as _;

/// Functions of the prelude's language, being written.
#[derive(Default)]
pub(crate) struct Text {
    pub functions: String,
    count: usize,
}

/// The line after which CPython finds out that a result does not fit.
const LEAVE: &str = "    return _leave('a result of another type')";

/// The body that gives what a dict holds under exactly those names, each put into a function.
pub(crate) fn fields_body(fields: &[(&str, String)]) -> String {
    let mut tests = format!("not isinstance(v, dict) or len(v) != {}", fields.len());
    let mut values = String::new();
    for (name, inner) in fields {
        let name = literal(name);
        let _ = write!(tests, " or {name} not in v");
        let _ = write!(values, "{inner}(v[{name}]), ");
    }
    format!("    if {tests}:\n    {LEAVE}\n    return ({values})")
}

/// A text as Python's source has it.
fn literal(text: &str) -> String {
    exuvia_ops::show::repr(&Object::str(text))
}

impl Text {
    pub fn add(&mut self, body: &str) -> String {
        self.count += 1;
        let name = format!("_f{}", self.count);
        let _ = write!(self.functions, "def {name}(v):\n    if v is None:\n        return None\n{body}\n");
        name
    }

    /// As [`Text::add`], of a body that asks for the class of the value.
    fn add_apart(&mut self, body: &str) -> String {
        let one = self.add(body);
        self.add(&format!("    return _apart({one}, v)"))
    }

    /// The function that makes what Python sees of a value at the border; its name.
    pub fn read(&mut self, class: &SqlClass) -> String {
        match class {
            SqlClass::List(element) => {
                let inner = self.read(element);
                self.add(&format!("    return [{inner}(x) for x in v]"))
            }
            SqlClass::Struct(fields) => {
                let mut entries = Vec::new();
                for (at, (name, class)) in fields.iter().enumerate() {
                    let inner = self.read(class);
                    entries.push(format!("{}: {inner}(v[{at}])", literal(name)));
                }
                self.add(&format!("    return {{{}}}", entries.join(", ")))
            }
            SqlClass::Map(entry) => {
                let [key, value] = [&entry.0, &entry.1].map(|class| self.read(class));
                self.add(&format!("    return {{{key}(x[0]): {value}(x[1]) for x in v}}"))
            }
            class if class.is_plain() => self.add("    return v"),
            class => self.add(&format!("    return _across('_of_sql', v, {})", class.across())),
        }
    }

    /// The function that makes the value at the border of what Python has; its name. What the SQL
    /// type cannot hold is CPython's to refuse.
    pub fn store(&mut self, class: &SqlClass) -> String {
        match class {
            SqlClass::List(element) => {
                let inner = self.store(element);
                let body = format!(
                    "    v = _in_sql(v)\n    if isinstance(v, (list, tuple)):\n        return [{inner}(x) for x in v]\n{LEAVE}"
                );
                self.add_apart(&body)
            }
            SqlClass::Map(entry) => {
                let [key, value] = [&entry.0, &entry.1].map(|class| self.store(class));
                let body = format!(
                    "    v = _in_sql(v)\n    if isinstance(v, dict) and None not in v:\n        \
                     return [({key}(x), {value}(y)) for x, y in v.items()]\n{LEAVE}"
                );
                self.add_apart(&body)
            }
            SqlClass::Struct(fields) => {
                let inner: Vec<(&str, String)> =
                    fields.iter().map(|(name, class)| (name.as_str(), self.store(class))).collect();
                self.add_apart(&fields_body(&inner))
            }
            SqlClass::Float => self.add_apart(&format!(
                "    v = _in_sql(v)\n    if _type_name(v) == 'float':\n        return v\n    \
                 if _type_name(v) == 'int' and -9007199254740992 <= v <= 9007199254740992:\n        \
                 return _operation('int.to_float', v)\n{LEAVE}"
            )),
            class if class.is_plain() => {
                let name = class.python().message_name().to_string();
                self.add_apart(&format!(
                    "    v = _in_sql(v)\n    if _type_name(v) == '{name}':\n        return v\n{LEAVE}"
                ))
            }
            // It looks at the class itself.
            SqlClass::Instant(_) | SqlClass::Decimal { .. } => self.add_apart(&format!(
                "    w = _across('_to_sql', v, {})\n    if w is not None:\n        return w\n{LEAVE}",
                class.across()
            )),
            class => {
                let name = class.python().path().to_string();
                self.add_apart(&format!(
                    "    if _type_name(v) == '{name}':\n        w = _across('_to_sql', v, {})\n        \
                     if w is not None:\n            return w\n{LEAVE}",
                    class.across()
                ))
            }
        }
    }
}
