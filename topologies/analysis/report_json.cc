#include <nlohmann/json.hpp>

#include "topologies/analysis/report.h"

namespace weft::topologies {
namespace {

using Json = nlohmann::ordered_json;

Json distances_json(const DistanceSummary& d) {
  Json histogram = Json::object();
  for (std::size_t hops = 1; hops < d.histogram.size(); ++hops)
    histogram[std::to_string(hops)] = d.histogram[hops];
  return {{"histogram", histogram},
          {"unreachable_pairs", d.unreachable},
          {"sources", d.sources},
          {"sampled", d.sampled}};
}

// Up to 16 paths one by one; few networks have more than that, and lattices very many different numbers.
Json multiplicity_json(const Multiplicity& m) {
  constexpr std::uint64_t kOneByOne = 16;
  Json histogram = Json::object();
  std::uint64_t more = 0;
  for (const auto& [paths, pairs] : m.pairs) {
    if (paths <= kOneByOne) {
      histogram[std::to_string(paths)] = pairs;
    } else {
      more += pairs;
    }
  }
  Json json = {{"mean", m.mean}, {"pairs", histogram}, {"pairs_with_more_than_16", more}};
  if (!m.pairs.empty()) {
    json["least"] = m.pairs.begin()->first;
    json["most"] = m.pairs.rbegin()->first;
  }
  json["sources"] = m.sources;
  json["sampled"] = m.sampled;
  return json;
}

Json disjoint_paths_json(const std::vector<PathDiversity>& list) {
  Json json = Json::array();
  for (const PathDiversity& p : list) {
    json.push_back({{"longest", p.longest},
                    {"mean", p.mean},
                    {"least", p.least},
                    {"most", p.most},
                    {"share_with_3_or_more", p.three_or_more},
                    {"interference_mean", p.interference},
                    {"interference_most", p.most_interference},
                    {"sampled_pairs", p.pairs},
                    {"sampled_quadruples", p.quadruples}});
  }
  return json;
}

Json spectrum_json(const Spectrum& s) {
  return {{"gap", s.gap},
          {"algebraic_connectivity", s.algebraic_connectivity},
          {"adjacency_largest", s.largest},
          {"adjacency_second", s.second},
          {"adjacency_smallest", s.smallest},
          {"regular", s.regular},
          {"ramanujan", s.ramanujan}};
}

Json bisection_json(const Bisection& b) {
  if (b.undivided()) {
    return {{"links", nullptr},           {"bps", nullptr},           {"links_lower_bound", nullptr},
            {"bps_lower_bound", nullptr}, {"share_of_full", nullptr}, {"endpoints", nullptr}};
  }
  return {{"links", b.links},
          {"bps", b.rate},
          {"links_lower_bound", b.least_links},
          {"bps_lower_bound", b.least_rate},
          {"share_of_full", b.share_of_full()},
          {"endpoints", {b.side[0], b.side[1]}}};
}

Json edge_load_json(const std::map<std::string, EdgeLoad>& loads) {
  Json json = Json::object();
  for (const auto& [name, load] : loads) {
    Json one = {{"mean", load.mean}};
    if (!load.sampled) {
      one["max"] = load.most;
      one["imbalance"] = load.imbalance;
      one["saturation"] = load.saturation;
    }
    one["destinations"] = load.destinations;
    one["sampled"] = load.sampled;
    json[name] = one;
  }
  return json;
}

Json throughput_json(const Analysis& a) {
  Json json = Json::object();
  for (const Throughput& t : a.throughput) {
    Json one = {{"theta", t.theta},
                {"theta_upper_bound", t.theta_upper},
                {"gap", t.gap()},
                {"fabric", t.fabric},
                {"fabric_upper_bound", t.fabric_upper},
                {"method", t.exact ? "linear program" : "Fleischer"}};
    if (!t.exact) {
      one["epsilon"] = t.epsilon;
      one["phases"] = t.phases;
    }
    if (t.demands == "longest-matching" && a.matching_distance) {
      one["matching_mean_distance"] = *a.matching_distance;
      one["matching"] = a.matching_exact ? "exact" : "greedy";
    }
    json[t.demands] = one;
  }
  return json;
}

Json damages_json(double least, double mean, const std::vector<Damage>& damages) {
  Json list = Json::array();
  for (const Damage& d : damages) {
    list.push_back({{"removed", d.removed},
                    {"diameter", d.diameter},
                    {"average_path_length", d.average},
                    {"connected", d.connected}});
  }
  return {{"disconnected_at_mean", mean}, {"disconnected_at_least", least}, {"steps", list}};
}

Json json_of(const Analysis& a) {
  Json degree = Json::object();
  for (const auto& [links, routers] : a.degree) degree[std::to_string(links)] = routers;
  Json json = {{"topology", a.topology},   {"routers", a.routers}, {"switches", a.switches},
               {"endpoints", a.endpoints}, {"links", a.links},     {"cables", a.cables},
               {"degree", degree}};
  if (a.distances) {
    json["diameter"] = a.distances->diameter;
    json["average_path_length"] = a.distances->average;
    json["distances"] = distances_json(*a.distances);
  }
  if (a.multiplicity) json["multiplicity"] = multiplicity_json(*a.multiplicity);
  if (!a.disjoint_paths.empty()) json["disjoint_paths"] = disjoint_paths_json(a.disjoint_paths);
  if (a.spectrum) json["spectrum"] = spectrum_json(*a.spectrum);
  if (a.bisection) json["bisection"] = bisection_json(*a.bisection);
  if (!a.edge_load.empty()) json["edge_load"] = edge_load_json(a.edge_load);
  if (!a.routed_load.empty()) {
    json["routed_load"] = edge_load_json(a.routed_load);
    json["routing"] = a.routing;
  }
  if (!a.throughput.empty()) json["throughput"] = throughput_json(a);
  if (a.resilience) {
    const Resilience& r = *a.resilience;
    json["resilience"] = {{"trials", r.trials},
                          {"sampled", r.sampled},
                          {"links", damages_json(r.links_least, r.links_mean, r.links)},
                          {"switches", damages_json(r.switches_least, r.switches_mean, r.switches)}};
  }
  json["seed"] = a.seed;
  if (!a.left_out.empty()) json["left_out"] = a.left_out;
  return json;
}

}  // namespace

std::string analysis_json(const Analysis& analysis) {
  return json_of(analysis).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string comparison_json(std::span<const Analysis> analyses) {
  Json list = Json::array();
  for (const Analysis& analysis : analyses) list.push_back(json_of(analysis));
  return list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace weft::topologies
