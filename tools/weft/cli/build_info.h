// Which build of Weft this is.
#pragma once

#include <string>

namespace weft::cli {

// What `weft --version` prints: version, commit, compiler and libraries.
std::string build_info();

// The commit of the sources, with "+" where they had changes beside it; "" for sources outside of Git.
std::string build_commit();

}  // namespace weft::cli
