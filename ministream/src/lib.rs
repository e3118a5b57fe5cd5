//! ministream
