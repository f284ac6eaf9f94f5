#!/bin/sh
# Prints C++ code: the function FUNCTION of header HEADER, which returns a span of TYPE, a struct of a name and a
# text, with the content of each FILE (already sorted by name) under its base name.
# Usage: embed_texts.sh HEADER TYPE FUNCTION FILE…
set -eu
header=$1 type=$2 function=$3
shift 3
cat <<END
#include "$header"
namespace weft::goal {
std::span<const $type> $function() {
  static constexpr $type kAll[] = {
END
for file in "$@"; do
  echo "{\"$(basename "$file" .txt)\", R\"EMBEDDED("
  cat "$file"
  echo ')EMBEDDED"},'
done
cat <<END
  };
  return kAll;
}
}  // namespace weft::goal
END
