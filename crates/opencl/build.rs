//! Lets the program be linked where no OpenCL is installed.
//!
//! The bindings of `ocl` ask the linker for a library OpenCL. It finds an empty one here; the
//! functions are those of `src/loader.rs`, which looks for the real ones when they are called.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let Some(folder) = std::env::var_os("OUT_DIR") else { return };
    // What every archive begins with; it holds nothing.
    if let Err(error) = std::fs::write(Path::new(&folder).join("libOpenCL.a"), "!<arch>\n") {
        panic!("cannot write an empty archive: {error}");
    }
    println!("cargo:rustc-link-search=native={}", Path::new(&folder).display());
}
