//! The settings under which every case runs, and the rung that each must show.

use crate::random::Random;
use exuvia_engine::{Offload, Rung, Settings};

/// One way of running a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variation {
    /// As users run it.
    Native,
    /// In a session that may not use CPython.
    NoInterpreter,
    /// Native code without the optimiser.
    Unoptimized,
    /// In the boxed evaluator.
    Evaluator,
    /// With every guard taken.
    Guards,
    /// With every compilation failing.
    NoCompiler,
    /// With equal arguments called once.
    Memoized,
    /// With every call that can be one.
    Calls,
    /// With ints of 128 bits.
    Wide,
    /// With the memory of each turn of a loop given back at once.
    Turns,
    /// On an OpenCL device, where the function has a form there.
    Device,
    /// In CPython.
    Python,
}

impl Variation {
    /// All of them, the most telling first.
    pub const ALL: [Variation; 12] = [
        Variation::Native,
        Variation::Evaluator,
        Variation::Unoptimized,
        Variation::Python,
        Variation::Guards,
        Variation::NoCompiler,
        Variation::NoInterpreter,
        Variation::Memoized,
        Variation::Calls,
        Variation::Wide,
        Variation::Turns,
        Variation::Device,
    ];

    /// Its name in reports and in `EXUVIA_ONLY`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Variation::Native => "native",
            Variation::NoInterpreter => "no-interpreter",
            Variation::Unoptimized => "unoptimized",
            Variation::Evaluator => "evaluator",
            Variation::Guards => "guards",
            Variation::NoCompiler => "no-compiler",
            Variation::Memoized => "memoized",
            Variation::Calls => "calls",
            Variation::Wide => "wide",
            Variation::Turns => "turns",
            Variation::Device => "device",
            Variation::Python => "python",
        }
    }

    /// The variations that `EXUVIA_ONLY` names, separated by commas, `all` of them; without it most, and of a build
    /// without Python those in which its code differs from the other's.
    #[must_use]
    pub fn chosen() -> Vec<Variation> {
        let only = std::env::var("EXUVIA_ONLY").unwrap_or_default();
        let with_python = cfg!(feature = "python");
        let differs = |variation: &Variation| {
            matches!(variation, Variation::Native | Variation::Evaluator | Variation::Guards | Variation::NoInterpreter)
        };
        Variation::ALL
            .into_iter()
            .filter(|variation| match only.as_str() {
                // Building kernels takes long: `tests/device.rs` does so for some cases. Few loops carry what they
                // make: `tests/turns.rs` has those that do.
                "" => !matches!(variation, Variation::Device | Variation::Turns) && (with_python || differs(variation)),
                "all" => *variation != Variation::Device,
                only => only.split(',').any(|name| name == variation.name()),
            })
            .filter(|variation| with_python || *variation != Variation::Python)
            .collect()
    }

    /// Those of the variations that a case takes: as users run it, in the evaluator, in CPython and with
    /// every guard taken; of the other ways every second or so, by its name, since each compiles it anew.
    /// Where `EXUVIA_ONLY` names variations (`all` is all of them) it takes these.
    #[must_use]
    pub fn of(name: &str, variations: &[Variation]) -> Vec<Variation> {
        if std::env::var_os("EXUVIA_ONLY").is_some() {
            return variations.to_vec();
        }
        let mut random = Random::of_text(name);
        let always = |variation: &Variation| {
            matches!(variation, Variation::Native | Variation::Evaluator | Variation::Python | Variation::Guards)
        };
        variations.iter().copied().filter(|variation| always(variation) || random.one_in(2)).collect()
    }

    /// The settings.
    #[must_use]
    pub fn settings(self) -> Settings {
        let settings = Settings::default();
        match self {
            Variation::Native => settings,
            Variation::NoInterpreter => Settings { interpreter: false, ..settings },
            Variation::Unoptimized => Settings { optimize: false, ..settings },
            Variation::Evaluator => Settings { native: false, ..settings },
            Variation::Guards => Settings { fault: "guards".to_string(), ..settings },
            Variation::Memoized => Settings { fault: "memoize".to_string(), ..settings },
            Variation::Wide => Settings { fault: "wide".to_string(), ..settings },
            Variation::Turns => Settings { fault: "turns".to_string(), ..settings },
            Variation::Device => {
                // Of several, that which `EXUVIA_DEVICE` names a part of.
                let device = std::env::var("EXUVIA_DEVICE").unwrap_or_default();
                Settings { offload: Offload::Force, device, ..settings }
            }
            Variation::Calls => Settings { fault: "calls".to_string(), ..settings },
            Variation::NoCompiler => Settings { fault: "compile".to_string(), ..settings },
            Variation::Python => Settings { lift: false, ..settings },
        }
    }

    /// Where a function whose case asserts `rung` runs; `None` where it must be refused.
    #[must_use]
    pub fn rung(self, rung: Rung) -> Option<Rung> {
        match (self, rung) {
            (Variation::NoInterpreter, Rung::Python) => None,
            (Variation::Python, _) | (_, Rung::Python) => Some(Rung::Python),
            (Variation::Evaluator | Variation::NoCompiler, _) | (_, Rung::Evaluator) => Some(Rung::Evaluator),
            (
                Variation::Native
                | Variation::NoInterpreter
                | Variation::Unoptimized
                | Variation::Guards
                | Variation::Memoized
                | Variation::Calls
                | Variation::Wide
                | Variation::Turns
                | Variation::Device,
                Rung::Native,
            ) => Some(Rung::Native),
        }
    }
}
