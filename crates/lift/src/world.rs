//! What lifting one handler shares over its IR functions: modules with their globals,
//! the functions made so far, facts about lists.

use crate::abs::Abs;
use crate::bailout::Bailout;
use crate::border::SqlClass;
use crate::budget::Budget;
use crate::calls::specialise::{Calls, Specialised};
use crate::data::shaped::Shaped;
use crate::objects::class::ClassKey;
use crate::objects::enums::Enumeration;
use crate::objects::escape::{Assigned, Shape};
use crate::objects::flags::Flags;
use crate::tree::ast::{FunctionDef, Name};
use crate::tree::source::Source;
use crate::walk::lifter::{Place, Site, Vars};
use exuvia_ir::{Class, Function, ListObj, Object, Pattern, Span, Type};
use exuvia_ops::cx::Cx;
use exuvia_ops::re::{MAX_AUTOMATON, Regex, Unsupported};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// The bytes of the automata of all patterns of a source.
const MAX_PATTERN_MEMORY: usize = 64 << 20;

/// A module with what its body defined.
#[derive(Debug, Default)]
pub(crate) struct ModuleScope {
    pub globals: Vars,
    /// Why names have no value that is known.
    pub failed: BTreeMap<Name, Bailout>,
    /// Why what names hold is no longer known.
    pub changed: BTreeMap<Name, Bailout>,
}

pub(crate) struct World {
    /// `__name__` of the module.
    pub name: Arc<str>,
    pub calls: Calls,
    /// Whether nobody asks for exceptions that leave the handler.
    pub errors_are_null: bool,
    /// The arguments that are arrays with which the handler cannot be lifted where they are NULL.
    pub left_if_none: HashSet<usize>,
    /// Whether decimals may have another context than the default one: the source names what changes it.
    pub changes_context: bool,
    /// Whether texts of datetimes may have a zone: the source names what has to do with zones.
    pub reads_zones: bool,
    /// Whether the source names the arguments of exceptions.
    pub asks_arguments: bool,
    /// Whether anything may raise `StopIteration`: the source has the name, or that of what does.
    pub stops: bool,
    pub modules: Vec<ModuleScope>,
    /// The numbers of modules by their names, those of the border by their texts.
    pub numbers: HashMap<String, usize>,
    /// Prelude modules that were loaded, by name.
    pub prelude: HashMap<&'static str, usize>,
    /// The functions of the IR module; `None` while one is being lifted.
    pub functions: Vec<Option<Function>>,
    /// Functions that are called rather than unfolded, by definition.
    pub specialised: HashMap<*const FunctionDef, Vec<Specialised>>,
    /// Those that were forgotten, for what is known of their results.
    pub returned: HashMap<*const FunctionDef, Vec<Specialised>>,
    /// How many values functions unfolded to last.
    pub sizes: HashMap<*const FunctionDef, usize>,
    /// What tells apart what specialisations of a function make, in all attempts.
    pub paths: HashMap<*const FunctionDef, HashSet<u64>>,
    /// Where generators are used whose users change what they read.
    pub interleaved: HashSet<Site>,
    /// Functions of which all specialisations make the same.
    pub settled: HashSet<*const FunctionDef>,
    /// Functions that return tuples of ever other lengths.
    pub long_results: HashSet<*const FunctionDef>,
    /// Functions that can only be unfolded: their results have no run-time form.
    pub unfolded_only: HashSet<*const FunctionDef>,
    /// Statements of modules that take too many steps, and why those that need them are not lifted.
    pub too_long: HashMap<(usize, Span), Bailout>,
    /// Of a result that is a whole column: whether it is a Series, once one was returned.
    pub nan_is_null: Option<bool>,
    /// Functions that keep no more than so many results.
    pub bounded: HashSet<*const FunctionDef>,
    /// The kinds of arguments by which functions keep their results, by parameter.
    pub kept_by: HashMap<(*const FunctionDef, Name), u8>,
    /// Element types of lists by where they are made.
    pub list_types: HashMap<Site, Type>,
    /// Element types by place alone, where they were the same on all call paths: the first
    /// guess for other lists made there.
    pub likely: HashMap<Place, Option<Type>>,
    /// The sites whose element types are such guesses, and how much was `found` when they were made.
    pub guessed: HashMap<Site, usize>,
    /// The sites of which an element type was found, one after the other, and what was known of each before.
    pub found: Vec<(Site, Option<Type>)>,
    /// How often lifting began again because of what was found.
    pub restarts: u32,
    /// Whether this attempt found out that a list holds more than it was made for: what it lifts
    /// is thrown away.
    pub stale: bool,
    /// Whether the module has a statement that was passed over.
    pub unchecked: bool,
    /// The definitions of functions that `functools.wraps` has named after others, by their addresses.
    pub renamed: HashSet<usize>,
    /// What the handler imports in its body, and CPython is asked for at once.
    pub imports: Vec<Name>,
    /// The values of the functions that are finished.
    pub values: usize,
    /// The steps taken, over all attempts.
    pub budget: Budget,
    /// Where the lists were made that lists hold, by where those were made.
    pub inner: HashMap<Site, Vec<Site>>,
    /// Constant dicts and sets of functions, by their addresses, with where they were written.
    pub displays: HashMap<usize, (Object, Site)>,
    /// Where dicts and sets are written that change, or hold what is no constant.
    pub changing: HashSet<Site>,
    /// Where empty containers are made, and of those the places where they are constants, since they meet
    /// constants of the module.
    pub empty: HashSet<Site>,
    pub constant_empty: HashSet<Site>,
    /// Loops over constants that are lifted turn by turn, since what they do wants to know those.
    pub unrolled: HashSet<Site>,
    /// Whether a module of the prelude is being loaded.
    pub loading_prelude: bool,
    /// What objects are as run-time values, by number.
    pub shapes: Vec<Shape>,
    /// Objects that hold others of their kind, with what their records hold.
    pub boxed: HashMap<Class, Arc<[Type]>>,
    /// Where the lists are made that lie in boxes.
    pub nested: Vec<Site>,
    /// Attributes that are assigned to when their objects are run-time values.
    pub assigned: Assigned,
    /// Those of them through which objects refer to themselves.
    pub cyclic: Assigned,
    /// Attributes that objects get only when they are run-time values.
    pub late: Assigned,
    /// Attributes of classes with which objects begin, since some of them get others.
    pub defaults: Assigned,
    /// Whether the order of a set is asked for anywhere.
    pub sets_in_order: bool,
    /// Classes whose objects are told from each other at run time.
    pub identified: HashSet<ClassKey>,
    /// The patterns that were compiled, by source and flags, with what CPython must match.
    patterns: HashMap<(Arc<str>, u32), Result<Arc<Pattern>, String>>,
    /// The bytes of automata that were made for them.
    pattern_memory: usize,
    /// The functions that make objects of classes, where making one makes others.
    pub constructors: HashMap<ClassKey, Arc<FunctionDef>>,
    /// Functions that were made as text.
    pub made: Vec<Arc<FunctionDef>>,
    /// The modules of functions that were written for the border to SQL, by their text.
    pub border: HashMap<String, usize>,
    /// The types of the handler's results that hold lists, by number, as far as known.
    pub results: HashMap<usize, Type>,
    /// The objects that bodies of modules made, by class.
    pub made_by_modules: HashMap<ClassKey, Vec<Abs>>,
    /// The members of enumerations.
    pub enums: HashMap<ClassKey, Rc<Enumeration>>,
    /// The members of classes of flags.
    pub flags: HashMap<ClassKey, Rc<Flags>>,
    /// Where dicts of known keys are made.
    pub shaped: Shaped,
    /// The lists of modules whose size is known to be small enough, by their addresses.
    pub measured: HashMap<usize, Arc<ListObj>>,
    /// For folding.
    pub cx: Cx,
}

