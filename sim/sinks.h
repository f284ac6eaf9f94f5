// The sinks that are built in, and those of one run.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/sink.h"

namespace weft::sim {

std::span<const Sink> sinks();

// Does this one act in this run? Never without a folder if it leaves files there.
bool acts(const Sink& sink, const SinkRequest& request);

// The sinks that write the report of one run. The folder is created here, so that one that can't be is known
// before the run. Files that an earlier run left there are removed if not every run writes them, so that they
// are not taken for this one's.
class ReportSinks {
 public:
  // Throws InputError if the folder can't be created or written in.
  explicit ReportSinks(const SinkRequest& request);
  // Throws InputError if a file can't be written.
  void write(const results::Report& report);

 private:
  std::vector<std::unique_ptr<results::ReportSink>> sinks_;
};

}  // namespace weft::sim
