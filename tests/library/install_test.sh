#!/bin/sh
# install_test.sh BUILD_DIR EXAMPLES_DIR: installs into a temporary prefix, builds the examples against it the way
# another project would, and runs them.
set -eu
build_dir=$1 examples=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "install_test: $1" >&2
  exit 1
}

prefix=$scratch/prefix
cmake --install "$build_dir" --prefix "$prefix" >"$scratch/log" || fail "$(cat "$scratch/log")"
for file in bin/cellar libexec/cellar/cellar-worker-3.11; do
  [ -x "$prefix/$file" ] || fail "$file is not installed"
done

for example in embed notebook testing; do
  {
    cmake -G Ninja -S "$examples/$example" -B "$scratch/$example" -DCMAKE_PREFIX_PATH="$prefix" &&
      cmake --build "$scratch/$example"
  } >"$scratch/log" 2>&1 || fail "building $example: $(cat "$scratch/log")"
done

# The prefix is not the one that was configured, so the program has to be told where the worker is.
CELLAR_WORKER=$prefix/libexec/cellar/cellar-worker-3.11 "$scratch/embed/embed" >"$scratch/output" ||
  fail "embed failed"
diff "$examples/embed/expected.txt" "$scratch/output" || fail "embed printed something else"
"$scratch/notebook/notebook" "$scratch/answer.ipynb" >"$scratch/output" || fail "notebook failed"
diff "$examples/notebook/expected.txt" "$scratch/output" || fail "notebook printed something else"
ctest --test-dir "$scratch/testing" --output-on-failure || fail "the example's tests failed"
