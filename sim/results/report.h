// Everything a run reports, and the sinks that write it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/results/records.h"

namespace weft::results {

// How a run ended; decides the program's exit status.
enum class Outcome : std::uint8_t {
  kComplete,
  kIncomplete,
  kInterrupted,
  kTimeLimit,
  kEventLimit,
  kMemoryLimit
};
// "complete", "incomplete", "interrupted", "time limit", …
std::string_view name(Outcome outcome);

struct Job {
  std::string name;
  std::uint32_t ranks = 0;
  Time finish;
};

struct Report {
  Outcome outcome = Outcome::kComplete;
  std::string network;   // short form: "loggops:semantics=weft,…"
  std::string topology;  // short form, or "" for a network without one
  std::string scenario;  // resolved, as text
  std::uint64_t seed = 0;
  Time makespan;             // latest finish of any rank
  Time stopped_at;           // of a run that did not complete: how far its clock had come
  std::uint64_t digest = 0;  // of executed events and finish times
  std::uint64_t events = 0;  // executed by the engine
  std::uint64_t ops = 0, executed_ops = 0;
  std::uint64_t messages = 0, bytes = 0;  // sent by ranks, those inside collectives included
  NetworkTotals network_totals;
  std::uint64_t faults = 0, link_changes = 0;  // in the scenario; changes of links by them up to the makespan
  std::vector<Job> jobs;
  std::vector<Rank> ranks;
  std::vector<Link> links;
  std::vector<Flow> flows;
  FlowStatistics flow_statistics;
  std::vector<std::string> warnings;    // settings that could not act, …
  std::vector<std::string> diagnosis;   // why it ended incomplete
  double wall_seconds = 0;              // of the simulation alone, without reading and writing files
  std::uint64_t peak_memory_bytes = 0;  // of the process
};

// Receives what happened.
class Sink {
 public:
  virtual ~Sink() = default;
  // Throws InputError if a file can't be written.
  virtual void write(const Report& report) = 0;
};

// summary.json, ranks.csv, hosts.csv, links.csv, scenario.txtpb and (if asked for) flows.csv in one
// directory. The directory is created here, so that one that can't be is known before the run; throws
// InputError then. Files there that an earlier run left and this one may not write are removed. Columns and
// keys are described in README.md.
std::unique_ptr<Sink> make_directory_sink(const std::string& directory, bool flows);

// The content of summary.json.
std::string json_summary(const Report& report);

// The summary for people, in plain text of at most ~90 columns; `directory` is named in it if not empty.
std::string text_summary(const Report& report, const std::string& directory);

}  // namespace weft::results
