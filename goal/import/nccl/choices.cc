#include "goal/import/nccl/choices.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "goal/collectives/steps.h"
#include "sim/units/input_error.h"

namespace weft::goal {

namespace {

// A graph that names any other algorithm could not be replayed.
bool takes_choice(std::string_view name, CollectiveKind kind) {
  const auto has = [](const CollectiveAlgorithm& algorithm, std::string_view parameter) {
    return std::ranges::any_of(algorithm.info.parameters,
                               [&](const auto& spec) { return spec.name == parameter; });
  };
  return std::ranges::any_of(collective_algorithms(), [&](const CollectiveAlgorithm& algorithm) {
    return algorithm.kind == kind && algorithm.info.name == name && has(algorithm, "protocol") &&
           has(algorithm, "channels");
  });
}

}  // namespace

std::string algorithm_text(const NcclChoice& choice, CollectiveKind kind) {
  const char* name = nullptr;
  switch (choice.algorithm) {
    case 0:
      name = "nccl_tree";
      break;
    case 1:
      name = "nccl_ring";
      break;
    case 4:
      name = "nccl_nvls";
      break;
    case 5:
      name = "nccl_nvls_tree";
      break;
    case 6:
      name = "nccl_pat";
      break;
    default:
      return {};
  }
  constexpr const char* kProtocols[] = {"ll", "ll128", "simple"};
  if (choice.protocol < 0 || choice.protocol >= std::ssize(kProtocols)) return {};
  if (choice.channels < 1 || choice.channels > 64) return {};
  if (!takes_choice(name, kind)) return {};
  return fmt::format("{}:protocol={},channels={}", name, kProtocols[choice.protocol], choice.channels);
}

void NcclChoices::add(const TraceDeviceCall& call) {
  const auto& fields = call.fields;
  const auto known = static_cast<std::int64_t>(profiled_.size());
  if (call.function == trace::DeviceFunction::profiler_communicator) {
    if (fields[0] != known + 1) {
      throw InputError(fmt::format("profiler's communicator {} where {} comes next", fields[0], known + 1));
    }
    profiled_.emplace_back(fields[2], fields[3]);
    return;
  }
  if (fields[0] < 1 || fields[0] > known) {
    throw InputError(fmt::format("profiler's communicator {}, of which {} are defined", fields[0], known));
  }
  if (fields[1] < 1 || fields[1] > 255) throw InputError(fmt::format("device function {}", fields[1]));
  operations_[{fields[0], static_cast<trace::DeviceFunction>(fields[1])}].push_back(
      {.count = fields[3], .algorithm = fields[6], .protocol = fields[7], .channels = fields[8]});
}

void NcclChoices::define(std::uint32_t comm_of_file, std::uint32_t rank, std::uint32_t size) {
  const Place place{rank, size};
  called_[comm_of_file] = {place, counts_[place]++};
}

// The profiler's number of a communicator; 0 if it was not told of it (yet).
std::int64_t NcclChoices::profiled_as(std::uint32_t comm_of_file) const {
  const auto known = resolved_.find(comm_of_file);
  if (known != resolved_.end()) return known->second;
  const auto called = called_.find(comm_of_file);
  if (called == called_.end()) return 0;
  const auto& [place, before] = called->second;
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < profiled_.size(); ++i) {
    // Before version 4 the interface tells no size.
    const bool same = profiled_[i].first == place.first &&
                      (profiled_[i].second == place.second || profiled_[i].second == 0);
    if (same && seen++ == before) return resolved_[comm_of_file] = static_cast<std::int64_t>(i) + 1;
  }
  return 0;
}

const NcclChoice* NcclChoices::find(std::uint32_t comm_of_file, trace::DeviceFunction function,
                                    std::uint64_t n) const {
  if (operations_.empty()) return nullptr;
  const auto found = operations_.find({profiled_as(comm_of_file), function});
  return found == operations_.end() || n >= found->second.size() ? nullptr : &found->second[n];
}

}  // namespace weft::goal
