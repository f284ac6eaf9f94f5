// Which ranks of a traced run had to share cores.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "goal/import/mpi/time_account.h"

namespace weft::goal {

// "0-3,8" (tracer/format/README.md, fact `cores`); empty for what isn't such a list.
std::set<unsigned> parse_cores(const std::string& text);

struct HostCores {
  std::string host;
  std::vector<std::size_t> ranks;  // of the account
  double cores = 0;                // that they may use together; 0: not known
  // The ranks that had to share, of which there are more than cores that they may use, and those cores; 0 and
  // 0 if none had to.
  std::size_t sharing = 0;
  double shared_cores = 0;
  // Where none had to: the threads of all ranks that make MPI calls, where these are more than cores that
  // they may use together; else 0.
  std::size_t sharing_threads = 0;
  std::uint64_t compute_ns = 0;  // of all its ranks, on a core
};
// By host's name.
std::vector<HostCores> host_cores(const std::vector<RankTimes>& ranks);

}  // namespace weft::goal