/// Names of `decimal` by which a module reaches contexts.
const CONTEXTS: [&str; 4] = ["getcontext", "setcontext", "localcontext", "DefaultContext"];

/// What the source of a function mentions that expects datetimes with a zone.
const ZONES: [&str; 5] = ["timezone", "tzinfo", "utcoffset", "tzname", "+00:00"];

/// Whether a text has a name anywhere but in lists of what is imported of `decimal`.
fn uses(text: &str, name: &str) -> bool {
    const IMPORT: &str = "from decimal import";
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let Some((_, listed)) = before.rsplit_once(IMPORT) else { return true };
        // Not behind what makes it another name.
        let is_listed = if listed.trim_start().starts_with('(') {
            !listed.contains(')') && after.trim_start().starts_with([',', ')'])
        } else {
            let after = after.trim_start_matches([' ', '\t']);
            !listed.contains(['\n', ';']) && (after.is_empty() || after.starts_with([',', '\n', '\r', ';', '#']))
        };
        !is_listed
    })
}

/// Whether a text has a name, which is no part of another and no attribute.
fn names(text: &str, name: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        // `__next__` is the method.
        let is_method = before.ends_with("__") && after.starts_with("__");
        is_method || !before.ends_with(|c| is_part(c) || c == '.') && !after.starts_with(is_part)
    })
}

impl World {
    /// A guess for lists made at a place was wrong: those for others there count no more, nor does what was found
    /// since the first, which may come of it.
    pub fn withdraw(&mut self, place: Place) {
        let here = |site: &Site| (site.0, site.1) == place;
        let first = self.guessed.iter().filter(|(site, _)| here(site)).map(|(_, at)| *at).min().unwrap_or(0);
        for (site, before) in self.found.drain(first.min(self.found.len())..).rev() {
            self.likely.remove(&(site.0, site.1));
            match before {
                Some(before) => self.list_types.insert(site, before),
                None => self.list_types.remove(&site),
            };
        }
        self.list_types.retain(|site, _| !(here(site) && self.guessed.contains_key(site)));
        self.guessed.retain(|site, _| !here(site));
        self.likely.insert(place, None);
    }

