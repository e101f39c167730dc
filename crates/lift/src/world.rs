//! What lifting one handler shares over its IR functions: modules with their globals,
//! the functions made so far, facts about lists.

use crate::ast::{FunctionDef, Name};
use crate::bailout::Bailout;
use crate::budget::Budget;
use crate::lifter::{Place, Site, Vars};
use crate::specialise::{Calls, Specialised};
use exuvia_ir::{Function, Type};
use exuvia_ops::cx::Cx;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A module with what its body defined.
#[derive(Debug, Default)]
pub(crate) struct ModuleScope {
    pub globals: Vars,
    /// Why names have no value that is known.
    pub failed: BTreeMap<Name, Bailout>,
}

pub(crate) struct World {
    pub calls: Calls,
    pub modules: Vec<ModuleScope>,
    /// Prelude modules that were loaded, by name.
    pub prelude: HashMap<&'static str, usize>,
    /// The functions of the IR module; `None` while one is being lifted.
    pub functions: Vec<Option<Function>>,
    /// Functions that are called rather than unfolded, by definition.
    pub specialised: HashMap<*const FunctionDef, Vec<Specialised>>,
    /// How many values functions unfolded to last.
    pub sizes: HashMap<*const FunctionDef, usize>,
    /// Functions that can only be unfolded: their results have no run-time form.
    pub unfolded_only: HashSet<*const FunctionDef>,
    /// Element types of lists by where they are made.
    pub list_types: HashMap<Site, Type>,
    /// Element types by place alone, where they were the same on all call paths: the first
    /// guess for other lists made there.
    pub likely: HashMap<Place, Option<Type>>,
    /// The sites whose element types are such guesses.
    pub guessed: HashSet<Site>,
    /// How often lifting began again because of those.
    pub restarts: u32,
    /// Whether the module has an assignment that was passed over.
    pub unchecked: bool,
    /// The values of the functions that are finished.
    pub values: usize,
    /// The steps taken, over all attempts.
    pub budget: Budget,
    /// For folding.
    pub cx: Cx,
}

impl World {
    pub fn new(calls: Calls) -> World {
        World {
            calls,
            modules: Vec::new(),
            prelude: HashMap::new(),
            functions: Vec::new(),
            specialised: HashMap::new(),
            sizes: HashMap::new(),
            unfolded_only: HashSet::new(),
            list_types: HashMap::new(),
            likely: HashMap::new(),
            guessed: HashSet::new(),
            restarts: 0,
            unchecked: false,
            values: 0,
            budget: Budget::default(),
            cx: Cx::for_folding(),
        }
    }
}
