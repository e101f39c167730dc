//! Native code on columns, against hand-made expectations, the boxed operations and the
//! evaluator.

mod constants;
mod control;
mod operations;
mod places;
mod random;
mod rows;
mod strips;
mod support;
mod tiles;
