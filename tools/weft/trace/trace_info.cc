#include "tools/weft/trace/trace_info.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "goal/import/flight_recorder/importer.h"
#include "goal/import/flight_recorder/stuck.h"
#include "goal/import/mpi/time_account.h"
#include "goal/import/mpi/trace_files.h"
#include "goal/import/mpi/trace_summary.h"
#include "sim/units/input_error.h"
#include "sim/units/printable.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/goal/matrix_picture.h"
#include "tools/weft/trace/trace_info_json.h"
#include "tools/weft/trace/trace_nccl.h"

namespace weft::cli {
namespace {

using goal::CallState;
using goal::Coverage;
using goal::FunctionUse;
using goal::RankEnd;
using goal::RankState;
using goal::TraceSummary;

// More ranks than these are told in groups that are at the same place.
constexpr std::size_t kMostRows = 64;
constexpr std::size_t kMostLocal = 8;

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }
double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

std::string peer_text(std::int32_t peer) {
  switch (peer) {
    case trace::kAnySource:
      return "any source";
    case trace::kProcNull:
      return "MPI_PROC_NULL";
    case trace::kOutsideWorld:
      return "another MPI_COMM_WORLD";
    case trace::kRootHere:
      return "this rank";
    default:
      return std::to_string(peer);
  }
}

// Is the peer whom it sends to? Of the others it receives from it, or it is the root.
bool sends(const std::string& function) {
  return function.find("end") != std::string::npos && function.find("Sendrecv") == std::string::npos;
}
bool has_root(const CallState& call) { return call.tag == trace::kUndefined; }

// "MPI_Recv from 1, tag 9, MPI_COMM_WORLD"
std::string call_text(const CallState& call) {
  std::string text = printable(call.function);
  if (call.to != trace::kUndefined) text += " to " + peer_text(call.to);
  if (call.peer != trace::kUndefined) {
    text += (has_root(call) ? ", root " : sends(call.function) ? " to " : " from ") + peer_text(call.peer);
  }
  if (call.tag == trace::kAnyTag) text += ", any tag";
  if (call.tag >= 0) text += fmt::format(", tag {}", call.tag);
  if (call.requests > 0)
    text += fmt::format(" of {} request{}", call.requests, call.requests == 1 ? "" : "s");
  if (!call.communicator.empty()) text += ", " + call.communicator;
  return text;
}

std::string open_text(const RankState& rank) {
  std::string text;
  for (const goal::OpenRequest& open : rank.open) {
    const CallState call{
        .function = open.function, .peer = open.peer, .tag = open.tag, .communicator = open.communicator};
    text += (text.empty() ? "" : "; ") + call_text(call);
  }
  if (rank.open_requests > rank.open.size()) {
    text += fmt::format("; and {} more", rank.open_requests - rank.open.size());
  }
  return text;
}

// Where a rank is, in words; `times`: with how long, which differs from rank to rank.
std::string where_text(const RankState& rank, bool times) {
  if (rank.end == RankEnd::kFinished) return "after MPI_Finalize";
  std::string text;
  for (const CallState& call : rank.now_in) {
    if (!text.empty()) text += "; ";
    if (call.thread > 0) text += fmt::format("thread {} ", call.thread);
    text += "in " + call_text(call);
    if (times && call.for_ns) text += fmt::format(", for {:.3f} s", seconds(*call.for_ns));
    if (times && !call.for_ns) text += fmt::format(", since {:.6f} s", seconds(call.enter_ns));
  }
  if (!rank.now_in.empty()) return text;
  if (!rank.last) return "before its first call";
  text = "after " + call_text(*rank.last);
  return times ? text + fmt::format(" at {:.6f} s", seconds(rank.last->leave_ns)) : text;
}

std::string rank_list(const std::vector<std::uint32_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ",";
    text += std::to_string(ranks[i]);
    if (last > i) text += (last == i + 1 ? "," : "-") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

// What ranks did with their time, each kind's mean, least and most share.
std::string shares_text(const TraceSummary& summary) {
  std::vector<std::uint64_t> elapsed;
  bool known = true, threads = false;
  for (const RankState& rank : summary.ranks) {
    elapsed.push_back(rank.threads_ns);
    threads = threads || rank.threads > 1;
    known = known && !rank.facts.empty();
  }
  const auto line = [&](const char* name, const char* words, auto&& part_of) {
    std::vector<std::uint64_t> parts;
    for (const RankState& rank : summary.ranks) parts.push_back(part_of(rank));
    const goal::Shares shares = goal::shares_of(parts, elapsed);
    return fmt::format("  {:<11} {:.1f}% of a rank{} time on average, {:.1f}% to {:.1f}%{}\n", name,
                       100 * shares.mean, threads ? "'s threads'" : "'s", 100 * shares.least,
                       100 * shares.most, words);
  };
  const auto between = [](const RankState& rank) {
    const std::uint64_t other = rank.mpi_ns + rank.off_between.sum();
    return rank.threads_ns > other ? rank.threads_ns - other : 0;
  };
  if (!known) return line("compute", "; when ranks had no core is not known", between);
  return line("compute", ", on a core", between) +
         line("no core", ", ready to compute", [](const RankState& r) { return r.off_between.waiting_ns; }) +
         line("asleep", ", between calls", [](const RankState& r) { return r.off_between.asleep_ns; }) +
         line("MPI", "", [](const RankState& r) { return r.mpi_ns; }) +
         line("MPI no core", ", waiting for one or asleep in MPI",
              [](const RankState& r) { return r.off_inside.sum(); });
}

// How far the hosts' clocks are from that of rank 0's.
std::string clocks_text(const TraceSummary& summary) {
  if (summary.hosts.size() < 2) return "";
  std::string text;
  for (const auto& [name, host] : summary.clocks.hosts()) {
    text += fmt::format("  clock       {}: ", printable(name));
    if (host.readings.empty()) {
      text += "not measured\n";
      continue;
    }
    const goal::ClockReading& first = host.readings[0];
    text +=
        fmt::format("{:+.9f} s to rank 0's, within {:.3f} us", static_cast<double>(first.offset_ns) * 1e-9,
                    static_cast<double>(first.round_trip_ns) * 0.5e-3);
    text += host.readings.size() < 2 ? ", once only\n"
                                     : fmt::format(", drift {:+.3f} ppm, within {:.3f}\n", host.drift() * 1e6,
                                                   host.drift_uncertainty() * 1e6);
  }
  return text;
}

std::string head_text(const TraceSummary& summary, const std::string& directory) {
  std::vector<std::string> libraries;
  for (const std::string& library : summary.libraries) libraries.push_back(printable(short_library(library)));
  std::string text =
      fmt::format("{}: {} ranks on {} host{}, {}: {}\n", directory, summary.ranks.size(),
                  summary.hosts.size(), summary.hosts.size() == 1 ? "" : "s", fmt::join(libraries, " and "),
                  printable(fmt::format("{}", fmt::join(summary.programs, ", "))));
  if (summary.spawned > 0) {
    text += fmt::format("  spawned     {} of these ranks, by MPI_Comm_spawn: the import leaves them out\n",
                        summary.spawned);
  }
  if (!summary.one_run()) {
    text += fmt::format("  warning     these {} traces are not those of one run of {} ranks\n",
                        summary.ranks.size() - summary.spawned, summary.world_size);
  }
  for (const std::string& library : summary.unseen_callers) {
    text += fmt::format("  warning     {} calls MPI past the tracer: none of its calls is here\n",
                        printable(library));
  }
  text += fmt::format("  calls       {} ({:.2f} MB in the files, {:.1f} bytes a call)\n", summary.calls,
                      megabytes(summary.file_bytes),
                      static_cast<double>(summary.file_bytes) /
                          static_cast<double>(std::max<std::uint64_t>(summary.calls, 1)));
  std::uint64_t messages = 0;
  for (const goal::Exchange& exchange : summary.exchanges) messages += exchange.messages;
  text += fmt::format("  sent        {:.3f} MB in {} messages from point to point\n",
                      megabytes(summary.sent_bytes), messages);
  text += fmt::format("  elapsed     {:.3f} s {}, {:.1f}% of it in MPI\n", seconds(summary.elapsed_ns),
                      summary.span(), 100 * summary.mpi_share);
  text += shares_text(summary);
  text += clocks_text(summary);
  text += fmt::format("  wildcards   {} receives and probes from any source, {} with any tag\n",
                      summary.any_source, summary.any_tag);
  return text;
}

std::string functions_text(const TraceSummary& summary) {
  double time = 0;
  for (const RankState& rank : summary.ranks) time += static_cast<double>(rank.threads_ns);
  std::string text =
      fmt::format("\n{:<30} {:>12} {:>16} {:>12} {:>7}\n", "function", "calls", "bytes", "time (s)", "share");
  std::string local;
  std::size_t locals = 0;
  std::uint64_t local_calls = 0;
  for (const FunctionUse& use : summary.functions) {
    if (use.coverage == Coverage::kCounted) {
      local_calls += use.calls;
      if (++locals <= kMostLocal)
        local += fmt::format("{}{} {}", locals == 1 ? "" : ", ", printable(use.name), use.calls);
      continue;
    }
    const bool timed = use.coverage == Coverage::kTimed;
    text +=
        fmt::format("{:<30} {:>12} {:>16} {:>12.6f} {:>6.2f}%{}\n", printable(use.name), use.calls,
                    timed ? "-" : std::to_string(use.bytes), seconds(use.ns),
                    time > 0 ? 100 * static_cast<double>(use.ns) / time : 0, timed ? "  not decoded" : "");
  }
  if (locals > 0) {
    text += fmt::format("only counted: {} local functions with {} calls: {}{}\n", locals, local_calls, local,
                        locals > kMostLocal ? ", …" : "");
  }
  return text;
}

std::string communicators_text(const TraceSummary& summary) {
  std::string text =
      fmt::format("\n{:<30} {:>12} {:>16} {:>12}\n", "communicator", "calls", "bytes", "ranks");
  for (const goal::CommunicatorUse& use : summary.communicators) {
    text += fmt::format("{:<30} {:>12} {:>16} {:>12}{}\n", use.name, use.calls, use.bytes, use.ranks,
                        use.inter ? "  in two groups" : "");
  }
  return text;
}

std::string regions_text(const TraceSummary& summary) {
  if (summary.regions.empty()) return {};
  std::string text = fmt::format("\n{:<30} {:>12} {:>16} {:>12}\n", "region", "entries", "ranks", "time (s)");
  for (const goal::RegionUse& use : summary.regions) {
    text += fmt::format("{:<30} {:>12} {:>16} {:>12.6f}\n", printable(use.name), use.entries, use.ranks,
                        seconds(use.ns));
  }
  return text;
}

std::string ranks_text(const TraceSummary& summary) {
  if (summary.ranks.size() > kMostRows) {
    std::map<std::string, std::vector<std::uint32_t>> groups;
    for (const RankState& rank : summary.ranks) {
      groups[fmt::format("{:<9} {}", goal::name(rank.end), where_text(rank, false))].push_back(rank.rank);
    }
    std::string text = "\nstate     where\n";
    for (const auto& [where, ranks] : groups) {
      text += fmt::format("{}: {} rank{}, {}\n", where, ranks.size(), ranks.size() == 1 ? "" : "s",
                          rank_list(ranks));
    }
    return text;
  }
  std::string text = fmt::format("\n{:>6} {:<9} {:>10} {:>7}  where\n", "rank", "state", "calls", "in MPI");
  for (const RankState& rank : summary.ranks) {
    text += fmt::format("{:>6} {:<9} {:>10} {:>6.1f}%  {}\n", rank.rank, goal::name(rank.end), rank.calls,
                        rank.threads_ns > 0
                            ? 100 * static_cast<double>(rank.mpi_ns) / static_cast<double>(rank.threads_ns)
                            : 0,
                        where_text(rank, true));
    if (rank.end != RankEnd::kFinished && rank.open_requests > 0) {
      text += fmt::format("{:>36} open: {}\n", "", open_text(rank));
    }
  }
  return text;
}

std::string ends_text(const TraceSummary& summary) {
  std::map<RankEnd, std::uint64_t> ends;
  for (const RankState& rank : summary.ranks) ++ends[rank.end];
  const auto line = [&](RankEnd end, const char* words) {
    return ends[end] == 0 ? std::string() : fmt::format("{} {}: {}\n", goal::name(end), ends[end], words);
  };
  std::string text =
      line(RankEnd::kAborted, "called MPI_Abort") + line(RankEnd::kExited, "ended without MPI_Finalize") +
      line(RankEnd::kStopped, "the tracer could not write on (a full disk); the program did") +
      line(RankEnd::kCut, "the process is gone; it crashed or was killed") +
      line(RankEnd::kRunning, "the program is running") +
      line(RankEnd::kOpen, "the trace has no end; whether the process lives, its own machine can tell");
  return text.empty() ? text : "\n" + text;
}

}  // namespace

void add_trace_info(Command& parent) {
  struct Options {
    std::string directory, matrix;
    std::uint32_t cells = 256;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand(
      "info", "Tell what traces hold and where each rank is, of a program that runs or hangs too");
  command.add_option("DIR", options->directory, "The folder that weft trace -o wrote, or is writing")
      .required();
  command.add_flag("--json", options->json, "As JSON; bytes, and nanoseconds");
  command.add_option(
      "--matrix", options->matrix,
      "Write the communication matrix as a picture: .svg with axes, .png, .pgm a grey pixel each cell");
  command.add_option("--cells", options->cells, "Most cells a side of the picture; more ranks share one")
      .with_default()
      .range(1, 4096);
  command.footer(
      "Times of calls are since the rank's MPI_Init. Messages inside collectives are not in the matrix.\n"
      "Example: weft trace info lj_trace --matrix lj.png");
  command.callback([options, parent] {
    if (const std::vector<GivenOption> before = parent.given(); !before.empty()) {
      throw InputError(
          before[0].name +
          " before 'info' would be for a command to trace; what 'weft trace info' takes stands behind it");
    }
    if (!options->matrix.empty()) check_picture_name(options->matrix);
    if (goal::has_dumps(options->directory)) {
      if (!options->matrix.empty()) {
        throw InputError({options->directory}, "of a flight recorder's dumps there is no --matrix");
      }
      const std::vector<goal::RankDump> dumps = goal::read_dumps(std::filesystem::path(options->directory));
      print_text(options->json ? dumps_json(dumps) : goal::progress_text(dumps));
      return;
    }
    const std::string nccl = options->json ? std::string() : nccl_summary(options->directory);
    if (!nccl.empty() && options->matrix.empty() &&
        goal::trace_files(options->directory, goal::kMpiTraces).empty()) {
      print_text(nccl);
      return;
    }
    const TraceSummary summary = goal::summarize_traces(options->directory, monotonic_ns());
    if (!options->matrix.empty()) {
      draw_matrix(options->matrix, summary.exchanges, static_cast<goal::Rank>(summary.world_size),
                  options->cells);
    }
    const std::string text = options->json
                                 ? trace_info_json(summary)
                                 : head_text(summary, options->directory) + functions_text(summary) +
                                       communicators_text(summary) + regions_text(summary) +
                                       ranks_text(summary) + ends_text(summary) + nccl;
    print_text(text);
  });
}

}  // namespace weft::cli
