//! The loop that runs a program.

use crate::kept::{self, Kept};
use crate::program::{Action, Checks, Code, End, Move, Program, Reg, Step, Target};
use crate::{Failure, MAX_FRAMES, fast};
use exuvia_ir::{ExcObj, FuncId, Int, Object, Raise, RecordObj, Span};
use exuvia_ops::cx::Cx;
use std::sync::Arc;

/// A function that is active.
#[derive(Debug)]
struct Frame {
    function: FuncId,
    block: usize,
    /// The next step of the block; while a callee is active, one past the call.
    step: usize,
    registers: Vec<Object>,
    /// By what its result is kept.
    key: Option<(FuncId, Vec<u8>)>,
}

/// What runs a program, row by row. It keeps its memory between rows.
#[derive(Debug)]
pub struct Runner<'p> {
    program: &'p Program,
    frames: Vec<Frame>,
    /// The calls of Python that nest.
    depth: usize,
    /// For each function the registers of calls that have ended, with its constants in place.
    spare: Vec<Vec<Vec<Object>>>,
    /// Operands and edge arguments on their way.
    scratch: Vec<Object>,
    kept: Kept,
}

const MALFORMED: Raise = Raise::Bailout("the function is malformed");

impl Program {
    /// What runs the program.
    #[must_use]
    pub fn runner(&self) -> Runner<'_> {
        let spare = self.functions.iter().map(|_| vec![]).collect();
        Runner { program: self, frames: vec![], depth: 0, spare, scratch: vec![], kept: Kept::default() }
    }

    /// Runs function 0 once; see [`crate::call`].
    ///
    /// # Errors
    /// The exception or the reason for which there is no value, with its place.
    pub fn call(&self, args: &[Object], cx: &mut Cx, fuel: &mut u64) -> Result<Object, Failure> {
        self.runner().call(args, cx, fuel)
    }

    /// Runs a function once; see [`crate::call`].
    ///
    /// # Errors
    /// The exception or the reason for which there is no value, with its place.
    pub fn call_function(
        &self,
        function: FuncId,
        args: &[Object],
        cx: &mut Cx,
        fuel: &mut u64,
    ) -> Result<Object, Failure> {
        self.runner().call_function(function, args, cx, fuel)
    }
}

