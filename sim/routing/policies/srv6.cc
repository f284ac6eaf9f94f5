#include "sim/routing/policies/srv6.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/routing/parts/good_routes.h"
#include "sim/routing/parts/port_rates.h"
#include "sim/routing/parts/shortest_routes.h"
#include "sim/units/input_error.h"
#include "sim/units/names.h"

namespace weft::routing {
namespace {

using topologies::Topology;
using topologies::Vertex;

struct Srv6Settings {
  std::uint32_t paths = 0, backups = 0;
  Time probe;
  std::string denied;
  Parameters parameters;  // for errors about them
};

class Srv6 final : public PathSelector {
 public:
  Srv6(const Srv6Settings& settings, ShortestRoutes& shortest, const PathSetup& setup)
      : probe_(settings.probe), signals_(setup.signals) {
    sim::RandomStream random = setup.random;
    const Topology& topology = *setup.topology;
    const std::size_t nics = topology.out_channels(topology.host(setup.source)).size();
    const std::size_t share = std::max<std::size_t>(1, settings.paths / nics);
    for (std::uint32_t nic = 0; nic < nics; ++nic) {
      const std::vector<SourceRoute> ways =
          shortest.draw(setup.source, nic, setup.destination, share + settings.backups / nics, random);
      if (ways.empty()) continue;
      Plane& plane = planes_.emplace_back();
      plane.share = std::min(share, ways.size());
      for (const SourceRoute& way : ways) {
        const auto number = static_cast<std::uint16_t>(routes_.size());
        (plane.profile.size() < plane.share ? plane.profile : plane.backups).push_back(number);
        routes_.push_back(way);
        ways_.push_back({.entropy = static_cast<std::uint32_t>(random.next()),
                         .plane = static_cast<std::uint8_t>(planes_.size() - 1),
                         .nic = static_cast<std::uint8_t>(nic)});
      }
    }
    if (planes_.empty()) {
      throw InputError(fmt::format("routing srv6: no way from {} to {} is left by denied='{}'",
                                   topology.node(topology.host(setup.source)).name,
                                   topology.node(topology.host(setup.destination)).name, settings.denied));
    }
    routes_.shrink_to_fit();
    ways_.shrink_to_fit();
    turn_ = random.below(planes_.size());
  }

  Path next(const PathRequest& request) override {
    for (std::size_t tried = 0; tried < planes_.size(); ++tried) {
      Plane& plane = next_plane();
      if (!request.again && is_probe_due(plane, request.now)) return probe(plane, request.now);
      if (!plane.profile.empty()) return take(plane);
    }
    Plane* plane = &next_plane();
    while (plane->bad.empty()) plane = &next_plane();
    return probe(*plane, request.now);
  }
  void on_ack(const PathNews& news) override {
    const std::uint16_t number = way_of(news);
    Way& way = ways_[number];
    // A probe, or a packet that was late and not lost.
    if (way.state == State::kBad) restore(number);
    if (news.ecn_marked) way.state = State::kSkip;
  }
  void on_trim(const PathNews& news) override {
    Way& way = ways_[way_of(news)];
    if (way.state == State::kGood) way.state = State::kSkip;
  }
  void on_loss(const PathNews& news) override {
    const std::uint16_t number = way_of(news);
    Way& way = ways_[number];
    if (way.state == State::kBad) return;
    ++signals_[kAssumedBad];
    way.state = State::kBad;
    Plane& plane = planes_[way.plane];
    if (plane.bad.empty()) plane.probe_at = news.now + probe_;
    plane.bad.push_back(number);
    replace(plane, number);
  }

 private:
  enum class State : std::uint8_t { kGood, kSkip, kBad };
  enum Signal : std::uint8_t { kSkipped, kAssumedBad, kRestored, kProbe };
  struct Way {
    std::uint32_t entropy = 0;
    State state = State::kGood;
    std::uint8_t plane = 0, nic = 0;
  };
  struct Plane {
    std::vector<std::uint16_t> profile, backups;  // ways
    std::vector<std::uint16_t> bad;               // the one that was tried or lost longest ago first
    std::size_t share = 0;                        // ways of its profile, if there are enough
    std::size_t turn = 0;                         // in the profile
    Time probe_at;
    std::uint32_t probes_due = 0;  // before that
  };

