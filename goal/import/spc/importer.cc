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

StorageSystem system_of(const Parameters& parameters) {
  StorageSystem system;
  if (!parameters.automatic("hosts")) system.hosts = parameters.whole("hosts");
  system.servers = parameters.whole("servers");
  system.block = parameters.whole("block");
  system.stripe = parameters.bytes("stripe");
  system.command = parameters.bytes("command");
  system.completion = parameters.bytes("completion");
  system.read_rate = parameters.bandwidth("read_rate");
  system.write_rate = parameters.bandwidth("write_rate");
  system.access = parameters.time("access");
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
       "Hosts that ask; auto: one for each storage unit (ASU) of the trace. More units share them in turn.",
       from_to("1", "16777216")},
      {"servers", ParameterType::kInteger, "8", "Storage servers.", from_to("1", "16777216")},
      {"block", ParameterType::kInteger, "512", "Bytes of a block, which addresses (LBA) count.",
       from_to("1", "1048576")},
      {"stripe", ParameterType::kBytes, "1MiB",
       "So much of a storage unit lies on one server; then comes the next.", from_to("1B", "1TiB")},
      {"command", ParameterType::kBytes, "64B", "Bytes of a request beside the data.", at_most("1TiB")},
      {"completion", ParameterType::kBytes, "16B", "Bytes of an answer beside the data.", at_most("1TiB")},
      {"read_rate", ParameterType::kBandwidth, "48Gbps", "Reading, of a server's device.", at_least("1Mbps")},
      {"write_rate", ParameterType::kBandwidth, "12Gbps", "Writing, of a server's device.",
       at_least("1Mbps")},
      {"access", ParameterType::kTime, "0ns", "Time of a server's device for each request, besides.",
       from_to("0", "1000s")},
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
