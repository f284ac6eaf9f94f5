#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sim/results/output_file.h"
#include "sim/results/report.h"
#include "sim/units/input_error.h"

namespace weft::results {
namespace {

void write_ranks(const Report& report, OutputFile& out) {
  out.write(
      "rank,finish_ns,job,host,compute_ns,overhead_ns,waiting_ns,messages_sent,messages_received,bytes_sent,"
      "bytes_received,ops\n");
  for (const Rank& row : report.ranks) {
    out.print("{},{},{},{},", row.rank, to_ns_string(row.finish), row.job, row.host);
    if (row.finish_only) {
      out.write(",,,,,,,\n");
      continue;
    }
    out.print("{},{},{},{},{},{},{},{}\n", to_ns_string(row.compute), to_ns_string(row.overhead),
              to_ns_string(row.waiting), row.messages_sent, row.messages_received, row.bytes_sent,
              row.bytes_received, row.ops);
  }
}

void write_hosts(const Report& report, OutputFile& out) {
  out.write("host,flows_sent,bytes_sent,flows_received,bytes_received,goodput_bps\n");
  const auto& hosts = report.flow_statistics.hosts();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const FlowStatistics::Host& row = hosts[i];
    out.print("{},{},{},{},{},{:.0f}\n", i, row.flows_sent, row.bytes_sent, row.flows_received,
              row.bytes_received, goodput_bps(row.bytes_received, report.makespan));
  }
}

void write_links(const Report& report, OutputFile& out) {
  out.write("link,from,to,rate_bps,bytes,packets,busy_ns,utilization,drops,ecn_marks,max_queue_bytes\n");
  const double span = static_cast<double>(std::max(report.makespan, report.stopped_at).ps());
  for (std::size_t i = 0; i < report.links.size(); ++i) {
    const Link& row = report.links[i];
    out.print("{},{},{},{},{},{},{},{:.6f},{},{},{}\n", i, row.from, row.to, row.rate.bps(), row.bytes,
              row.packets, to_ns_string(row.busy), span > 0 ? static_cast<double>(row.busy.ps()) / span : 0.0,
              row.drops, row.ecn_marks, row.max_queue_bytes);
  }
}

void write_flows(const Report& report, OutputFile& out) {
  out.write(
      "flow,source,destination,bytes,start_ns,finish_ns,packets,retransmissions,ecn_marked,ideal_ns,slowdown,"
      "goodput_bps\n");
  for (std::size_t i = 0; i < report.flows.size(); ++i) {
    const Flow& row = report.flows[i];
    const Time completion = row.finish - row.start;
    out.print("{},{},{},{},{},{},{},{},{},", i, row.source, row.destination, row.bytes,
              to_ns_string(row.start), to_ns_string(row.finish), row.packets, row.retransmissions,
              row.ecn_marked);
    if (row.ideal > Time()) {
      out.print("{},{:.4f},", to_ns_string(row.ideal),
                static_cast<double>(completion.ps()) / static_cast<double>(row.ideal.ps()));
    } else {
      out.write(",,");
    }
    out.print("{:.0f}\n", goodput_bps(row.bytes, completion));
  }
}

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
    // Files that not every run leaves: those of an earlier run would be taken for this one's.
    for (const char* name :
         {"flows.csv", "series.csv", "network_series.csv", "packets.csv", "capture.pcapng"}) {
      std::filesystem::remove(directory_ + "/" + name, error);
    }
  }

  void write(const Report& report) override {
    file("scenario.txtpb", [&](OutputFile& out) { out.write(report.scenario); });
    file("ranks.csv", [&](OutputFile& out) { write_ranks(report, out); });
    file("hosts.csv", [&](OutputFile& out) { write_hosts(report, out); });
    file("links.csv", [&](OutputFile& out) { write_links(report, out); });
    if (flows_) file("flows.csv", [&](OutputFile& out) { write_flows(report, out); });
    file("summary.json", [&](OutputFile& out) { out.write(json_summary(report)); });
  }

 private:
  template <typename Write>
  void file(const char* name, Write write) const {
    OutputFile out(directory_ + "/" + name);
    write(out);
    out.close();
  }

  std::string directory_;
  bool flows_;
};

}  // namespace

std::unique_ptr<Sink> make_directory_sink(const std::string& directory, bool flows) {
  return std::make_unique<DirectorySink>(directory, flows);
}

}  // namespace weft::results
