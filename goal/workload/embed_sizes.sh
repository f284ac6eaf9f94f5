#!/bin/sh
# Prints C++ code that holds the size distributions FILE… (already sorted by name), each under its base name.
set -eu
echo '#include "goal/workload/flow_sizes.h"'
echo 'namespace weft::goal {'
echo 'std::span<const BuiltInSizes> built_in_sizes() {'
echo '  static constexpr BuiltInSizes kAll[] = {'
for file in "$@"; do
  echo "{\"$(basename "$file" .txt)\", R\"SIZES("
  cat "$file"
  echo ')SIZES"},'
done
echo '  };'
echo '  return kAll;'
echo '}'
echo '}  // namespace weft::goal'