impl Runner<'_> {
    /// Runs function 0; see [`crate::call`].
    ///
    /// # Errors
    /// The exception or the reason for which there is no value, with its place.
    pub fn call(&mut self, args: &[Object], cx: &mut Cx, fuel: &mut u64) -> Result<Object, Failure> {
        self.call_function(FuncId(0), args, cx, fuel)
    }

    fn call_function(
        &mut self,
        function: FuncId,
        args: &[Object],
        cx: &mut Cx,
        fuel: &mut u64,
    ) -> Result<Object, Failure> {
        while !self.frames.is_empty() {
            self.leave();
        }
        self.kept.clear();
        self.scratch.clear();
        self.scratch.extend_from_slice(args);
        if let Err(raise) = self.enter(function, None, fuel) {
            return Err(Failure { raise, span: Span::default(), trace: vec![] });
        }
        loop {
            match self.advance(cx, fuel) {
                Ok(value) => return Ok(value),
                Err((raise, span)) => self.unwind(raise, span, fuel)?,
            }
        }
    }

    /// Pushes a frame; the arguments are in `scratch`, which is left empty.
    fn enter(&mut self, function: FuncId, key: Option<(FuncId, Vec<u8>)>, fuel: &mut u64) -> Result<(), Raise> {
        let code = self.program.functions.get(function.index()).ok_or(MALFORMED)?;
        if code.params != self.scratch.len() {
            return Err(MALFORMED);
        }
        if self.depth >= MAX_FRAMES {
            return Err(Raise::Bailout("recursion near CPython's limit"));
        }
        let mut registers = self.spare[function.index()].pop().unwrap_or_else(|| code.registers.clone());
        // The registers of the parameters come first; see `program::prepare`.
        for (register, argument) in registers.iter_mut().zip(self.scratch.drain(..)) {
            *register = argument;
        }
        self.frames.push(Frame { function, block: 0, step: 0, registers, key });
        self.depth += code.frames;
        burn(code, 0, fuel)
    }

    /// Removes the frame on top.
    fn leave(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.depth -= self.program.functions[frame.function.index()].frames;
            self.spare[frame.function.index()].push(frame.registers);
        }
    }

    /// Runs until the outermost function returns, or something is raised.
    fn advance(&mut self, cx: &mut Cx, fuel: &mut u64) -> Result<Object, (Raise, Span)> {
        let program = self.program;
        'frames: loop {
            let Some(Frame { function, block: at_block, step: at_step, registers, .. }) = self.frames.last_mut() else {
                return Err((MALFORMED, Span::default()));
            };
            let code = &program.functions[function.index()];
            loop {
                let block = &code.blocks[*at_block];
                for (at, step) in block.steps.iter().enumerate().skip(*at_step) {
                    if let Action::Call(callee) = step.action {
                        *at_step = at + 1;
                        load(&mut self.scratch, registers, &step.args);
                        if cx.interrupted() {
                            return Err((Raise::Interrupted, step.span));
                        }
                        let keys = program.functions.get(callee.index()).and_then(|code| code.keeps.as_deref());
                        let key = keys.and_then(|keys| kept::key(callee, &self.scratch, keys));
                        if let Some(value) = key.as_ref().and_then(|key| self.kept.find(key)) {
                            if let Some(result) = step.result {
                                registers[result as usize] = value.clone();
                            }
                            continue;
                        }
                        self.enter(callee, key, fuel).map_err(|raise| (raise, step.span))?;
                        continue 'frames;
                    }
                    match perform(step, registers, &mut self.scratch, cx) {
                        Ok(value) => {
                            if program.checks != Checks::None
                                && let Object::Int(Int::Big(_)) = value
                            {
                                assert!(!step.no_overflow, "{step:?} does not fit in 64 bits");
                                if program.checks == Checks::Words {
                                    return Err((Raise::Bailout("an integer beyond 64 bits"), step.span));
                                }
                            }
                            if let Some(result) = step.result {
                                registers[result as usize] = value;
                            }
                        }
                        Err(raise) => {
                            *at_step = at + 1;
                            return Err((raise, step.span));
                        }
                    }
                }
                *at_step = block.steps.len() + 1;
                let target = match &block.end {
                    End::Jump(target) => target,
                    End::Branch(cond, yes, no) => match registers[*cond as usize] {
                        Object::Bool(true) => yes,
                        Object::Bool(false) => no,
                        _ => return Err((MALFORMED, Span::default())),
                    },
                    End::Return(value) => {
                        let value = registers[*value as usize].clone();
                        if let Some(key) = self.frames.last_mut().and_then(|frame| frame.key.take()) {
                            let kept = self.kept.keep(key, value.clone(), cx.limit());
                            kept.map_err(|raise| (raise, Span::default()))?;
                        }
                        self.leave();
                        match self.deliver(value) {
                            None => continue 'frames,
                            Some(value) => return Ok(value),
                        }
                    }
                    End::Raise(kind, args, span) => {
                        let args = args.iter().map(|arg| registers[*arg as usize].clone()).collect();
                        return Err((Raise::Exception { kind: *kind, args }, *span));
                    }
                    End::Reraise(value, span) => match &registers[*value as usize] {
                        Object::Exc(exc) => {
                            let span = if exc.span == Span::default() { span } else { &exc.span };
                            return Err((Raise::Exception { kind: exc.kind, args: exc.args.clone() }, *span));
                        }
                        _ => return Err((MALFORMED, *span)),
                    },
                    End::Bailout(reason, span) => return Err((Raise::Bailout(reason), *span)),
                };
                pass(&mut self.scratch, registers, target);
                *at_block = target.block as usize;
                *at_step = 0;
                burn(code, *at_block, fuel).map_err(|raise| (raise, Span::default()))?;
            }
        }
    }

    /// Gives a returned value to the call that waits on top of the stack, or back where none does.
    fn deliver(&mut self, value: Object) -> Option<Object> {
        let Some(frame) = self.frames.last_mut() else { return Some(value) };
        let code = &self.program.functions[frame.function.index()];
        if let Some(result) = code.blocks[frame.block].steps[frame.step - 1].result {
            frame.registers[result as usize] = value;
        }
        None
    }

    /// Takes an exception to the nearest handler.
    ///
    /// # Errors
    /// The failure of the whole call where there is none.
    fn unwind(&mut self, raise: Raise, span: Span, fuel: &mut u64) -> Result<(), Failure> {
        let failed: Vec<(FuncId, Span)> = self.trace(span);
        if let Raise::Exception { kind, args } = &raise {
            while let Some(frame) = self.frames.last_mut() {
                let code = &self.program.functions[frame.function.index()];
                // A step that raised, or the call that waits. The end of a block raises out
                // of the function: its position is past the steps.
                let step = frame.step.checked_sub(1).and_then(|at| code.blocks[frame.block].steps.get(at));
                if let Some(target) = step.and_then(|step| step.unwind.as_ref()) {
                    pass(&mut self.scratch, &mut frame.registers, target);
                    if let Some(register) = target.exception {
                        let span = place(&failed, span);
                        let exc = Object::Exc(Arc::new(ExcObj { kind: *kind, args: args.clone(), span }));
                        frame.registers[register as usize] = exc;
                    }
                    (frame.block, frame.step) = (target.block as usize, 0);
                    let block = frame.block;
                    return burn(code, block, fuel).map_err(|raise| {
                        let span = Span::default();
                        Failure { raise, span, trace: self.trace(span) }
                    });
                }
                self.leave();
            }
        }
        Err(Failure { raise, span: place(&failed, span), trace: failed })
    }

    /// The active functions; `span` is the place in the innermost.
    fn trace(&self, span: Span) -> Vec<(FuncId, Span)> {
        let innermost = self.frames.len().saturating_sub(1);
        let place = |(depth, frame): (usize, &Frame)| {
            let steps = &self.program.functions[frame.function.index()].blocks[frame.block].steps;
            let call = frame.step.checked_sub(1).and_then(|at| steps.get(at)).map_or(span, |step| step.span);
            (frame.function, if depth == innermost { span } else { call })
        };
        self.frames.iter().enumerate().map(place).collect()
    }
}

