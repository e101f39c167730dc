//! The macro that makes an operation from a Rust function.

/// Defines an operation from a Rust function; see [`crate::def`].
///
/// ```text
/// op! {
///     /// The lowest index where the substring begins, or -1.
///     ///
///     /// >>> "abc".find("c")
///     /// 2
///     str_find = "str.find" ".find"
///     Pure fn (cx, s: str, _sub: str, _start: index = Int(0)) -> int { … }
/// }
/// ```
///
/// Identifier, name in the IR, Python's spelling, effect, parameters, result, body. After
/// the result `fallible` or `fallible [ValueError, …]`: the body's value is then a
/// [`KernelResult`](crate::cx::KernelResult), and the operation may bail out besides
/// raising those: where memory is full if it makes a text or a list, else for numbers
/// beyond its range, or for what `bails Operands` says after the exceptions (one of
/// [`Bails`](crate::def::Bails)). Whatever allocates is fallible, because the arena has a
/// limit; a view of an operand or of a constant is not. A body cannot return early out of the macro's
/// sight: it is the body of a function `kernel<'a>` whose strings live for `'a`.
///
/// After the body an optional `big name` names a function `fn(&mut Cx, &[Object]) ->
/// Result<Object, Raise>` that the evaluator calls where an operand is an integer beyond
/// 64 bits, or where the kernel bails out. Behind that an optional `residue id` or `residue id(10)` is the operation of the
/// same family that gives the result modulo another operand ([`OpDef::residue`](crate::def::OpDef::residue)), and an
/// optional `strip NAME` the [`Strip`](crate::math::strip::Strip) that computes it for many operands at once.
///
/// The kinds of parameters, and what the body gets: `bool`; `int`, `index`, `ssize`,
/// `subscript`, `repeat` (all `i64`; they differ in what becomes of larger integers: the
/// evaluator bails out, clamps, or raises as CPython's conversion of that name does);
/// `float`, `number` (`f64`); `str` ([`Str`](crate::text::Str)); `strs`
/// ([`StrList`](crate::list::StrList)); `ints`, `floats` (slices); `pattern`
/// ([`Pattern`](exuvia_ir::Pattern)); `none` (`()`);
/// `keyword_bool`, `keyword_number`: as without the prefix, given by keyword only. Results
/// are `bool`, `int`, `float`, `str`, `str_list`, `int_list`, `float_list`.
#[macro_export]
macro_rules! op {
    (
        $(#[doc = $doc:literal])*
        $id:ident = $name:literal $spelling:literal
        $effect:ident fn ($cx:ident $(, $arg:ident : $kind:ident $(= $default:ident $(($value:expr))?)?)* $(,)?)
        -> $ret:ident fallible $([$($exc:ident),*])? $(bails $bails:ident)? $body:block $(big $big:ident)? $(residue $residue:ident $(($more:literal))?)? $(strip $strip:path)?
    ) => {
        $crate::op!(@define [$($doc)*] $id $name $spelling $effect $cx
            [$($arg $kind [$($default $(($value))?)?])*]
            $ret [$($($exc),*)?] [$crate::op!(@bails $ret $($bails)?)] call_fallible [$crate::cx::KernelResult<$crate::op!(@ret $ret)>] $body
            [$($big)?] [$($residue $($more)?)?] [$($strip)?]);
    };
    (
        $(#[doc = $doc:literal])*
        $id:ident = $name:literal $spelling:literal
        $effect:ident fn ($cx:ident $(, $arg:ident : $kind:ident $(= $default:ident $(($value:expr))?)?)* $(,)?)
        -> $ret:ident $body:block $(big $big:ident)? $(residue $residue:ident $(($more:literal))?)? $(strip $strip:path)?
    ) => {
        $crate::op!(@define [$($doc)*] $id $name $spelling $effect $cx
            [$($arg $kind [$($default $(($value))?)?])*]
            $ret [] [$crate::def::Bails::Never] call_plain [$crate::op!(@ret $ret)] $body [$($big)?] [$($residue $($more)?)?] [$($strip)?]);
    };
    (@define [$($doc:literal)*] $id:ident $name:literal $spelling:literal $effect:ident $cx:ident
        [$($arg:ident $kind:ident [$($default:ident $(($value:expr))?)?])*]
        $ret:ident [$($exc:ident),*] [$bails:expr] $call:ident [$out:ty] $body:block [$($big:ident)?] [$($residue:ident $($more:literal)?)?] [$($strip:path)?]
    ) => {
        #[doc = concat!("`", $name, "`")]
        #[expect(clippy::allow_attributes, reason = "which of these lints fires depends on the operation")]
        pub mod $id {
            #[allow(unused_imports, reason = "few operations use more of their module here")]
            use super::*;
            mod kernel {
                #[allow(unused_imports, reason = "an operation without operands needs none of its module")]
                use super::super::*;
                #[allow(unused_variables, clippy::too_many_arguments, clippy::extra_unused_lifetimes,
                    reason = "kernels share one shape")]
                #[inline]
                pub(super) fn run<'a>($cx: &mut $crate::cx::Cx $(, $arg: $crate::op!(@arg $kind))*) -> $out $body
            }
            $crate::op!(@native $call $ret [] [] [] $($arg $kind,)*);
            fn eval(cx: &mut $crate::cx::Cx, args: &[exuvia_ir::Object]) -> Result<exuvia_ir::Object, exuvia_ir::Raise> {
                $(if $crate::adapt::take::any_big(args) {
                    return super::$big(cx, args);
                })?
                let outcome = small(cx, args);
                $(if matches!(outcome, Err(exuvia_ir::Raise::Bailout(_))) {
                    return super::$big(cx, args);
                })?
                outcome
            }
            fn small(cx: &mut $crate::cx::Cx, args: &[exuvia_ir::Object]) -> Result<exuvia_ir::Object, exuvia_ir::Raise> {
                let mut rest = args.iter();
                #[allow(unused_variables, reason = "an operation without operands misses none")]
                let missing = || exuvia_ir::Raise::Bailout("an operand is missing");
                $($crate::op!(@take rest missing $arg $kind);)*
                if rest.next().is_some() {
                    return Err(exuvia_ir::Raise::Bailout("an operand too many"));
                }
                let value = kernel::run(cx $(, $arg)*);
                $crate::op!(@result $call value)
            }
            /// The definition.
            pub static DEF: $crate::def::OpDef = $crate::def::OpDef {
                name: $name,
                spelling: $spelling,
                params: &[$($crate::def::Param {
                    name: stringify!($arg),
                    kind: $crate::op!(@kind $kind),
                    default: $crate::op!(@default $($default $(($value))?)?),
                    keyword_only: $crate::op!(@keyword_only $kind),
                }),*],
                result: |_| $crate::op!(@type $ret),
                raises: &[$(exuvia_ir::ExcKind::$exc),*],
                bails: $bails,
                effect: $crate::def::Effect::$effect,
                residue: $crate::op!(@residue $($residue $($more)?)?),
                doc: concat!($($doc, "\n"),*),
                body: $crate::def::Body::Kernel {
                    address: || native as *const u8,
                    invoke,
                    result: $crate::op!(@kind $ret),
                },
                eval,
                strip: $crate::op!(@strip $($strip)?),
            };
        }
    };
    (@strip) => { None };
    (@strip $strip:path) => { Some(&$strip) };
    (@residue) => { None };
    (@residue $residue:ident $($more:literal)?) => { Some((&super::$residue::DEF, &[$($more)?])) };

    (@bails $ret:ident $bails:ident) => { $crate::def::Bails::$bails };
    (@bails str) => { $crate::def::Bails::Memory };
    (@bails str_list) => { $crate::def::Bails::Memory };
    (@bails int_list) => { $crate::def::Bails::Memory };
    (@bails float_list) => { $crate::def::Bails::Memory };
    (@bails $ret:ident) => { $crate::def::Bails::Range };

    (@result call_plain $value:ident) => { Ok($crate::adapt::Returned::object($value)) };
    (@result call_fallible $value:ident) => { $value.map($crate::adapt::Returned::object) };

    (@native call_plain $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*]) => {
        extern "C" fn native(cx: *mut $crate::cx::Cx $($param)*) -> $crate::op!(@plain $ret) {
            let run = |cx: &mut $crate::cx::Cx| kernel::run(cx $($conv)*);
            // SAFETY: native code passes the context that its caller lent it for the call.
            unsafe { $crate::adapt::call_plain(cx, run) }
        }
        unsafe fn invoke(cx: *mut $crate::cx::Cx, words: &[u64]) -> $crate::adapt::Pair {
            let _words = &mut words.iter().copied();
            $crate::op!(@call _words cx [$($word)*]).words()
        }
        use $crate::adapt::PlainWords as _;
    };
    (@native call_fallible $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*]) => {
        extern "C" fn native(cx: *mut $crate::cx::Cx $($param)*) -> $crate::adapt::Pair {
            let run = |cx: &mut $crate::cx::Cx| kernel::run(cx $($conv)*);
            // SAFETY: native code passes the context that its caller lent it for the call.
            unsafe { $crate::adapt::call_fallible(cx, run) }
        }
        unsafe fn invoke(cx: *mut $crate::cx::Cx, words: &[u64]) -> $crate::adapt::Pair {
            let _words = &mut words.iter().copied();
            $crate::op!(@call _words cx [$($word)*])
        }
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident str, $($rest:tt)*) => {
        $crate::op!(@native $call $ret
            [$($param)*, $arg: *const u8, meta: u64]
            // SAFETY: native code passes the two words of a live string.
            [$($conv)*, unsafe { $crate::text::Str::from_words($arg, meta) }]
            [$($word)* (as *const u8) (as u64)] $($rest)*);
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident strs, $($rest:tt)*) => {
        $crate::op!(@native $call $ret
            [$($param)*, $arg: *const $crate::list::RawList]
            // SAFETY: native code passes a live list of strings.
            [$($conv)*, unsafe { $crate::list::StrList::from_raw($arg) }]
            [$($word)* (as *const $crate::list::RawList)] $($rest)*);
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident ints, $($rest:tt)*) => {
        $crate::op!(@native $call $ret
            [$($param)*, $arg: *const $crate::list::RawList]
            // SAFETY: native code passes a live list of ints.
            [$($conv)*, unsafe { $crate::list::words::<i64>($arg) }]
            [$($word)* (as *const $crate::list::RawList)] $($rest)*);
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident floats, $($rest:tt)*) => {
        $crate::op!(@native $call $ret
            [$($param)*, $arg: *const $crate::list::RawList]
            // SAFETY: native code passes a live list of floats.
            [$($conv)*, unsafe { $crate::list::words::<f64>($arg) }]
            [$($word)* (as *const $crate::list::RawList)] $($rest)*);
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident pattern, $($rest:tt)*) => {
        $crate::op!(@native $call $ret
            [$($param)*, $arg: *const exuvia_ir::Pattern]
            // SAFETY: native code passes the address of a constant that its kernel keeps alive.
            [$($conv)*, unsafe { &*$arg }]
            [$($word)* (as *const exuvia_ir::Pattern)] $($rest)*);
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident none, $($rest:tt)*) => {
        $crate::op!(@native $call $ret [$($param)*] [$($conv)*, ()] [$($word)*] $($rest)*);
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident bool, $($rest:tt)*) => {
        $crate::op!(@native $call $ret [$($param)*, $arg: u8] [$($conv)*, $arg != 0]
            [$($word)* (as u8)] $($rest)*);
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident float, $($rest:tt)*) => {
        $crate::op!(@native $call $ret [$($param)*, $arg: f64] [$($conv)*, $arg]
            [$($word)* (bits)] $($rest)*);
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident number, $($rest:tt)*) => {
        $crate::op!(@native $call $ret [$($param)*, $arg: f64] [$($conv)*, $arg]
            [$($word)* (bits)] $($rest)*);
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident keyword_bool, $($rest:tt)*) => {
        $crate::op!(@native $call $ret [$($param)*] [$($conv)*] [$($word)*] $arg bool, $($rest)*);
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident keyword_number, $($rest:tt)*) => {
        $crate::op!(@native $call $ret [$($param)*] [$($conv)*] [$($word)*] $arg number, $($rest)*);
    };
    (@native $call:ident $ret:ident [$($param:tt)*] [$($conv:tt)*] [$($word:tt)*] $arg:ident $kind:ident, $($rest:tt)*) => {
        $crate::op!(@native $call $ret [$($param)*, $arg: i64] [$($conv)*, $arg]
            [$($word)* (as i64)] $($rest)*);
    };
    (@call $words:ident $cx:ident [$($word:tt)*]) => { native($cx $(, $crate::op!(@word $words $word))*) };
    (@word $words:ident (as $ty:ty)) => { $words.next().unwrap_or(0) as $ty };
    (@word $words:ident (bits)) => { f64::from_bits($words.next().unwrap_or(0)) };

    (@take $rest:ident $missing:ident $arg:ident strs) => {
        let items = $crate::adapt::take::strs($rest.next().ok_or_else($missing)?)?;
        let views: Vec<$crate::text::Str<'_>> = items.iter().map(|item| $crate::text::Str::new(item)).collect();
        let $arg = $crate::list::StrList::new(&views);
    };
    (@take $rest:ident $missing:ident $arg:ident ints) => {
        let items = $crate::adapt::take::ints($rest.next().ok_or_else($missing)?)?;
        let $arg = items.as_slice();
    };
    (@take $rest:ident $missing:ident $arg:ident floats) => {
        let items = $crate::adapt::take::floats($rest.next().ok_or_else($missing)?)?;
        let $arg = items.as_slice();
    };
    (@take $rest:ident $missing:ident $arg:ident number) => {
        let $arg = $crate::adapt::take::float($rest.next().ok_or_else($missing)?)?;
    };
    (@take $rest:ident $missing:ident $arg:ident keyword_number) => {
        $crate::op!(@take $rest $missing $arg number);
    };
    (@take $rest:ident $missing:ident $arg:ident keyword_bool) => {
        $crate::op!(@take $rest $missing $arg bool);
    };
    (@take $rest:ident $missing:ident $arg:ident none) => {
        let $arg = ();
        $crate::adapt::take::none($rest.next().ok_or_else($missing)?)?;
    };
    (@take $rest:ident $missing:ident $arg:ident $kind:ident) => {
        let $arg = $crate::adapt::take::$kind($rest.next().ok_or_else($missing)?)?;
    };

    (@arg bool) => { bool };
    (@arg keyword_bool) => { bool };
    (@arg keyword_number) => { f64 };
    (@arg float) => { f64 };
    (@arg number) => { f64 };
    (@arg str) => { $crate::text::Str<'a> };
    (@arg strs) => { $crate::list::StrList<'a> };
    (@arg ints) => { &'a [i64] };
    (@arg floats) => { &'a [f64] };
    (@arg pattern) => { &'a exuvia_ir::Pattern };
    (@arg none) => { () };
    (@arg $int:ident) => { i64 };

    (@ret bool) => { bool };
    (@ret int) => { i64 };
    (@ret float) => { f64 };
    (@ret str) => { $crate::text::Str<'a> };
    (@ret str_list) => { $crate::adapt::TextList };
    (@ret int_list) => { $crate::adapt::IntList };
    (@ret float_list) => { $crate::adapt::FloatList };

    (@plain bool) => { u8 };
    (@plain int) => { i64 };
    (@plain float) => { f64 };
    (@plain str) => { $crate::adapt::Pair };
    (@plain $list:ident) => { u64 };

    (@kind bool) => { $crate::def::Kind::Bool };
    (@kind keyword_bool) => { $crate::def::Kind::Bool };
    (@kind keyword_number) => { $crate::def::Kind::Number };
    (@kind index) => { $crate::def::Kind::Index };
    (@kind float) => { $crate::def::Kind::Float };
    (@kind number) => { $crate::def::Kind::Number };
    (@kind str) => { $crate::def::Kind::Str };
    (@kind strs) => { $crate::def::Kind::StrList };
    (@kind str_list) => { $crate::def::Kind::StrList };
    (@kind ints) => { $crate::def::Kind::IntList };
    (@kind int_list) => { $crate::def::Kind::IntList };
    (@kind floats) => { $crate::def::Kind::FloatList };
    (@kind float_list) => { $crate::def::Kind::FloatList };
    (@kind pattern) => { $crate::def::Kind::Pattern };
    (@kind none) => { $crate::def::Kind::None };
    (@kind $int:ident) => { $crate::def::Kind::Int };

    (@type bool) => { exuvia_ir::Type::Bool };
    (@type int) => { exuvia_ir::Type::Int };
    (@type float) => { exuvia_ir::Type::Float };
    (@type str) => { exuvia_ir::Type::Str };
    (@type str_list) => { exuvia_ir::Type::list(exuvia_ir::Type::Str) };
    (@type int_list) => { exuvia_ir::Type::list(exuvia_ir::Type::Int) };
    (@type float_list) => { exuvia_ir::Type::list(exuvia_ir::Type::Float) };

    (@keyword_only keyword_bool) => { true };
    (@keyword_only keyword_number) => { true };
    (@keyword_only $kind:ident) => { false };

    (@default) => { None };
    (@default $default:ident $(($value:expr))?) => { Some($crate::def::Default::$default $(($value))?) };
}
