// The seam for sinks, which write what a run reports: what an entry says of a sink, and what it gets.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/results/report.h"
#include "sim/results/series.h"
#include "sim/scenario/scenario.h"
#include "sim/units/module.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

namespace packet {
class Observer;
}

// A run whose results are wanted.
struct SinkRequest {
  const Scenario& scenario;
  const topologies::Topology* topology = nullptr;  // null: not built, or the network model has none
  std::FILE* terminal = nullptr;                   // where people read a summary; null: nowhere

  const Output& output() const { return scenario.output; }
  // In the folder of the results.
  std::string path(const std::string& file) const { return output().directory + "/" + file; }
};

// Is told what happens while a run goes on.
class Recorder {
 public:
  virtual ~Recorder() = default;
  // Where it wants packets and samples to be told; null: it doesn't.
  virtual packet::Observer* observer() { return nullptr; }
  virtual results::SeriesSink* samples() { return nullptr; }
  // After the run. Throws InputError if something could not be written.
  virtual void close() {}
  // What there is to say of what was asked for, a sentence, once it is closed; "": nothing.
  virtual std::string remark() const { return ""; }
};

// A file that a sink leaves in the folder of the results.
struct SinkFile {
  std::string name;
  std::string columns;  // its first line; "" where it is no table
};

// A sink: an entry of the list in sinks.cc. One that leaves files acts only where a folder is given.
struct Sink {
  ModuleInfo info;
  std::string when;  // "in every run", "with --pcapng": when it acts, for people
  std::vector<SinkFile> files;
  // Does it act in this run? Null: in every one.
  bool (*acts)(const SinkRequest& request) = nullptr;
  // Throws InputError for what the topology does not have. Null: there is nothing to check.
  void (*check)(const SinkRequest& request) = nullptr;
  // What writes the report once it is there, and what is told while the run goes on; one of them may be
  // empty. Called before the run, when files of an earlier one may still be there: files are to be written
  // with results::OutputFile. Throw InputError if a file can't be written.
  std::function<std::unique_ptr<results::ReportSink>(const SinkRequest& request)> make;
  std::function<std::unique_ptr<Recorder>(const SinkRequest& request)> make_recorder;
};

}  // namespace weft::sim
