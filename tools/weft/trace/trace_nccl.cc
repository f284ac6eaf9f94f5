#include "tools/weft/trace/trace_nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <system_error>

#include "goal/import/mpi/trace_files.h"
#include "goal/import/mpi/trace_reader.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using trace::DeviceFunction;
using trace::DeviceShape;

struct Summary {
  std::uint64_t calls = 0, collectives = 0, messages = 0, kernels = 0, gpu_times = 0, choices = 0, cut = 0;
  double sent_bytes = 0;
  std::set<std::string> libraries;
  std::map<std::string, std::uint64_t> not_replayed;
};

void add_call(const goal::TraceRecord& record, Summary& summary) {
  const auto& fields = record.device.fields;
  const DeviceShape shape = trace::device_function_info(record.device.function).shape;
  switch (shape) {
    case DeviceShape::kCollective:
      ++summary.collectives;
      break;
    case DeviceShape::kPeer:
      if (record.device.function != DeviceFunction::ncclSend) break;
      ++summary.messages;
      summary.sent_bytes += static_cast<double>(fields[2]) * trace::nccl_type_bytes(fields[3]);
      break;
    case DeviceShape::kGpuTime:
      ++summary.gpu_times;
      break;
    case DeviceShape::kProfilerOperation:
      ++summary.choices;
      break;
    default:
      if (trace::is_stream_operation(record.device.function)) ++summary.kernels;
      break;
  }
  const bool is_call = shape != DeviceShape::kDefineComm && shape != DeviceShape::kDefineStream &&
                       shape != DeviceShape::kGpuTime && shape != DeviceShape::kProfilerComm &&
                       shape != DeviceShape::kProfilerOperation && shape != DeviceShape::kProfilerStep;
  if (is_call) ++summary.calls;
}

void add_process(const fs::path& path, Summary& summary) {
  goal::TraceReader reader(path.string());
  goal::TraceRecord record;
  while (reader.next(record)) {
    if (record.function == trace::Function::kDevice) add_call(record, summary);
  }
  if (!reader.complete()) ++summary.cut;
  summary.libraries.insert(reader.header().mpi_library);
  for (const goal::TraceCounter& counter : reader.counters()) {
    if (counter.call_class == trace::CallClass::kCommunication)
      summary.not_replayed[counter.name] += counter.calls;
  }
}

}  // namespace

std::string nccl_summary(const fs::path& directory) {
  const std::vector<fs::path> files = goal::trace_files(directory, goal::kNcclTraces);
  if (files.empty()) return {};
  Summary summary;
  for (const fs::path& path : files) add_process(path, summary);
  std::string text = fmt::format("\nweft trace: {} processes with {}\n", files.size(),
                                 fmt::join(summary.libraries, " and "));
  text += fmt::format(
      "  calls     {}: {} collectives, {} messages ({:.3f} MB), {} kernels, copies and graphs\n",
      summary.calls, summary.collectives, summary.messages, summary.sent_bytes * 1e-6, summary.kernels);
  text += fmt::format("  GPU       {} operations with a time by CUDA's events\n", summary.gpu_times);
  text += fmt::format(
      "  choices   {} operations with algorithm, protocol and channels, as NCCL's profiler interface "
      "told\n",
      summary.choices);
  if (summary.cut > 0) text += fmt::format("  cut       {} processes were killed or crashed\n", summary.cut);
  for (const auto& [name, calls] : summary.not_replayed) {
    text += fmt::format("  warning   {} calls of {}: counted, but not replayed\n", calls, name);
  }
  text += fmt::format("  next      weft import nccl {} -o NAME.weft{}\n", directory.string(),
                      summary.cut > 0 ? " --partial" : "");
  return text;
}

}  // namespace weft::cli
