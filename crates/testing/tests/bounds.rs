//! Work that is bounded whatever a source says, counted in units and not in time.

use exuvia_engine::{Rung, Settings};
use exuvia_testing::large::{programs, within_bounds};

#[test]
fn large_functions_stay_within_bounds() {
    let settings = Settings::default();
    let mut native = Vec::new();
    for program in programs() {
        for strict in [false, true] {
            let Ok(function) = program.define(strict) else { continue };
            // What an engine asks of it while it plans.
            let _ = (function.formula(!strict, &settings), function.partial_formula(&settings));
            let _ = function.is_total(&settings);
            if let Err(why) = within_bounds(&function.work(&settings)) {
                panic!("{}: {why}", program.name);
            }
            let placement = function.placement(&settings);
            match placement.rung {
                Rung::Native => native.push(program.name),
                rung => {
                    let reason =
                        placement.reason.unwrap_or_else(|| panic!("{}: {rung:?} without a reason", program.name));
                    // What takes all steps takes them in any case.
                    if reason.0 == "E009" {
                        break;
                    }
                }
            }
        }
    }
    // These are no larger than what people write, or become small: they must not be refused.
    for name in [
        "40 doublings",
        "40 calls of sorted",
        "2,000 ifs",
        "a dict of 10,000 entries",
        "300 loops",
        "a list of 40,000 tuples",
        "a table of 100 lists of 100",
        "a list whose items change their type",
    ] {
        assert_eq!(native.iter().filter(|other| **other == name).count(), 2, "{name} is not native");
    }
    // The code generator takes seconds for this one.
    assert!(!native.contains(&"200 assignments in a try"));
}
