// What `weft trace` says of NCCL calls: the traces that the library beside MPI's leaves.
#pragma once

#include <filesystem>
#include <string>

namespace weft::cli {

// Lines for a person of what those in the directory hold; empty if there are none.
std::string nccl_summary(const std::filesystem::path& directory);

}  // namespace weft::cli
