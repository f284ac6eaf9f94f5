#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sim/results/report.h"
#include "sim/units/input_error.h"

namespace weft::results {
namespace {

using Buffer = fmt::memory_buffer;

class DirectorySink : public Sink {
 public:
  DirectorySink(std::string directory, bool flows) : directory_(std::move(directory)), flows_(flows) {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error)
      throw InputError(fmt::format("{}: can't create this directory: {}", directory_, error.message()));
    if (::access(directory_.c_str(), W_OK | X_OK) != 0)
      throw InputError(
          fmt::format("{}: can't write in this directory: {}", directory_, std::strerror(errno)));
  }

  void write(const Report& report) override {
    save("scenario.txtpb", report.scenario);
    save("ranks.csv", ranks(report));
    save("links.csv", links(report));
    if (flows_) save("flows.csv", flows(report));
    save("summary.json", summary(report));
  }

 private:
  void save(const std::string& name, std::string_view text) const {
    const std::string path = directory_ + "/" + name;
    std::FILE* file = std::fopen(path.c_str(), "wb");
    const bool ok = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = file == nullptr || std::fclose(file) == 0;
    if (!ok || !closed) throw InputError(fmt::format("{}: can't write this file", path));
  }

  static std::string ranks(const Report& report) {
    Buffer out;
    fmt::format_to(
        std::back_inserter(out),
        "rank,finish_ns,job,host,compute_ns,overhead_ns,waiting_ns,messages_sent,messages_received,"
        "bytes_sent,bytes_received,ops\n");
    for (const Rank& row : report.ranks) {
      fmt::format_to(std::back_inserter(out), "{},{},{},{},", row.rank, to_ns_string(row.finish), row.job,
                     row.host);
      if (row.finish_only) {
        fmt::format_to(std::back_inserter(out), ",,,,,,,\n");
        continue;
      }
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{}\n", to_ns_string(row.compute),
                     to_ns_string(row.overhead), to_ns_string(row.waiting), row.messages_sent,
                     row.messages_received, row.bytes_sent, row.bytes_received, row.ops);
    }
    return fmt::to_string(out);
  }

  static std::string links(const Report& report) {
    Buffer out;
    fmt::format_to(
        std::back_inserter(out),
        "link,from,to,rate_bps,bytes,packets,busy_ns,utilization,drops,ecn_marks,max_queue_bytes\n");
    const double span = static_cast<double>(report.makespan.ps());
    for (std::size_t i = 0; i < report.links.size(); ++i) {
      const Link& row = report.links[i];
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{:.6f},{},{},{}\n", i, row.from, row.to,
                     row.rate.bps(), row.bytes, row.packets, to_ns_string(row.busy),
                     span > 0 ? static_cast<double>(row.busy.ps()) / span : 0.0, row.drops, row.ecn_marks,
                     row.max_queue_bytes);
    }
    return fmt::to_string(out);
  }

  static std::string flows(const Report& report) {
    Buffer out;
    fmt::format_to(std::back_inserter(out),
                   "flow,source,destination,bytes,start_ns,finish_ns,packets,retransmissions,ecn_marked\n");
    for (std::size_t i = 0; i < report.flows.size(); ++i) {
      const Flow& row = report.flows[i];
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{}\n", i, row.source, row.destination,
                     row.bytes, to_ns_string(row.start), to_ns_string(row.finish), row.packets,
                     row.retransmissions, row.ecn_marked);
    }
    return fmt::to_string(out);
  }

  // A whole number of nanoseconds stays one.
  static nlohmann::ordered_json nanoseconds(Time time) {
    if (time.ps() % 1000 == 0) return time.ps() / 1000;
    return static_cast<double>(time.ps()) / 1000;
  }

  static std::string summary(const Report& report) {
    const NetworkTotals& net = report.network_totals;
    const double wall = report.wall_seconds;
    nlohmann::ordered_json json;
    json["schema_version"] = 1;
    json["outcome"] = name(report.outcome);
    json["makespan_ns"] = nanoseconds(report.makespan);
    json["digest"] = fmt::format("{:016x}", report.digest);
    json["seed"] = report.seed;
    json["network"] = report.network;
    json["topology"] = report.topology;
    json["events"] = report.events;
    json["events_per_second"] = wall > 0 ? static_cast<double>(report.events) / wall : 0.0;
    json["packet_hops"] = net.packet_hops;
    json["packet_hops_per_second"] = wall > 0 ? static_cast<double>(net.packet_hops) / wall : 0.0;
    json["wall_seconds"] = wall;
    json["peak_memory_bytes"] = report.peak_memory_bytes;
    json["ranks"] = report.ranks.size();
    json["ops"] = report.ops;
    json["executed_ops"] = report.executed_ops;
    json["messages"] = report.messages;
    json["bytes"] = report.bytes;
    Time compute, overhead, waiting;
    for (const Rank& rank : report.ranks) {
      compute += rank.compute;
      overhead += rank.overhead;
      waiting += rank.waiting;
    }
    json["compute_ns"] = nanoseconds(compute);
    json["overhead_ns"] = nanoseconds(overhead);
    json["waiting_ns"] = nanoseconds(waiting);
    json["packets"] = {{"injected", net.packets_injected},
                       {"delivered", net.packets_delivered},
                       {"dropped", net.packets_dropped}};
    json["wire_bytes"] = {
        {"injected", net.bytes_injected}, {"delivered", net.bytes_delivered}, {"dropped", net.bytes_dropped}};
    json["signals"] = nlohmann::ordered_json::object();
    for (const auto& [signal, count] : net.signals) json["signals"][signal] = count;
    json["jobs"] = nlohmann::ordered_json::array();
    for (const Job& job : report.jobs) {
      json["jobs"].push_back(
          {{"name", job.name}, {"ranks", job.ranks}, {"finish_ns", nanoseconds(job.finish)}});
    }
    json["warnings"] = report.warnings;
    json["diagnosis"] = report.diagnosis;
    // Names of files need not be UTF-8, as JSON must be.
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }

  std::string directory_;
  bool flows_;
};

}  // namespace

std::unique_ptr<Sink> make_directory_sink(const std::string& directory, bool flows) {
  return std::make_unique<DirectorySink>(directory, flows);
}

}  // namespace weft::results