  Plane& next_plane() {
    Plane& plane = planes_[turn_];
    turn_ = turn_ + 1 == planes_.size() ? 0 : turn_ + 1;
    return plane;
  }
  std::uint16_t way_of(const PathNews& news) const {
    return static_cast<std::uint16_t>(news.path.route - routes_.data());
  }
  Path path(std::uint16_t number) const {
    return {.entropy = ways_[number].entropy,
            .nic = ways_[number].nic,
            .route_checked = true,
            .route = &routes_[number]};
  }
  // Ends: a way is skipped once.
  Path take(Plane& plane) {
    for (;;) {
      const std::uint16_t number = plane.profile[plane.turn];
      plane.turn = plane.turn + 1 == plane.profile.size() ? 0 : plane.turn + 1;
      if (ways_[number].state == State::kGood) return path(number);
      ways_[number].state = State::kGood;
      ++signals_[kSkipped];
    }
  }
  static bool is_probe_due(const Plane& plane, Time now) {
    return !plane.bad.empty() && (plane.probes_due > 0 || now >= plane.probe_at);
  }
  Path probe(Plane& plane, Time now) {
    ++signals_[kProbe];
    if (plane.probes_due > 0) {
      --plane.probes_due;
    } else {
      plane.probe_at = now + probe_;
    }
    std::rotate(plane.bad.begin(), plane.bad.begin() + 1, plane.bad.end());
    return path(plane.bad.back());
  }
  // In the profile, by a backup if there is one.
  void replace(Plane& plane, std::uint16_t number) {
    const auto place = std::find(plane.profile.begin(), plane.profile.end(), number);
    if (place == plane.profile.end()) {
      plane.backups.erase(std::find(plane.backups.begin(), plane.backups.end(), number));
      return;
    }
    if (!plane.backups.empty()) {
      *place = plane.backups.back();
      plane.backups.pop_back();
      return;
    }
    if (static_cast<std::size_t>(place - plane.profile.begin()) < plane.turn) --plane.turn;
    plane.profile.erase(place);
    if (plane.turn >= plane.profile.size()) plane.turn = 0;
  }
  void restore(std::uint16_t number) {
    constexpr std::uint32_t kNextProbes = 2;
    ++signals_[kRestored];
    ways_[number].state = State::kGood;
    Plane& plane = planes_[ways_[number].plane];
    plane.bad.erase(std::find(plane.bad.begin(), plane.bad.end(), number));
    (plane.profile.size() < plane.share ? plane.profile : plane.backups).push_back(number);
    plane.probes_due = std::min(plane.probes_due + kNextProbes, static_cast<std::uint32_t>(plane.bad.size()));
  }

