//! What the tests stand on.

pub mod generators;
pub mod harness;
pub mod near;
pub mod values;
