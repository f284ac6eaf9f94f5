// Files that say which host each rank of a job is on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::placement {

// Where a rank is, as a file names it.
struct RankPlace {
  std::string host;
  std::int64_t line = 0;
};

// Reads the places of ranks 0 to `ranks` - 1 from any of these, "#" beginning a comment:
//   rank 3=node7 slot=0-1       Open MPI's rankfile: every rank once, in any order; slots aren't read
//   3 node7                     the same, for node7 that is no number
//   node7 slots=4               Open MPI's hostfile: so many ranks
//   node7 / node7:4 / node7*4   hosts by lines, commas or blanks (Slurm's hostfile); :4 and *4 are ranks
//   node7 4 node8 4             LSF's LSB_MCPU_HOSTS: a number of ranks behind each name
//   node[0007-0009,12]          Slurm's ranges
// Names with blanks stand in quotes. What stands behind an '@' is left out. A list of hosts may be longer
// than the job: `left_over`, unless it is null, is for how many ranks more. Numbers without names in a line
// are hosts. Throws InputError with the line: two kinds of lines mixed, names and numbers mixed in another
// way, a rank twice, too high or left out, a list too short, what is none of these. Sources: mpirun(1) of
// Open MPI 4.1, "Rankfiles" and "Specifying Host Nodes"; srun(1) of Slurm, --distribution; IBM Spectrum LSF,
// environment variables of a job.
std::vector<RankPlace> read_rank_list(std::string_view text, const std::string& path, std::uint32_t ranks,
                                      std::uint64_t* left_over = nullptr);

// Reads one line of hosts as read_rank_list() does, for other files; `line` is where it stands. It may be
// shorter or longer than the job.
void read_hosts(std::string_view line_text, const std::string& path, std::int64_t line, std::uint32_t ranks,
                std::vector<RankPlace>& places);

// Reads a file of at most 64 MiB. Throws InputError that names it.
std::string read_small_file(const std::string& path);

}  // namespace weft::placement