  const Time probe_;
  std::uint64_t* signals_;
  std::vector<SourceRoute> routes_;  // by way; never changed once it is handed out
  std::vector<Way> ways_;
  std::vector<Plane> planes_;  // that have a way
  std::size_t turn_ = 0;       // among them
};

// By channel: those that `denied` names. Throws InputError where it names nothing.
std::vector<bool> find_denied(const Topology& topology, const Srv6Settings& settings) {
  if (settings.denied.empty()) return {};
  std::vector<bool> denied(topology.channels().size());
  std::string_view rest = settings.denied;
  while (!rest.empty()) {
    const std::size_t end = rest.find(';');
    const std::string_view item = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const std::size_t slash = item.find('/');
    const std::string from(sim::trim(item.substr(0, slash)));
    const std::string to(slash == std::string_view::npos ? "*" : sim::trim(item.substr(slash + 1)));
    bool any = false;
    for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
      const topologies::Channel& channel = topology.channels()[c];
      const topologies::Node& node = topology.node(channel.from);
      if (slash == std::string_view::npos && node.kind == topologies::NodeKind::kHost) continue;
      if (!sim::fits(from, node.name) || !sim::fits(to, topology.node(channel.to).name)) continue;
      denied[c] = denied[c ^ 1] = any = true;
    }
    if (!any) {
      settings.parameters.fail(
          "denied", fmt::format("no {} here is named '{}'; names are like '{}'",
                                slash == std::string_view::npos ? "switch" : "link", sim::trim(item),
                                topology.node(topology.switch_at(0)).name));
    }
  }
  return denied;
}

// What the connections of a run share. The network is known when the first of them opens.
class Shared {
 public:
  explicit Shared(Srv6Settings settings) : settings_(std::move(settings)) {}
  std::unique_ptr<PathSelector> make(const PathSetup& setup) {
    std::call_once(once_, [&] {
      shortest_ = std::make_unique<ShortestRoutes>(*setup.topology, find_denied(*setup.topology, settings_));
    });
    return std::make_unique<Srv6>(settings_, *shortest_, setup);
  }

 private:
  const Srv6Settings settings_;
  std::once_flag once_;
  std::unique_ptr<ShortestRoutes> shortest_;
};

Srv6Settings srv6_settings_of(const Parameters& parameters) {
  return {.paths = parameters.whole("paths"),
          .backups = parameters.whole("backups"),
          .probe = parameters.time("probe"),
          .denied = parameters.text("denied"),
          .parameters = parameters};
}

PathSelectorMaker make_srv6(const PlanSetup& plan) {
  return [shared = std::make_shared<Shared>(srv6_settings_of(plan.parameters))](const PathSetup& setup) {
    return shared->make(setup);
  };
}

// Through each NIC; how many there are doesn't matter where hosts have as many.
std::unique_ptr<PathModel> make_srv6_paths(const PlanSetup& setup) {
  const Srv6Settings settings = srv6_settings_of(setup.parameters);
  std::size_t nics = 1;
  for (std::uint32_t h = 0; h < setup.topology.hosts(); ++h) {
    nics = std::max(nics, setup.topology.out_channels(setup.topology.host(h)).size());
  }
  const double most = std::max<double>(1, settings.paths / static_cast<double>(nics));
  return std::make_unique<GoodRoutes>(setup, find_denied(setup.topology, settings), most);
}

}  // namespace

Policy srv6() {
  return {
      .info = {.name = "srv6",
               .summary =
                   "Each packet names its way: the host's NICs in turn, and through each some shortest "
                   "ways in turn, without those that were marked or lost packets.",
               .source = "C. Filsfils et al., SRv6 network programming, RFC 8986; path states of OpenAI's "
                         "and Microsoft's Multi-path Reliable Connection (MRC), 2026",
               .parameters = {{"paths", ParameterType::kInteger, "128",
                               "Ways of a connection, divided among its host's NICs.", from_to("1", "4096")},
                              {"backups", ParameterType::kInteger, "32",
                               "Further ways that take the place of lost ones, divided alike.",
                               from_to("0", "4096")},
                              {"probe", ParameterType::kTime, "1ms",
                               "How often a connection sends a packet over a lost way of each NIC.",
                               above("0").up_to("3600s")},
                              {"denied", ParameterType::kText, "",
                               "Switches and links that no way takes, with * for anything: 'spine 3.*; leaf "
                               "0.1 / spine 0.2'."}}},
      .make_paths = make_srv6_paths,
      .make_path_selectors = make_srv6,
      .fluid = FluidPaths::kModel,
      .rate_news = RateNews::kAtOnce,
      .for_packets = {"backups", "probe"},
      .asks = {.acks_retrace = true},
      .needs = {.used = Capability::kMark | Capability::kTrim},
      .paths_remark = kGoesByRates,
      .source_routes = true,
      .all_nics = true,
      .path_signals = {"skipped_path", "assumed_bad", "restored_path", "probe"}};
}

}  // namespace weft::routing
