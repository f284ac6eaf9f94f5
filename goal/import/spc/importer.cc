#include "goal/import/spc/importer.h"

#include <filesystem>
#include <string>

#include "goal/file.h"
#include "goal/import/sniff.h"
#include "goal/import/spc/storage_graph.h"
#include "goal/import/spc/trace.h"

namespace weft::goal {
namespace {

bool looks_like_spc(const std::filesystem::path& path) {
  const std::string head = first_bytes(path);
  return is_spc_line(std::string_view(head).substr(0, head.find('\n')));
}

std::uint32_t integer_in(const Parameters& parameters, std::string_view name, std::int64_t most) {
  const std::int64_t value = parameters.integer(name);
  if (value < 1 || value > most) parameters.fail(name, "it must be from 1 to " + std::to_string(most));
  return static_cast<std::uint32_t>(value);
}

std::uint64_t bytes_in(const Parameters& parameters, std::string_view name, std::uint64_t least) {
  constexpr std::uint64_t kMost = 1ull << 40;
  const std::uint64_t value = parameters.bytes(name);
  if (value < least || value > kMost) {
    parameters.fail(name, "it must be from " + std::to_string(least) + "B to 1TiB");
  }
  return value;
}

Bandwidth rate_of(const Parameters& parameters, std::string_view name) {
  const Bandwidth rate = parameters.bandwidth(name);
  if (rate < kLeastRate) parameters.fail(name, "it must be at least 1Mbps");
  return rate;
}

StorageSystem system_of(const Parameters& parameters) {
  constexpr std::int64_t kMostRanks = 1 << 24;
  constexpr Time kMostAccess = Time::us(1'000'000'000);
  StorageSystem system;
  if (!parameters.automatic("hosts")) system.hosts = integer_in(parameters, "hosts", kMostRanks);
  system.servers = integer_in(parameters, "servers", kMostRanks);
  system.block = integer_in(parameters, "block", 1 << 20);
  system.stripe = bytes_in(parameters, "stripe", 1);
  system.command = bytes_in(parameters, "command", 0);
  system.completion = bytes_in(parameters, "completion", 0);
  system.read_rate = rate_of(parameters, "read_rate");
  system.write_rate = rate_of(parameters, "write_rate");
  system.access = parameters.time("access");
  if (system.access < Time() || system.access > kMostAccess) {
    parameters.fail("access", "it must be from 0 to 1000 s");
  }
  system.closed_loop = parameters.boolean("closed_loop");
  return system;
}

Graph import_spc(const std::filesystem::path& path, const Parameters& parameters, PackInfo& info) {
  const StorageSystem system = system_of(parameters);
  const SpcTrace trace = parse_spc(FileView(path.string()).bytes(), path.string());
  StorageGraph made = storage_graph(trace.ios, system);
  info.metadata["source"] = "SPC block trace";
  info.metadata["ios"] = std::to_string(trace.ios.size());
  info.metadata["hosts"] = std::to_string(made.hosts);
  info.metadata["servers"] = std::to_string(system.servers);
  info.metadata["read_bytes"] = std::to_string(made.read_bytes);
  info.metadata["write_bytes"] = std::to_string(made.write_bytes);
  if (!trace.ios.empty()) {
    info.metadata["traced_elapsed_ns"] =
        std::to_string(trace.ios.back().start_ns - trace.ios.front().start_ns);
  }
  const auto note = [&](const char* name, Severity severity, const char* sentence, std::uint64_t count) {
    if (count > 0) info.anomalies.push_back({name, severity, sentence, count});
  };
  note("divided_ios", Severity::kInfo,
       "Requests beyond one for each I/O, as its data lie on several servers.",
       made.requests - trace.ios.size());
  note("early_lines", Severity::kWarning,
       "Lines with an earlier time than the line before; I/Os were sorted.", trace.early);
  note("empty_ios", Severity::kWarning, "I/Os of 0 bytes, left out.", trace.empty);
  note("optional_fields", Severity::kInfo, "Lines with fields behind the timestamp, which are not looked at.",
       trace.with_optional);
  return std::move(made.graph);
}

std::vector<ParameterSpec> parameters() {
  return {
      {"hosts", ParameterType::kInteger, "auto",
       "Hosts that ask; auto: one for each storage unit (ASU) of the trace. More units share them in turn."},
      {"servers", ParameterType::kInteger, "8", "Storage servers."},
      {"block", ParameterType::kInteger, "512", "Bytes of a block, which addresses (LBA) count."},
      {"stripe", ParameterType::kBytes, "1MiB",
       "So much of a storage unit lies on one server; then comes the next."},
      {"command", ParameterType::kBytes, "64B", "Bytes of a request beside the data."},
      {"completion", ParameterType::kBytes, "16B", "Bytes of an answer beside the data."},
      {"read_rate", ParameterType::kBandwidth, "48Gbps", "Reading, of a server's device."},
      {"write_rate", ParameterType::kBandwidth, "12Gbps", "Writing, of a server's device."},
      {"access", ParameterType::kTime, "0ns", "Time of a server's device for each request, besides."},
      {"closed_loop", ParameterType::kBoolean, "false",
       "Each I/O starts when its host's last one has ended; by default at its time in the trace."}};
}

}  // namespace

Importer spc_importer() {
  return {
      .info = {.name = "spc",
               .summary = "Block I/O traces of the Storage Performance Council, between hosts and servers.",
               .source = "Storage Performance Council, SPC Trace File Format Specification, rev. 1.0.1, 2002",
               .parameters = parameters()},
      .looks_like = "a text file of lines ASU,LBA,Size,Opcode,Timestamp",
      .span = "from the first I/O to the last",
      .sniff = looks_like_spc,
      .import = import_spc};
}

}  // namespace weft::goal
