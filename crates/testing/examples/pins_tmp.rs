//! Temporary.
fn main() -> anyhow::Result<()> {
    let cases = exuvia_testing::case::load(&exuvia_testing::case::root().join("tests/cases"))?;
    let _ = exuvia_testing::pins::check(&cases);
    Ok(())
}