/// The innermost place: code without places of its own, the prelude's, is where it was called.
fn place(trace: &[(FuncId, Span)], raised: Span) -> Span {
    trace.iter().rev().map(|(_, place)| *place).find(|place| *place != Span::default()).unwrap_or(raised)
}

/// Charges a block's instructions when it is entered, so that every loop pays.
#[inline]
fn burn(code: &Code, block: usize, fuel: &mut u64) -> Result<(), Raise> {
    let cost = code.blocks[block].steps.len() as u64 + 1;
    *fuel = fuel.checked_sub(cost).ok_or(Raise::Bailout("out of fuel"))?;
    Ok(())
}

/// Copies registers to `scratch`.
#[inline]
fn load(scratch: &mut Vec<Object>, registers: &[Object], regs: &[Reg]) {
    scratch.clear();
    scratch.extend(regs.iter().map(|reg| registers[*reg as usize].clone()));
}

/// Gives a block its parameters, but for an exception: a parallel assignment.
#[inline]
fn pass(scratch: &mut Vec<Object>, registers: &mut [Object], target: &Target) {
    let read = |registers: &mut [Object], one: &Move| {
        let register = &mut registers[one.from as usize];
        if one.last { std::mem::replace(register, Object::Unbound) } else { register.clone() }
    };
    if target.in_order {
        for one in &target.moves {
            let value = read(registers, one);
            registers[one.to as usize] = value;
        }
        return;
    }
    scratch.clear();
    scratch.extend(target.moves.iter().map(|one| read(registers, one)));
    for (one, value) in target.moves.iter().zip(scratch.drain(..)) {
        registers[one.to as usize] = value;
    }
}

/// Does everything but a call.
#[inline]
fn perform(step: &Step, registers: &[Object], scratch: &mut Vec<Object>, cx: &mut Cx) -> Result<Object, Raise> {
    let get = |reg: &Reg| &registers[*reg as usize];
    let first = || step.args.first().map_or(&Object::Unbound, get);
    let copied = || step.args.iter().map(|reg| get(reg).clone()).collect();
    Ok(match &step.action {
        Action::Op(def, core) => {
            let quick = match (core, &step.args[..]) {
                (Some(op), [a, b]) => fast::two(*op, get(a), get(b)),
                (Some(op), [a]) => fast::one(*op, get(a)),
                _ => None,
            };
            if let Some(value) = quick {
                return Ok(value);
            }
            if step.args.len() != def.params.len() {
                return Err(MALFORMED);
            }
            load(scratch, registers, &step.args);
            (def.eval)(cx, scratch)?
        }
        Action::TooLarge => return Err(Raise::Bailout("an integer beyond 64 bits")),
        Action::Missing => return Err(Raise::Bailout("an operation that this build does not have")),
        Action::Call(_) => return Err(MALFORMED),
        Action::Same => first().clone(),
        Action::Is(test) => Object::Bool(test.holds(first())),
        Action::Tuple => Object::tuple(copied()),
        Action::Record(class) => Object::Record(Arc::new(RecordObj { class: *class, fields: copied() })),
        Action::Field(index) => match first() {
            Object::Tuple(items) => items.get(*index).cloned().ok_or(MALFORMED)?,
            Object::Record(record) => record.fields.get(*index).cloned().ok_or(MALFORMED)?,
            _ => return Err(MALFORMED),
        },
        Action::List => Object::list(copied()),
        Action::NewExc(kind) => Object::Exc(Arc::new(ExcObj { kind: *kind, args: copied(), span: step.span })),
        Action::ExcIs(kinds) => match first() {
            Object::Exc(exc) => Object::Bool(kinds.iter().any(|kind| exc.kind.is_subclass(*kind))),
            _ => return Err(MALFORMED),
        },
        Action::Message(def) => {
            load(scratch, registers, &step.args);
            Object::str(&def.message(cx, scratch)?)
        }
        Action::Poll => {
            if cx.interrupted() {
                return Err(Raise::Interrupted);
            }
            Object::None
        }
    })
}
