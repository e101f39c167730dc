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

/// How many arguments a built-in function takes that is one or several operations: the least and the most.
fn taken_by_operation(callee: &Abs) -> Option<(usize, usize)> {
    let Abs::Builtin(name) = callee else { return None };
    if matches!(&**name, "math.gcd" | "math.lcm" | "math.hypot") {
        // They take any number.
        return None;
    }
    let takes = exuvia_ops::by_spelling(name).iter().map(|def| {
        let positional = || def.params.iter().filter(|param| !param.keyword_only);
        (positional().filter(|param| param.default.is_none()).count(), positional().count())
    });
    let takes = takes.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    (takes.1 <= MOST_SPREAD).then_some(takes)
}

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
        if let Abs::OneOf(choice) = callee {
            return self.choose(&Rc::clone(choice), &mut |me, callee| {
                me.call_with_rest(&callee, args.clone(), rest, named.clone())
            });
        }
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
            let Some((least, most)) = taken_by_operation(callee).filter(|_| named.is_empty()) else {
                return self.bail(Code::Arguments, "*args of unknown length");
            };
            let (least, most) = (least.saturating_sub(args.len()), most.saturating_sub(args.len()));
            return self.call_with_items(callee, args, rest, (least, most));
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
        self.call_with_items(callee, args, rest, (least, most))
    }

    /// A call with the items of a list behind those arguments, as many as it takes: rows with others leave.
    fn call_with_items(
        &mut self,
        callee: &Abs,
        mut args: Vec<Abs>,
        items: &Abs,
        (least, most): (usize, usize),
    ) -> Lift<Abs> {
        args.splice(0..0, [callee.clone(), items.clone(), Abs::int(least as i64), Abs::int(most as i64)]);
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
        if takes.len() > MOST_NAMED || function.cached {
            return self.bail(Code::Arguments, unknown);
        }
        let dict = &self.mapping(dict)?;
        if params.keyword_rest.is_some() {
            return self.named_and_others(&function, &takes, given + receivers, named, dict);
        }
        if params.rest.is_some() {
            return self.bail(Code::Arguments, unknown);
        }
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

    /// [`Lifter::named_in`] for a function with `**kwargs`, which becomes a dict of what no parameter takes.
    /// Rows leave where the dict has what is given already, or other keys than texts.
    fn named_and_others(
        &mut self,
        function: &Closure,
        takes: &[Name],
        given: usize,
        mut named: Vec<(Name, Abs)>,
        dict: &Abs,
    ) -> Lift<Vec<(Name, Abs)>> {
        let params = &function.def.params;
        let is_parameter = |name: &Name| params.positional.iter().chain(&params.keyword).any(|param| param.0 == *name);
        if named.iter().any(|(name, _)| !is_parameter(name)) {
            return self.bail(Code::Arguments, "** of a dict whose keys are not known in a call");
        }
        let others = self.call_of_prelude("_named", vec![dict.clone()])?;
        let begun = params.positional.iter().take(given).skip(params.positional_only).map(|param| &param.0);
        let refused: Vec<Name> = begun.chain(named.iter().map(|(name, _)| name)).cloned().collect();
        for name in refused {
            let has = self.apply("a in b", &[Abs::str(&name), others.clone()])?;
            let (yes, no) = self.split_value(&has)?;
            self.enter_any(yes)?;
            self.leave_call_to_python();
            self.enter_any(no)?;
        }
        for name in takes {
            if !self.live {
                return Ok(named);
            }
            let default = function.defaults.iter().find(|default| default.0 == *name).map(|default| default.1.clone());
            let has = self.apply("a in b", &[Abs::str(name), others.clone()])?;
            let (yes, no) = self.split_value(&has)?;
            let mut arms: Vec<Arm> = Vec::new();
            self.enter_any(yes)?;
            if self.live {
                let value = self.call_of(&others, "pop", vec![Abs::str(name)])?;
                arms.extend(self.state().map(|state| (state, vec![value])));
            }
            self.enter_any(no)?;
            match default {
                Some(default) => arms.extend(self.state().map(|state| (state, vec![default]))),
                None => self.leave_call_to_python(),
            }
            let value = self.join(arms)?.pop().unwrap_or(Abs::Unbound);
            named.push((name.clone(), value));
        }
        self.others = self.live.then_some(others);
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
