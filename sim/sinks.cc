#include "sim/sinks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sim/packet/log_sinks.h"
#include "sim/results/report_sinks.h"
#include "sim/units/input_error.h"

namespace weft::sim {
namespace {

void prepare_folder(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw InputError(fmt::format("{}: can't create this directory: {}", directory, error.message()));
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    throw InputError(fmt::format("{}: can't write in this directory: {}", directory, std::strerror(errno)));
  }
  for (const Sink& sink : sinks()) {
    if (sink.acts == nullptr) continue;
    for (const SinkFile& file : sink.files) std::filesystem::remove(directory + "/" + file.name, error);
  }
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
  if (!request.output().directory.empty()) prepare_folder(request.output().directory);
  for (const Sink& sink : sinks()) {
    if (sink.make != nullptr && acts(sink, request)) sinks_.push_back(sink.make(request));
  }
}

void ReportSinks::write(const results::Report& report) {
  for (const auto& sink : sinks_) sink->write(report);
}

}  // namespace weft::sim
