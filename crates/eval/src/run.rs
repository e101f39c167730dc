//! The loop that runs a program.

use crate::program::{Action, Code, End, Program, Reg, Step, Target};
use crate::{Failure, MAX_FRAMES, fast};
use exuvia_ir::{ExcObj, FuncId, Int, Object, Raise, RecordObj, Span};
use exuvia_ops::cx::Cx;
use std::sync::Arc;

/// A function that is active.
struct Frame {
    function: FuncId,
    block: usize,
    /// The next step of the block; while a callee is active, one past the call.
    step: usize,
    registers: Vec<Object>,
}

/// What ends a block early.
enum Outcome {
    /// Go on with the frame that is now on top.
    Continue,
    /// The outermost function returned.
    Finished(Object),
}

struct Machine<'a> {
    program: &'a Program,
    cx: &'a mut Cx,
    fuel: &'a mut u64,
    frames: Vec<Frame>,
    /// Operands and edge arguments on their way, kept to save allocations.
    scratch: Vec<Object>,
}

const MALFORMED: Raise = Raise::Bailout("the function is malformed");

impl Program {
    /// Runs function 0; see [`crate::call`].
    ///
    /// # Errors
    /// The exception or the reason for which there is no value, with its place.
    pub fn call(&self, args: &[Object], cx: &mut Cx, fuel: &mut u64) -> Result<Object, Failure> {
        self.call_function(FuncId(0), args, cx, fuel)
    }

    /// Runs a function; see [`crate::call`].
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
        let scratch = args.to_vec();
        let mut machine = Machine { program: self, cx, fuel, frames: Vec::new(), scratch };
        if let Err(raise) = machine.enter(function) {
            return Err(Failure { raise, span: Span::default(), trace: vec![] });
        }
        loop {
            match machine.advance() {
                Ok(Outcome::Continue) => {}
                Ok(Outcome::Finished(value)) => return Ok(value),
                Err((raise, span)) => machine.unwind(raise, span)?,
            }
        }
    }
}

