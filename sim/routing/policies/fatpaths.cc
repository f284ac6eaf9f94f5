#include "sim/routing/policies/fatpaths.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/routing/parts/layers.h"
#include "sim/routing/path_draws.h"

namespace weft::routing {
namespace {

struct FatpathsSettings {
  std::uint32_t layers = 0;
  double rho = 0;
};

FatpathsSettings fatpaths_settings_of(const Parameters& parameters) {
  return {.layers = parameters.whole("layers"), .rho = parameters.real("rho")};
}

class Flowlets final : public PathSelector {
 public:
  Flowlets(Time gap, const PathSetup& setup) : gap_(gap), random_(setup.random), flowlets_(setup.signals) {}
  Path next(const PathRequest& request) override {
    if (!begun_ || request.now - last_ >= gap_) {
      entropy_ = static_cast<std::uint32_t>(random_.next());
      begun_ = true;
      ++*flowlets_;
    }
    last_ = request.now;
    return {.entropy = entropy_};
  }

 private:
  const Time gap_;
  sim::RandomStream random_;
  std::uint64_t* const flowlets_;
  Time last_;
  std::uint32_t entropy_ = 0;
  bool begun_ = false;
};

PathSelectorMaker make_fatpaths_selectors(const PlanSetup& plan) {
  const Time gap = plan.parameters.time("gap");
  return [gap](const PathSetup& setup) { return std::make_unique<Flowlets>(gap, setup); };
}

class FatPaths final : public SwitchPolicy {
 public:
  FatPaths(const Layers& layers, std::uint64_t layer_salt, std::uint32_t switch_index, std::uint64_t salt)
      : layers_(layers),
        index_(switch_index),
        at_(layers.topology().switch_at(switch_index)),
        layer_salt_(layer_salt),
        salt_(salt) {}

  Output choose(const PacketView& packet, RouteNote& note, std::span<const std::uint32_t>,
                ActiveSwitch& here) override {
    if (note.phase == kFresh) {
      note.phase =
          static_cast<std::uint8_t>(kFirst + hash_choice(packet.entropy, layer_salt_, layers_.count()));
    }
    const bool all_up = here.all_up();
    if (all_up || note.phase != kFirst) {
      const std::uint32_t layer = note.phase - kFirst;
      const std::uint32_t port = all_up ? port_in(layer, packet) : port_left_in(layer, packet, here);
      if (port != Layers::kNone) return {.port = port};
      note.phase = kFirst;
      left_ += !all_up;
    }
    const auto minimal = here.minimal(packet.destination);
    return {.port = minimal[hash_choice(packet.entropy, salt_, minimal.size())]};
  }
  Foreseen foresee(const Coming& packet) const override {
    if (packet.note.phase == kFresh) return {};
    const auto only = layers_.only_port(packet.note.phase - kFirst, index_, packet.destination);
    return {only, !only.empty()};
  }
  Signals signals() const override { return {{"left_layer", left_}}; }

 private:
  // RouteNote::phase: kFirst + layer.
  static constexpr std::uint8_t kFresh = 0, kFirst = 1;

  std::uint32_t port_in(std::uint32_t layer, const PacketView& packet) const {
    return layers_.port(layer, index_, at_, packet.destination,
                        [&](std::size_t count) { return hash_choice(packet.entropy, salt_, count); });
  }
  // Links are down, or were.
  std::uint32_t port_left_in(std::uint32_t layer, const PacketView& packet, ActiveSwitch& here) {
    ports_.clear();
    const Candidates next = layers_.table(layer).candidates(at_, packet.destination);
    for (const std::uint32_t channel : next) {
      if (here.is_up(layers_.port_of(channel))) ports_.push_back(layers_.port_of(channel));
    }
    return ports_.empty() ? Layers::kNone : ports_[hash_choice(packet.entropy, salt_, ports_.size())];
  }

  const Layers& layers_;
  const std::uint32_t index_;
  const topologies::Vertex at_;
  const std::uint64_t layer_salt_, salt_;
  std::uint64_t left_ = 0;
  std::vector<std::uint32_t> ports_;
};

class FatpathsPlan final : public SwitchPlan {
 public:
  FatpathsPlan(const PlanSetup& setup, const FatpathsSettings& settings)
      : seed_(setup.seed), layers_(setup, settings.layers, settings.rho) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream) const override {
    constexpr std::uint64_t kPurpose = 0x1A7E5A17;
    return std::make_unique<FatPaths>(layers_, sim::mix64(seed_ ^ kPurpose), switch_index,
                                      switch_salt(seed_, switch_index));
  }
  void reconverge(const std::vector<bool>& down_links) override { layers_.rebuild(down_links); }
  Lookup lookup() const override { return layers_.lookup(); }

 private:
  const std::uint64_t seed_;
  Layers layers_;
};

}  // namespace

Policy fatpaths() {
  return {
      .info = {.name = "fatpaths",
               .summary = "Each flowlet takes the shortest way in a layer of the network, a random share of "
                          "its links.",
               .source = "M. Besta et al., FatPaths: routing in supercomputers and data centers when "
                         "shortest paths fall short, SC 2020",
               .parameters = {{"layers", ParameterType::kInteger, "9",
                               "Layers, the first of which has all links.",
                               from_to("1", std::to_string(Layers::kMost))},
                              {"rho", ParameterType::kReal, "0.6",
                               "Share of the links between switches that each other layer has.",
                               above("0").up_to("1")},
                              {"gap", ParameterType::kTime, "20us",
                               "Time without a packet of the flow after which it takes another layer; 0: "
                               "each packet takes another.",
                               from_to("0", "3600s")}}},
      .make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
        return std::make_unique<FatpathsPlan>(setup, fatpaths_settings_of(setup.parameters));
      },
      .make_paths = [](const PlanSetup& setup) -> std::unique_ptr<PathModel> {
        const FatpathsSettings settings = fatpaths_settings_of(setup.parameters);
        return std::make_unique<LayeredPaths>(setup, settings.layers, settings.rho);
      },
      .make_path_selectors = make_fatpaths_selectors,
      .selectors_want_feedback = false,
      .fluid = FluidPaths::kModel,
      .asks = {.control = false,
               .single = true,
               .own_ports = true,
               .ahead = true,
               .foresees = true,
               .notes = true},
      .order = KeepsOrder::kNo,
      .longest_path = Layers::kMostStretch,
      .path_signals = {"flowlet"}};
}

}  // namespace weft::routing
