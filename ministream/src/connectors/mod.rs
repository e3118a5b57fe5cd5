//! The sources, one file each, behind the feature of its format.

#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "json")]
mod json_lines;

#[cfg(feature = "csv")]
pub use self::csv::Csv;
#[cfg(feature = "json")]
pub use self::json_lines::JsonLines;