impl Machine<'_> {
    /// Pushes a frame; the arguments are in `scratch`, which is left empty.
    fn enter(&mut self, function: FuncId) -> Result<(), Raise> {
        let code = self.program.functions.get(function.index()).ok_or(MALFORMED)?;
        if code.params != self.scratch.len() {
            return Err(MALFORMED);
        }
        if self.frames.len() >= MAX_FRAMES {
            return Err(Raise::Bailout("recursion near CPython's limit"));
        }
        // The registers of the parameters come first; see `program::prepare`.
        let mut registers = Vec::with_capacity(code.registers);
        registers.append(&mut self.scratch);
        registers.resize(code.registers, Object::Unbound);
        self.frames.push(Frame { function, block: 0, step: 0, registers });
        self.burn(code, 0)
    }

    /// Charges a block's instructions when it is entered, so that every loop pays.
    fn burn(&mut self, code: &Code, block: usize) -> Result<(), Raise> {
        let cost = code.blocks[block].steps.len() as u64 + 1;
        match self.fuel.checked_sub(cost) {
            Some(left) => {
                *self.fuel = left;
                Ok(())
            }
            None => Err(Raise::Bailout("out of fuel")),
        }
    }

    /// Runs the frame on top until it calls, returns, jumps or raises.
    fn advance(&mut self) -> Result<Outcome, (Raise, Span)> {
        let program = self.program;
        let Some(frame) = self.frames.last() else { return Err((MALFORMED, Span::default())) };
        let code = &program.functions[frame.function.index()];
        let block = &code.blocks[frame.block];
        let first = frame.step;
        for (at, step) in block.steps.iter().enumerate().skip(first) {
            if let Action::Call(callee) = step.action {
                self.load(&step.args);
                if let Some(frame) = self.frames.last_mut() {
                    frame.step = at + 1;
                }
                if self.cx.interrupted() {
                    return Err((Raise::Interrupted, step.span));
                }
                self.enter(callee).map_err(|raise| (raise, step.span))?;
                return Ok(Outcome::Continue);
            }
            match self.perform(step) {
                Ok(Object::Int(Int::Big(_))) if program.narrow => {
                    assert!(!step.no_overflow, "{step:?} does not fit in 64 bits");
                    return Err((Raise::Bailout("an integer beyond 64 bits"), step.span));
                }
                Ok(value) => {
                    if let (Some(result), Some(frame)) = (step.result, self.frames.last_mut()) {
                        frame.registers[result as usize] = value;
                    }
                }
                Err(raise) => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.step = at + 1;
                    }
                    return Err((raise, step.span));
                }
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.step = block.steps.len() + 1;
        }
        match &block.end {
            End::Jump(target) => self.jump(target, None),
            End::Branch(cond, yes, no) => match self.get(*cond) {
                Object::Bool(true) => self.jump(yes, None),
                Object::Bool(false) => self.jump(no, None),
                _ => Err((MALFORMED, Span::default())),
            },
            End::Return(value) => {
                let value = self.get(*value).clone();
                self.frames.pop();
                Ok(self.deliver(value))
            }
            End::Raise(kind, args, span) => {
                let args = args.iter().map(|arg| self.get(*arg).clone()).collect();
                Err((Raise::Exception { kind: *kind, args }, *span))
            }
            End::Reraise(value, span) => match self.get(*value) {
                Object::Exc(exc) => Err((Raise::Exception { kind: exc.kind, args: exc.args.clone() }, *span)),
                _ => Err((MALFORMED, *span)),
            },
            End::Bailout(reason, span) => Err((Raise::Bailout(reason), *span)),
        }
    }

    /// Gives a returned value to the call that waits on top of the stack.
    fn deliver(&mut self, value: Object) -> Outcome {
        let Some(frame) = self.frames.last_mut() else { return Outcome::Finished(value) };
        let code = &self.program.functions[frame.function.index()];
        if let Some(result) = code.blocks[frame.block].steps[frame.step - 1].result {
            frame.registers[result as usize] = value;
        }
        Outcome::Continue
    }

    fn get(&self, reg: Reg) -> &Object {
        self.frames.last().map_or(&Object::Unbound, |frame| &frame.registers[reg as usize])
    }

    /// Copies registers of the frame on top to `scratch`.
    fn load(&mut self, regs: &[Reg]) {
        self.scratch.clear();
        if let Some(frame) = self.frames.last() {
            self.scratch.extend(regs.iter().map(|reg| frame.registers[*reg as usize].clone()));
        }
    }

    /// Goes to a block; `exc` is the exception on an unwind edge. The arguments are read
    /// before a parameter is written: an edge is a parallel assignment.
    fn jump(&mut self, target: &Target, exc: Option<Object>) -> Result<Outcome, (Raise, Span)> {
        self.load(&target.args);
        let Some(frame) = self.frames.last_mut() else { return Err((MALFORMED, Span::default())) };
        let code = &self.program.functions[frame.function.index()];
        let block = target.block as usize;
        for (param, value) in code.blocks[block].params.iter().zip(exc.into_iter().chain(self.scratch.drain(..))) {
            frame.registers[*param as usize] = value;
        }
        frame.block = block;
        frame.step = 0;
        self.burn(code, block).map_err(|raise| (raise, Span::default()))?;
        Ok(Outcome::Continue)
    }

    /// Takes an exception to the nearest handler.
    ///
    /// # Errors
    /// The failure of the whole call where there is none.
    fn unwind(&mut self, raise: Raise, span: Span) -> Result<(), Failure> {
        let failed: Vec<(FuncId, Span)> = self.trace(span);
        if let Raise::Exception { kind, args } = &raise {
            while let Some(frame) = self.frames.last() {
                let code = &self.program.functions[frame.function.index()];
                // A step that raised, or the call that waits. The end of a block raises out
                // of the function: its position is past the steps.
                let step = frame.step.checked_sub(1).and_then(|at| code.blocks[frame.block].steps.get(at));
                if let Some(target) = step.and_then(|step| step.unwind.as_ref()) {
                    let exc = Object::Exc(Arc::new(ExcObj { kind: *kind, args: args.clone() }));
                    return match self.jump(target, Some(exc)) {
                        Ok(_) => Ok(()),
                        Err((raise, span)) => Err(Failure { raise, span, trace: self.trace(span) }),
                    };
                }
                self.frames.pop();
            }
        }
        let span = failed.last().map_or(span, |last| last.1);
        Err(Failure { raise, span, trace: failed })
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

    /// Does everything but a call.
    fn perform(&mut self, step: &Step) -> Result<Object, Raise> {
        let first = || step.args.first().map_or(&Object::Unbound, |reg| self.get(*reg));
        Ok(match &step.action {
            Action::Const(object) => object.clone(),
            Action::Op(def, core) => {
                self.load(&step.args);
                if let Some(value) = core.and_then(|op| fast::eval(op, &self.scratch)) {
                    return Ok(value);
                }
                if self.scratch.len() != def.params.len() {
                    return Err(MALFORMED);
                }
                (def.eval)(self.cx, &self.scratch)?
            }
            Action::Missing => return Err(Raise::Bailout("an operation that this build does not have")),
            Action::Call(_) => return Err(MALFORMED),
            Action::Same => first().clone(),
            Action::Is(test) => Object::Bool(test.holds(first())),
            Action::Tuple => Object::tuple(step.args.iter().map(|reg| self.get(*reg).clone()).collect()),
            Action::Record(class) => {
                let fields = step.args.iter().map(|reg| self.get(*reg).clone()).collect();
                Object::Record(Arc::new(RecordObj { class: *class, fields }))
            }
            Action::Field(index) => match first() {
                Object::Tuple(items) => items.get(*index).cloned().ok_or(MALFORMED)?,
                Object::Record(record) => record.fields.get(*index).cloned().ok_or(MALFORMED)?,
                _ => return Err(MALFORMED),
            },
            Action::List => Object::list(step.args.iter().map(|reg| self.get(*reg).clone()).collect()),
            Action::NewExc(kind) => {
                let args = step.args.iter().map(|reg| self.get(*reg).clone()).collect();
                Object::Exc(Arc::new(ExcObj { kind: *kind, args }))
            }
            Action::ExcIs(kinds) => match first() {
                Object::Exc(exc) => Object::Bool(kinds.iter().any(|kind| exc.kind.is_subclass(*kind))),
                _ => return Err(MALFORMED),
            },
            Action::Poll => {
                if self.cx.interrupted() {
                    return Err(Raise::Interrupted);
                }
                Object::None
            }
        })
    }
}
