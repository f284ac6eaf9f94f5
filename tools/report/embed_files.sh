#!/bin/sh
# Prints a C++ header with the content of each FILE, in their order, under its base name.
# Usage: embed_files.sh FILE…
set -eu
cat <<END
#pragma once
#include <string_view>
namespace weft::report {
struct PageFile {
  std::string_view name, text;
};
inline constexpr PageFile kPageFiles[] = {
END
for file in "$@"; do
  echo "{\"$(basename "$file")\", R\"EMBEDDED("
  cat "$file"
  echo ')EMBEDDED"},'
done
cat <<END
};
}  // namespace weft::report
END
