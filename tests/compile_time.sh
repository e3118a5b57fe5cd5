#!/usr/bin/env bash
# How much 20 pipelines of four stages add to a debug build: builds a crate with and without them, three times each,
# from scratch but for its dependencies, and prints the seconds.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src"
cat > "$dir/Cargo.toml" <<TOML
[package]
name = "compile_time"
version = "0.1.0"
edition = "2024"
[dependencies]
ministream = { path = "$root/ministream" }
serde = { version = "1", features = ["derive"] }
[features]
pipelines = []
[workspace]
TOML
{
    cat <<'RUST'
use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
pub struct Click {
    pub id: u64,
    pub user: String,
    pub country: String,
    #[event(time, unit = "ms")]
    pub ts: i64,
    pub value: i64,
}

#[pipeline(source -> filter(|click| click.value > 0))]
fn positive(source: Stream<Click>) -> Stream<Click>;
RUST
    aggregates=('sum(value)' 'max(value)' 'min(value)' 'first(value)')
    keys=(user country)
    for n in $(seq 0 19); do
        size=$((n + 1))
        windows=("tumbling(${size}s" "sliding($((2 * size))s, every = ${size}s" "tumbling(${size}m")
        cat <<RUST
#[cfg(feature = "pipelines")]
#[pipeline(source -> dedup(id) -> key_by(${keys[n % 2]}) -> ${windows[n % 3]}, delay = 3s, lateness = 5s) -> ${aggregates[n % 4]})]
pub fn pipeline_$n(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);
RUST
    done
    echo 'fn main() -> Result<(), Error> {'
    echo '    let _ = Pipeline::new(positive).push_batch(Vec::<Click>::new())?;'
    for n in $(seq 0 19); do
        echo '    #[cfg(feature = "pipelines")]'
        echo "    let _ = Pipeline::new(pipeline_$n).push_batch(Vec::<Click>::new())?;"
    done
    echo '    Ok(())'
    echo '}'
} > "$dir/src/main.rs"
cd "$dir"
export CARGO_INCREMENTAL=0
export CARGO_TARGET_DIR="$dir/target"
cargo build --quiet
for _ in 1 2 3; do
    for features in "" pipelines; do
        touch src/main.rs
        start=$(date +%s.%N)
        cargo build --quiet --features "$features"
        end=$(date +%s.%N)
        awk -v start="$start" -v end="$end" -v with="${features:-none}" 'BEGIN { printf "%-9s %.2f s\n", with, end - start }' 
    done
done
