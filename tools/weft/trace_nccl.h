// What `weft trace` says of NCCL calls: the traces that the library beside MPI's leaves.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weft::cli {

// The files nccl-*.wtrc in a directory, in order.
std::vector<std::filesystem::path> nccl_traces_in(const std::filesystem::path& directory);

// Lines for a person of what they hold; empty if there are none.
std::string nccl_summary(const std::filesystem::path& directory);

}  // namespace weft::cli
