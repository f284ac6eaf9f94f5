#include "tools/weft/route/place_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/units/grouped.h"

namespace weft::cli {
namespace {

using placement::Quality;

constexpr std::size_t kMostLines = 24;  // of a mapping in text; longer ones are in JSON

double share(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// A figure of the table: how it is called, and its text for a job of a variant.
struct Row {
  const char* name;
  std::function<std::string(const JobPlace&)> text;
};

const std::vector<Row>& job_rows() {
  static const std::vector<Row> rows = {
      {"nodes", [](const JobPlace& j) { return fmt::format("{}", j.quality.nodes); }},
      {"switches", [](const JobPlace& j) { return fmt::format("{}", j.quality.switches); }},
      {"groups", [](const JobPlace& j) { return fmt::format("{}", j.quality.groups); }},
      {"hop-bytes", [](const JobPlace& j) { return short_bytes(j.quality.hop_bytes); }},
      {"hops per byte", [](const JobPlace& j) { return fmt::format("{:.3f}", j.quality.hops_per_byte()); }},
      {"dilation, mean", [](const JobPlace& j) { return fmt::format("{:.3f}", j.quality.mean_dilation); }},
      {"dilation, worst", [](const JobPlace& j) { return fmt::format("{}", j.quality.worst_dilation); }},
      {"on one node",
       [](const JobPlace& j) {
         return fmt::format("{:.1f}%", share(j.quality.bytes_on_node, j.quality.bytes));
       }},
      {"on one switch",
       [](const JobPlace& j) {
         return fmt::format("{:.1f}%", share(j.quality.bytes_on_switch, j.quality.bytes));
       }},
  };
  return rows;
}

// Lines of cells, each column as wide as its widest.
void print_table(const std::vector<std::vector<std::string>>& lines, topologies::TextSink& sink) {
  std::vector<std::size_t> width;
  for (const auto& line : lines) {
    width.resize(std::max(width.size(), line.size()), 0);
    for (std::size_t c = 0; c < line.size(); ++c) width[c] = std::max(width[c], line[c].size());
  }
  for (const auto& line : lines) {
    std::string text = fmt::format("  {:<{}}", line[0], width[0]);
    for (std::size_t c = 1; c < line.size(); ++c) text += fmt::format("  {:>{}}", line[c], width[c]);
    sink.print("{}\n", text);
  }
}

void print_comparison(const PlaceReport& report, topologies::TextSink& sink) {
  std::vector<std::vector<std::string>> lines(1);
  lines[0].push_back("");
  for (const Variant& variant : report.variants) lines[0].push_back(variant.name);
  for (std::size_t j = 0; j < report.jobs.size(); ++j) {
    const PlacedJob& job = report.jobs[j];
    if (report.jobs.size() > 1) {
      lines.push_back({fmt::format("{}. {}", j + 1, job.name)});
      for (const Variant& variant : report.variants) lines.back().push_back(variant.jobs[j].placement);
    }
    for (const Row& row : job_rows()) {
      const bool of_bytes = &row >= &job_rows()[3];
      if (of_bytes && job.exchanges.empty()) continue;
      lines.push_back({row.name});
      for (const Variant& variant : report.variants) {
        const JobPlace& place = variant.jobs[j];
        lines.back().push_back(place.hosts.empty() ? "no room" : row.text(place));
      }
    }
  }
  const auto add = [&](const char* name, auto text) {
    lines.push_back({name});
    for (const Variant& variant : report.variants) lines.back().push_back(text(variant.congestion));
  };
  const bool sends = std::any_of(report.jobs.begin(), report.jobs.end(),
                                 [](const PlacedJob& job) { return !job.exchanges.empty(); });
  if (sends) {
    add("busiest link", [](const Congestion& c) { return short_time(c.most_s * 1e9); });
    add("links, mean", [](const Congestion& c) { return short_time(c.mean_s * 1e9); });
    add("links used", [](const Congestion& c) { return fmt::format("{:.1f}%", share(c.used, c.links)); });
    add("busiest host", [](const Congestion& c) { return short_time(c.host_most_s * 1e9); });
  }
  print_table(lines, sink);
  if (sends)
    sink.print(
        "  (links and hosts: how long the busiest is at work with all that the jobs send, at its full "
        "rate)\n");
}

// "ranks 0-15 -> hosts 0-15", as few lines as can be.
void print_mapping(const PlaceReport& report, const Variant& variant, topologies::TextSink& sink) {
  const topologies::Topology& topology = report.network.topology();
  for (std::size_t j = 0; j < report.jobs.size(); ++j) {
    const std::vector<std::uint32_t>& hosts = variant.jobs[j].hosts;
    sink.print("{}{}\n", variant.name,
               report.jobs.size() > 1 ? fmt::format(", {}. {}", j + 1, report.jobs[j].name) : "");
    if (hosts.empty()) {
      sink.print("  no room: {}\n", variant.jobs[j].no_room);
      continue;
    }
    if (!variant.jobs[j].remark.empty()) sink.print("  note: {}\n", variant.jobs[j].remark);
    std::size_t lines = 0, first = 0;
    while (first < hosts.size()) {
      // Ranks that are on one host, or on hosts that follow each other as they do.
      std::size_t last = first;
      const bool same = first + 1 < hosts.size() && hosts[first + 1] == hosts[first];
      while (last + 1 < hosts.size() && hosts[last + 1] == hosts[last] + (same ? 0 : 1)) ++last;
      if (++lines > kMostLines) break;
      const auto name = [&](std::size_t rank) { return topology.node(topology.host(hosts[rank])).name; };
      sink.print("  {:>13}  {}\n",
                 first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last),
                 first == last || same ? name(first) : name(first) + " … " + name(last));
      first = last + 1;
    }
    if (first < hosts.size())
      sink.print("  {:>13}  (--json has all)\n", fmt::format("{} more", hosts.size() - first));
  }
}

nlohmann::ordered_json job_json(const topologies::Topology& topology, const PlacedJob& job,
                                const JobPlace& place) {
  const Quality& q = place.quality;
  nlohmann::ordered_json json = {{"name", job.name},
                                 {"placement", place.placement},
                                 {"ranks", job.ranks},
                                 {"ranks_per_node", job.ranks_per_node}};
  if (place.hosts.empty()) {
    json["no_room"] = place.no_room;
    return json;
  }
  if (!place.remark.empty()) json["remark"] = place.remark;
  json.update({{"nodes", q.nodes}, {"switches", q.switches}, {"groups", q.groups}, {"hosts", place.hosts}});
  json["host_names"] = nlohmann::ordered_json::array();
  for (const std::uint32_t h : place.hosts)
    json["host_names"].push_back(topology.node(topology.host(h)).name);
  if (job.exchanges.empty()) return json;
  json.update({{"pairs", q.pairs},
               {"bytes", q.bytes},
               {"hop_bytes", q.hop_bytes},
               {"hops_per_byte", q.hops_per_byte()},
               {"dilation_mean", q.mean_dilation},
               {"dilation_worst", q.worst_dilation},
               {"bytes_on_node", q.bytes_on_node},
               {"bytes_on_switch", q.bytes_on_switch},
               {"bytes_by_hops", q.bytes_by_hops}});
  return json;
}

}  // namespace

std::string ranges_of(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text;
}

void print_place_text(const PlaceReport& report, topologies::TextSink& sink) {
  const topologies::Topology& topology = report.network.topology();
  const auto failed = std::count(report.state.begin(), report.state.end(), placement::HostState::kFailed);
  sink.print("{:<10} {}\n{:<10} {} hosts{}\n", "topology", topology.name(), "", grouped(topology.hosts()),
             failed > 0 ? fmt::format(", {} of them failed", failed) : "");
  sink.print("{:<10} {}\n", "routing", report.network.routing_line());
  for (const PlacedJob& job : report.jobs) {
    double bytes = 0;
    for (const placement::Exchange& each : job.exchanges) bytes += each.bytes;
    sink.print("{:<10} {}: {} ranks, {} a node{}\n", "job", job.name, grouped(job.ranks), job.ranks_per_node,
               job.exchanges.empty() ? ""
                                     : fmt::format("; {} between {} pairs", short_bytes(bytes),
                                                   grouped(static_cast<double>(job.exchanges.size()))));
  }
  sink.print("\n");
  print_comparison(report, sink);
  for (const Variant& variant : report.variants) {
    const Congestion& c = variant.congestion;
    if (c.most_s > 0) {
      const topologies::Channel& busiest = topology.channels()[c.busiest];
      sink.print("  {}: the busiest link is {} -> {}\n", variant.name, topology.node(busiest.from).name,
                 topology.node(busiest.to).name);
    }
  }
  sink.print("\nranks          hosts\n");
  for (const Variant& variant : report.variants) print_mapping(report, variant, sink);
}

void print_place_json(const PlaceReport& report, topologies::TextSink& sink) {
  const topologies::Topology& topology = report.network.topology();
  nlohmann::ordered_json json = {{"topology", topology.name()},
                                 {"routing", report.network.routing()},
                                 {"routing_reason", report.network.routing_reason()},
                                 {"hosts", topology.hosts()}};
  json["failed"] = nlohmann::ordered_json::array();
  for (std::uint32_t h = 0; h < report.state.size(); ++h) {
    if (report.state[h] == placement::HostState::kFailed) json["failed"].push_back(h);
  }
  json["placements"] = nlohmann::ordered_json::array();
  for (const Variant& variant : report.variants) {
    nlohmann::ordered_json one = {{"placement", variant.name}};
    one["jobs"] = nlohmann::ordered_json::array();
    for (std::size_t j = 0; j < report.jobs.size(); ++j)
      one["jobs"].push_back(job_json(topology, report.jobs[j], variant.jobs[j]));
    const Congestion& c = variant.congestion;
    one["links"] = {{"busiest_ns", c.most_s * 1e9},
                    {"mean_ns", c.mean_s * 1e9},
                    {"used", c.used},
                    {"all", c.links},
                    {"host_busiest_ns", c.host_most_s * 1e9}};
    if (c.most_s > 0) {
      const topologies::Channel& busiest = topology.channels()[c.busiest];
      one["links"]["busiest_from"] = topology.node(busiest.from).name;
      one["links"]["busiest_to"] = topology.node(busiest.to).name;
    }
    json["placements"].push_back(std::move(one));
  }
  sink.print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace weft::cli
