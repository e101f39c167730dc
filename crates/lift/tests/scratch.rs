#![allow(missing_docs)]
use exuvia_ir::{Object, Raise};
use exuvia_lift::*;
#[test]
fn scratch() {
    let text = std::fs::read_to_string(std::env::var("F").unwrap_or("/tmp/f.py".into())).unwrap();
    let inputs: Vec<String> = std::fs::read_to_string("/tmp/in.txt").unwrap().lines().map(String::from).collect();
    for (at, source) in text.split("#----\n").enumerate() {
        let s = match Source::resolve(source, "f", None, &["s"]) {
            Ok(s) => s,
            Err(e) => {
                println!("@{at} BAIL {e:?}");
                continue;
            }
        };
        for calls in [Calls::Large, Calls::All] {
            let now = std::time::Instant::now();
            match lift(
                &s,
                &[Param { class: SqlClass::Str, nullable: false }],
                &SqlReturn { class: SqlClass::Str, name: "T".into() },
                calls,
            ) {
                Ok(l) => {
                    println!(
                        "@{at} OK {} steps, {} values {:?}",
                        l.steps,
                        l.module.functions.iter().map(|f| f.values.len()).sum::<usize>(),
                        now.elapsed()
                    );
                    for (i, input) in inputs.iter().enumerate() {
                        let mut fuel = 10_000_000;
                        let mut cx = exuvia_ops::cx::Cx::for_folding();
                        let got = match exuvia_eval::call(&l.module, &[Object::str(input)], &mut cx, &mut fuel) {
                            Ok(o) => exuvia_ops::show::repr(&o),
                            Err(f) => match f.raise {
                                Raise::Bailout(w) => format!("BAILOUT {w}"),
                                r => exuvia_ops::show::raise(&r),
                            },
                        };
                        println!("@{at} {i} = {got}");
                    }
                }
                Err(b) => println!("@{at} BAIL {b} at {:?}", source.get(b.span.start as usize..b.span.end as usize)),
            }
        }
    }
}
