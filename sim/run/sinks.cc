#include "sim/run/sinks.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "sim/packet/log_sinks.h"
#include "sim/results/report_sinks.h"

namespace weft::sim {
namespace {

// Every file that any run may leave, the summary first: without it nobody takes the others for results.
std::vector<std::string> all_files() {
  std::vector<std::string> names;
  for (const Sink& sink : sinks()) {
    for (const SinkFile& file : sink.files) names.push_back(file.name);
  }
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name == "summary.json"; });
  return names;
}

}  // namespace

std::span<const Sink> sinks() {
  static const std::vector<Sink> all = [] {
    std::vector<Sink> list = results::report_sinks();
    list.push_back(results::series_sink());
    list.push_back(packet::packet_log_sink());
    list.push_back(packet::capture_sink());
    return list;
  }();
  return all;
}

bool acts(const Sink& sink, const SinkRequest& request) {
  if (!sink.files.empty() && request.output().directory.empty()) return false;
  return sink.acts == nullptr || sink.acts(request);
}

ReportSinks::ReportSinks(const SinkRequest& request) {
  if (!request.output().directory.empty()) folder_.emplace(request.output().directory, all_files());
  for (const Sink& sink : sinks()) {
    if (sink.make == nullptr || !acts(sink, request)) continue;
    (sink.files.empty() ? others_ : files_).push_back(sink.make(request));
  }
}

void ReportSinks::begin() {
  if (folder_) folder_->begin();
}

void ReportSinks::write(const results::Report& report) {
  if (folder_ && !folder_->begun()) throw std::logic_error("a report before the simulation began");
  for (const auto& sink : files_) sink->write(report);
  if (folder_) folder_->complete();
  for (const auto& sink : others_) sink->write(report);
}

void ReportSinks::failed(std::string_view reason) noexcept {
  if (folder_) folder_->failed(reason);
}

}  // namespace weft::sim
