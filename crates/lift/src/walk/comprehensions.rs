//! Comprehensions and generator expressions.

use crate::abs::{Abs, Enclosing, Iter};
use crate::bailout::Code;
use crate::data::member_sets::StaticSet;
use crate::tree::ast::{Collects, Comprehension, Expr};
use crate::walk::expr::Each;
use crate::walk::lifter::{Frame, Lift, Lifter, Scope, Vars};
use std::rc::Rc;
use std::sync::Arc;

impl<'w> Lifter<'w> {
    /// What a loop goes over.
    pub fn iterated(&mut self, iter: &Expr) -> Lift<Abs> {
        match self.iterated_display(iter)? {
            Some(display) => Ok(display),
            None => self.expr(iter),
        }
    }

    pub fn comprehension(&mut self, comp: &Arc<Comprehension>) -> Lift<Abs> {
        let depth = self.current;
        let module = self.frames[depth].module;
        if self.frames[depth].class_body {
            return self.bail(Code::Statement, "a comprehension in the body of a class");
        }
        // The first iterable is evaluated in the frame around (language reference 6.2.4).
        let first = self.iterated(&comp.clauses[0].iter)?;
        if comp.collects == Collects::Generator {
            let first = self.iterable(first)?;
            // Those of the prelude go nowhere else.
            if !self.in_prelude(module) {
                self.makes(depth, true);
            }
            let iter = Iter::Generator { comp: comp.clone(), first, enclosing: Enclosing::Live(depth), module };
            return Ok(Abs::Iter(Rc::new(iter)));
        }
        if comp.collects == Collects::List {
            return self.filled_list(&mut |me, append| {
                me.generate(comp, &first, &Enclosing::Live(depth), module, &mut |me, element, _| {
                    me.kept(&element)?;
                    append(me, element)
                })
            });
        }
        if !self.module_mode {
            return self.collect_entries(comp, &first, Enclosing::Live(depth), module);
        }
        // A set or dict must come out constant: its elements are collected now.
        let mut set = StaticSet::empty(false);
        let mut entries: Vec<(Option<Abs>, Abs)> = Vec::new();
        self.generate(comp, &first, &Enclosing::Live(depth), module, &mut |me, element, value| {
            if !me.live {
                return Ok(());
            }
            match (element, value) {
                (key, Some(value)) => entries.push((Some(key), value)),
                (key, None) => me.add_to(&mut set, &key)?,
            }
            Ok(())
        })?;
        if comp.collects == Collects::Dict {
            return self.dict_of_entries(entries);
        }
        self.static_set(set)
    }

    /// What `iter()` of a value does at once: a value that cannot be iterated raises.
    pub fn iterable(&mut self, value: Abs) -> Lift<Abs> {
        if let Abs::Instance(object) = &value {
            return self.iterator_of(&Rc::clone(object));
        }
        if let Some((_, v)) = self.union_operand(std::slice::from_ref(&value)) {
            return self.dispatch(v, &mut |me, narrowed| me.iterable(narrowed));
        }
        if let Some(ty) = self.type_of(&value)
            && let Some((kind, message)) = exuvia_ops::operands::error("iter", &[ty])
        {
            return self.raise_message(kind, &message);
        }
        Ok(value)
    }

    /// Runs the clauses of a comprehension in a frame of their own and hands each element
    /// to `each`.
    pub fn generate(
        &mut self,
        comp: &Comprehension,
        first: &Abs,
        enclosing: &Enclosing,
        module: usize,
        each: &mut Each<'_, 'w>,
    ) -> Lift<()> {
        let mut locals = Vec::new();
        for clause in &comp.clauses {
            crate::tree::scope::target_names(&clause.target, &mut locals);
        }
        locals.sort();
        let path = self.frames.get(self.current).map_or(0, |frame| frame.path);
        let consumer = self.current;
        let scope = Scope {
            def: None,
            locals: locals.into(),
            enclosing: enclosing.clone(),
            module,
            path,
            class_body: false,
            owner: None,
        };
        self.frames.push(Frame::new(Vars::default(), scope));
        let depth = self.frames.len() - 1;
        self.makes(depth, false);
        self.current = depth;
        // What takes the elements is code of the frame around, and has its places.
        let outer = (self.span_locked, self.b.span);
        self.span_locked = self.in_prelude(module);
        let result = self.generate_clause(comp, 0, Some(first.clone()), &mut |me, element, value| {
            let own = (me.span_locked, me.b.span);
            (me.span_locked, me.b.span) = outer;
            me.current = consumer;
            let result = each(me, element, value);
            me.current = depth;
            (me.span_locked, me.b.span) = own;
            result
        });
        (self.span_locked, self.b.span) = outer;
        self.current = consumer;
        result?;
        if self.live {
            self.end_frames(depth);
        }
        Ok(())
    }

    fn generate_clause(
        &mut self,
        comp: &Comprehension,
        index: usize,
        first: Option<Abs>,
        each: &mut Each<'_, 'w>,
    ) -> Lift<()> {
        let Some(clause) = comp.clauses.get(index) else {
            let element = self.expr(&comp.element)?;
            let value = comp.value.as_ref().map(|value| self.expr(value)).transpose()?;
            for made in [Some(&element), value.as_ref()].into_iter().flatten() {
                // It would see what the variables of the comprehension are later.
                if crate::walk::leave::refers_to(made, self.current, &self.world.budget) {
                    return self.bail(Code::StaticValue, "a function made within a comprehension outlives its turn");
                }
            }
            return each(self, element, value);
        };
        let iterable = match first {
            Some(first) => first,
            None => self.iterated(&clause.iter)?,
        };
        let outer = self.go_to(clause.iter.span);
        self.for_each(&iterable, &mut |me, item| {
            me.assign(&clause.target, item)?;
            let mut skipped = Vec::new();
            for condition in &clause.conditions {
                let (yes, no) = me.split(condition)?;
                skipped.extend(no);
                me.enter_any(yes)?;
            }
            if me.live {
                me.generate_clause(comp, index + 1, None, each)?;
            }
            skipped.extend(me.state());
            me.enter_any(skipped)?;
            // What the last turn had is no variable of the loop.
            clause.over.iter().for_each(|name| me.remove_var(name));
            Ok(())
        })?;
        self.back_to(outer);
        Ok(())
    }
}
