// The files that `weft trace` leaves in a folder.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace weft::goal {

// What their names begin with: one for each rank of MPI_COMM_WORLD, one for each process that uses NCCL.
inline constexpr std::string_view kMpiTraces = "rank-", kNcclTraces = "nccl-";

// PREFIX*.wtrc in the directory, in the order of their names; none where it can't be read.
std::vector<std::filesystem::path> trace_files(const std::filesystem::path& directory,
                                               std::string_view prefix);

}  // namespace weft::goal
