#!/bin/sh
# Instructions per event of the four pipelines under callgrind, beside those on record. Fails on more than 5 % growth;
# `--record` writes the record anew.
set -eu
cd "$(dirname "$0")"
events=200000
record=instructions.txt
cargo build --quiet --release
program="${CARGO_TARGET_DIR:-target}/release/ministream-bench"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for job in A B C D; do
    # What makes the events is outside `pipelines::run`, and not counted.
    valgrind --tool=callgrind --callgrind-out-file="$scratch/out" --toggle-collect='*pipelines::run*' \
        "$program" $events $job ministream-batches base 1 >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
    awk -v job="$job" -v events=$events '/^(totals|summary):/ { print job, int($2 / events); exit }' "$scratch/out"
done >"$scratch/found"
if [ "${1:-}" = --record ]; then
    cp "$scratch/found" "$record"
    cat "$record"
    exit
fi
echo "job instructions recorded"
awk 'NR == FNR { was[$1] = $2; next }
    { print $1, $2, was[$1]; if (!($1 in was) || $2 == 0 || $2 > was[$1] * 1.05) bad = 1 }
    END { exit bad }' "$record" "$scratch/found" || { echo "more than 5 % above $record, or not in it" >&2; exit 1; }
