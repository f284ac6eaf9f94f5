// Says where the time of a traced run went, and what on its machines makes its compute times doubtful.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "goal/import/mpi/time_split.h"
#include "goal/pack/info.h"

namespace weft::goal {

// What one rank's trace tells.
struct RankTimes {
  std::string host;
  std::map<std::string, std::string> facts;  // by the names in tracer/format/README.md; empty: none were told
  TimeSplit split;
  std::uint64_t elapsed_ns = 0;  // from MPI_Init to MPI_Finalize, or in the region
  std::size_t threads = 1;       // that made MPI calls and lived at once
};

struct TimeAccount {
  std::vector<RankTimes> ranks;
  ComputeTimes policy = ComputeTimes::kAuto;
  // How long the graph's operations alone take: no network, a core for each rank. None: not found out.
  std::optional<std::uint64_t> ideal_ns;
};

// The lowest, highest and mean share of a part of the ranks' times; 0 where there is no time.
struct Shares {
  double mean = 0, least = 0, most = 0;
};
// Takes the ranks' parts and wholes, by rank.
Shares shares_of(const std::vector<std::uint64_t>& parts, const std::vector<std::uint64_t>& wholes);

// The whole account in sentences, for people. Empty where no rank has any time.
std::string where_time_went(const TimeAccount& account);

// Puts the account into the metadata (`where_the_time_went`, `ideal_elapsed_ns`, shares of compute and MPI,
// `compute_times`), and what was detected into the anomalies: cores shared by ranks or taken by others,
// frequencies, threads beside those that call MPI.
void report_times(const TimeAccount& account, PackInfo& info);

}  // namespace weft::goal