    /// What the lists that were made at some places are known to hold.
    pub fn known_elements(&self, sites: &[Site]) -> Type {
        sites.iter().filter_map(|site| self.list_types.get(site)).fold(Type::Never, |all, one| all.join(one))
    }

    /// Forgets which lists hold values of some types: what has them will be another type.
    pub fn forget_elements(&mut self, of: &impl Fn(&Type) -> bool) {
        self.list_types.retain(|_, ty| !ty.holds(of));
        let is_forgotten = |ty: &mut Type| ty.holds(of);
        self.found.iter_mut().for_each(|(_, before)| drop(before.take_if(is_forgotten)));
        self.likely.retain(|_, ty| !ty.as_ref().is_some_and(|ty| ty.holds(of)));
        for fields in self.boxed.values_mut() {
            let forgotten = |ty: &Type| match ty {
                ty if !ty.holds(of) => ty.clone(),
                Type::List(_) => Type::list(Type::Never),
                _ => Type::Never,
            };
            *fields = fields.iter().map(forgotten).collect();
        }
    }

    /// The types of the values over which a result is spread, as far as known.
    pub fn results_of(&self, class: &SqlClass) -> Vec<Type> {
        let ty = |(at, class): (usize, &SqlClass)| match (self.results.get(&at), class) {
            (Some(known), _) => known.clone(),
            (None, SqlClass::List(_) | SqlClass::Map(_)) => Type::list(Type::Never).optional(),
            (None, class) => class.ty(true),
        };
        class.results().iter().enumerate().map(ty).collect()
    }

    /// `re.compile`, once for each pattern. Automata take time by their size: when they have taken
    /// [`MAX_PATTERN_MEMORY`], CPython matches what comes after.
    ///
    /// # Errors
    /// Why CPython must match it.
    pub fn compile_pattern(&mut self, source: &Arc<str>, flags: u32) -> Result<Arc<Pattern>, String> {
        let memory = &mut self.pattern_memory;
        let compile = || {
            if *memory >= MAX_PATTERN_MEMORY {
                return Err("the patterns before it take much memory together".to_string());
            }
            let made = exuvia_ops::pattern::compile(source, flags);
            *memory += match &made {
                Ok(pattern) => exuvia_ops::pattern::regex(pattern).map_or(0, Regex::memory),
                Err(Unsupported::TooLarge) => MAX_AUTOMATON,
                Err(Unsupported::Construct(_)) => 0,
            };
            made.map_err(|reason| reason.to_string())
        };
        self.patterns.entry((Arc::clone(source), flags)).or_insert_with(compile).clone()
    }

    pub fn new(calls: Calls, source: &Source) -> World {
        World {
            name: Arc::clone(&source.name),
            calls,
            errors_are_null: false,
            left_if_none: HashSet::new(),
            changes_context: CONTEXTS.iter().any(|name| uses(&source.text, name))
                || source.text.contains("import decimal") && source.text.contains("getattr"),
            asks_arguments: ["args", "repr", "!r"].iter().any(|word| source.text.contains(word)),
            stops: ["next", "StopIteration"].iter().any(|name| names(&source.text, name)),
            reads_zones: ZONES.iter().any(|name| source.text.contains(name)),
            modules: Vec::new(),
            numbers: HashMap::new(),
            prelude: HashMap::new(),
            functions: Vec::new(),
            specialised: HashMap::new(),
            returned: HashMap::new(),
            sizes: HashMap::new(),
            paths: HashMap::new(),
            interleaved: HashSet::new(),
            settled: HashSet::new(),
            long_results: HashSet::new(),
            unfolded_only: HashSet::new(),
            too_long: HashMap::new(),
            nan_is_null: None,
            bounded: HashSet::new(),
            kept_by: HashMap::new(),
            list_types: HashMap::new(),
            likely: HashMap::new(),
            guessed: HashMap::new(),
            found: Vec::new(),
            restarts: 0,
            stale: false,
            unchecked: false,
            renamed: HashSet::new(),
            imports: source.imports.clone(),
            values: 0,
            budget: Budget::default(),
            inner: HashMap::new(),
            displays: HashMap::new(),
            changing: HashSet::new(),
            empty: HashSet::new(),
            constant_empty: HashSet::new(),
            unrolled: HashSet::new(),
            loading_prelude: false,
            shapes: Vec::new(),
            boxed: HashMap::new(),
            nested: Vec::new(),
            assigned: Assigned::default(),
            late: Assigned::new(),
            defaults: Assigned::new(),
            cyclic: Assigned::new(),
            sets_in_order: false,
            identified: HashSet::new(),
            patterns: HashMap::new(),
            pattern_memory: 0,
            constructors: HashMap::new(),
            made: Vec::new(),
            border: HashMap::new(),
            results: HashMap::new(),
            made_by_modules: HashMap::new(),
            enums: HashMap::new(),
            flags: HashMap::new(),
            shaped: Shaped::default(),
            measured: HashMap::new(),
            cx: Cx::for_folding(),
        }
    }
}
