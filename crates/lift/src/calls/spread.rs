//! Arguments whose number or names only a row decides: `f(*items)`, `f(**settings)`.

use crate::abs::{Abs, Closure};
use crate::bailout::Code;
use crate::objects::class::{ClassObj, Member};
use crate::objects::merge::Arm;
use crate::tree::ast::Name;
use crate::walk::lifter::{Lift, Lifter};
use exuvia_ir::{Terminator, Type};
use std::rc::Rc;

/// The arguments that a list, or a dict, may become in a call of a function without `*args`, or `**kwargs`.
const MOST_SPREAD: usize = 6;
const MOST_NAMED: usize = 24;

impl Lifter<'_> {
    /// A list of arguments whose number is not known, with more at its end.
    pub fn more_arguments(&mut self, rest: Option<Abs>, more: &Abs) -> Lift<Abs> {
        if let Abs::Dyn(value) = more
            && matches!(self.b.function.ty(*value), Type::Union(_))
        {
            let listed = self.dispatch(*value, &mut |me, one| match me.extends(&one) {
                true => me.copy_to_list(&one),
                false => {
                    let span = me.b.span;
                    me.end(Terminator::Bailout("arguments behind * of what cannot be iterated", span));
                    Ok(Abs::Unbound)
                }
            })?;
            return if self.live { self.more_arguments(rest, &listed) } else { Ok(Abs::Unbound) };
        }
        if more.tuple_items().is_none() && !self.extends(more) {
            return self.bail(Code::Arguments, "*args of unknown length");
        }
        match rest {
            None => self.copy_to_list(more),
            Some(list) => {
                let more = self.listed(more)?;
                self.call_spelled(".extend", vec![list.clone(), more], Vec::new())?;
                Ok(list)
            }
        }
    }

    /// A call with further arguments in a list: they become the parameter `*args` of a function that
    /// has one, or the call is made for each number of arguments that the function takes.
    pub fn call_with_rest(
        &mut self,
        callee: &Abs,
        mut args: Vec<Abs>,
        rest: &Abs,
        named: Vec<(Name, Abs)>,
    ) -> Lift<Abs> {
        if let Abs::Builtin(name) = callee
            && matches!(&**name, "max" | "min")
            && named.is_empty()
        {
            args.splice(0..0, [callee.clone(), rest.clone()]);
            return self.call_of_prelude("_call_with_all", args);
        }
        if let Abs::Builtin(name) = callee
            && &**name == "itertools.zip_longest"
            && args.is_empty()
            && named.iter().all(|(name, _)| &**name == "fillvalue")
        {
            let fill = named.first().map_or(Abs::NONE, |(_, value)| value.clone());
            return self.call_of_prelude("_longest_all", vec![rest.clone(), fill]);
        }
        if let Abs::Builtin(name) = callee
            && &**name == "zip"
            && args.is_empty()
            && named.is_empty()
        {
            return self.call_of_prelude("_zip_all", vec![rest.clone()]);
        }
        let found = self.written_callee(callee)?;
        let Some((function, receivers)) = found else {
            return self.bail(Code::Arguments, "*args of unknown length");
        };
        let params = &function.def.params;
        let (given, takes) = (args.len() + receivers, params.positional.len());
        if params.rest.is_some() && given >= takes && !function.cached {
            let known = args.split_off(takes - receivers);
            let all = self.new_list(&known)?;
            self.call_spelled(".extend", vec![all.clone(), rest.clone()], Vec::new())?;
            self.rest = Some(self.long_tuple(all)?);
            let result = self.call_value(callee, args, named);
            self.rest = None;
            return result;
        }
        // The defaults of methods that `dataclass` wrote are those of the closure.
        let is_required = |name: &Name| !function.defaults.iter().any(|default| default.0 == *name);
        let required = params.positional.iter().filter(|param| param.1.is_none() && is_required(&param.0)).count();
        let (least, most) = (required.saturating_sub(given), takes.saturating_sub(given));
        if params.rest.is_some() || !named.is_empty() || most > MOST_SPREAD || given > takes {
            return self.bail(Code::Arguments, "*args of unknown length");
        }
        args.splice(0..0, [callee.clone(), rest.clone(), Abs::int(least as i64), Abs::int(most as i64)]);
        self.call_of_prelude("_call_with", args)
    }

    /// The function written in Python that a call runs, and how many arguments the call adds before those given.
    fn written_callee(&mut self, callee: &Abs) -> Lift<Option<(Rc<Closure>, usize)>> {
        Ok(match callee {
            Abs::Func(closure) => Some((Rc::clone(closure), 0)),
            Abs::Bound(method) => Some((Rc::clone(&method.closure), 1)),
            Abs::Class(class) => match ClassObj::find(class, "__init__") {
                Some((_, Member::Value(Abs::Func(closure)))) => Some((closure, 1)),
                _ => None,
            },
            Abs::Builtin(name) => {
                let (module, function) = crate::tree::names::in_module(name);
                let module = exuvia_ops::prelude::named(module);
                match module.map(|module| self.prelude_function(module, function)).transpose()?.flatten() {
                    Some(Abs::Func(closure)) => Some((closure, 0)),
                    Some(Abs::Class(class)) => return self.written_callee(&Abs::Class(class)),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// The named arguments of a call with `**` of a dict whose keys are not known: for each parameter that
    /// was not given what the dict has for it, or its default. Rows leave where the dict has other keys, or
    /// a parameter without default has no value.
    pub fn named_in(
        &mut self,
        callee: &Abs,
        given: usize,
        mut named: Vec<(Name, Abs)>,
        dict: &Abs,
    ) -> Lift<Vec<(Name, Abs)>> {
        if !self.live {
            return Ok(named);
        }
        let unknown = "** of a dict whose keys are not known in a call";
        let Some((function, receivers)) = self.written_callee(callee)? else {
            return self.bail(Code::Arguments, unknown);
        };
        let params = &function.def.params;
        let skipped = (given + receivers).max(params.positional_only);
        let takes = params.positional.iter().skip(skipped).chain(&params.keyword).map(|param| param.0.clone());
        let takes: Vec<Name> = takes.filter(|name| named.iter().all(|(given, _)| given != name)).collect();
        if params.keyword_rest.is_some() || params.rest.is_some() || takes.len() > MOST_NAMED {
            return self.bail(Code::Arguments, unknown);
        }
        let dict = &self.mapping(dict)?;
        let mut found = Abs::int(0);
        for name in takes {
            if !self.live {
                return Ok(named);
            }
            let key = Abs::str(&name);
            let has = self.apply("a in b", &[key.clone(), dict.clone()])?;
            let (yes, no) = self.split_value(&has)?;
            let mut arms: Vec<Arm> = Vec::new();
            self.enter_any(yes)?;
            if self.live {
                let value = self.item(dict.clone(), key)?;
                let one_more = self.apply("a+b", &[found.clone(), Abs::int(1)])?;
                arms.extend(self.state().map(|state| (state, vec![value, one_more])));
            }
            self.enter_any(no)?;
            match function.defaults.iter().find(|default| default.0 == name) {
                Some((_, default)) => arms.extend(self.state().map(|state| (state, vec![default.clone(), found]))),
                None => self.leave_call_to_python(),
            }
            let mut joined = self.join(arms)?.into_iter();
            let value = joined.next().unwrap_or(Abs::Unbound);
            found = joined.next().unwrap_or(Abs::Unbound);
            named.push((name, value));
        }
        if self.live {
            let size = self.apply("len", std::slice::from_ref(dict))?;
            let all = self.apply("a==b", &[size, found])?;
            let (yes, no) = self.split_value(&all)?;
            self.enter_any(no)?;
            self.leave_call_to_python();
            self.enter_any(yes)?;
        }
        Ok(named)
    }

    /// A dict; rows leave where a value of several types is none.
    fn mapping(&mut self, dict: &Abs) -> Lift<Abs> {
        let Abs::Dyn(value) = dict else { return Ok(dict.clone()) };
        if !matches!(self.b.function.ty(*value), Type::Union(_)) {
            return Ok(dict.clone());
        }
        self.dispatch(*value, &mut |me, one| {
            let is_dict = match &one {
                Abs::Instance(object) => ClassObj::is_dict(&object.class),
                other => me.type_of(other).is_some_and(|ty| ty.python_name() == "dict"),
            };
            if is_dict {
                return Ok(one);
            }
            me.leave_call_to_python();
            Ok(Abs::Unbound)
        })
    }

    /// Ends a path on which CPython refuses a call: such rows leave.
    pub fn leave_call_to_python(&mut self) {
        if self.live {
            let span = self.b.span;
            self.end(Terminator::Bailout("a call with other arguments than the function takes", span));
        }
    }
}
