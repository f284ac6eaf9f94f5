// The sinks that are built in, and those of one run.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/results/results_folder.h"
#include "sim/run/sink.h"

namespace weft::sim {

std::span<const Sink> sinks();

// Does this one act in this run? Never without a folder if it leaves files there.
bool acts(const Sink& sink, const SinkRequest& request);

// The sinks that write the report of one run, and the folder they write it to (results_folder.h). The folder
// is created and locked here, so that one that can't be is known before the run.
class ReportSinks {
 public:
  // Throws InputError if the folder can't be created or written in, or if another run is writing there.
  explicit ReportSinks(const SinkRequest& request);
  // To be called when everything is built and the simulation starts: until then the files of an earlier run
  // are left as they are. Removes them. Throws InputError if one can't be.
  void begin();
  // REQUIRES: begin() was called. Writes the report; when it returns, the folder is complete. Throws
  // InputError if a file can't be written.
  void write(const results::Report& report);
  // Instead of write(): the folder shall tell what ended the run.
  void failed(std::string_view reason) noexcept;

 private:
  std::optional<results::ResultsFolder> folder_;
  // Those that write files, and the others.
  std::vector<std::unique_ptr<results::ReportSink>> files_, others_;
};

}  // namespace weft::sim
