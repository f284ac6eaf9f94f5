// What `weft place` finds and prints.
#pragma once

#include <string>
#include <vector>

#include "sim/placement/quality.h"
#include "sim/routing/paths/link_load.h"
#include "tools/weft/route/place_jobs.h"
#include "tools/weft/route/routed_network.h"
#include "topologies/export/text_sink.h"

namespace weft::cli {

// One job where one of the placements compared has put it.
struct JobPlace {
  std::string placement;             // in short form
  std::vector<std::uint32_t> hosts;  // by rank; empty: there was no room
  std::string no_room;
  std::string remark;  // what the policy has to say of it
  placement::Quality quality;
};

// What all jobs together put on links between switches under the routing, if each sends all it sends: in
// seconds that a link is busy with it.
struct Congestion {
  double most_s = 0, mean_s = 0, host_most_s = 0;
  std::uint32_t busiest = 0;          // a channel
  std::vector<double> busy_s;         // by channel; empty: nothing is sent
  std::uint32_t links = 0, used = 0;  // channels between switches, and those that carry something
};

// One of the placements compared.
struct Variant {
  std::string name;
  std::vector<JobPlace> jobs;
  Congestion congestion;
};

struct PlaceReport {
  const RoutedNetwork& network;
  const std::vector<PlacedJob>& jobs;
  const std::vector<placement::HostState>& state;  // before the jobs
  std::vector<Variant> variants;
};

void print_place_text(const PlaceReport& report, topologies::TextSink& sink);
void print_place_json(const PlaceReport& report, topologies::TextSink& sink);
// Ranks of a host as people write them: "0-3, 7".
std::string ranges_of(const std::vector<std::uint32_t>& numbers);

}  // namespace weft::cli
