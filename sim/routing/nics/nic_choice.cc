#include "sim/routing/nics/nic_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace weft::routing {
namespace {

struct Named {
  std::string_view name;
  NicChoice choice;
};
constexpr Named kChoices[] = {{"library", NicChoice::kLibrary},
                              {"near", NicChoice::kNear},
                              {"ucx", NicChoice::kUcx},
                              {"nccl", NicChoice::kNccl},
                              {"all", NicChoice::kAll},
                              {"given", NicChoice::kGiven},
                              {"round_robin", NicChoice::kRoundRobin},
                              {"hash", NicChoice::kHash},
                              {"least_loaded", NicChoice::kLeastLoaded},
                              {"spray", NicChoice::kSpray}};

constexpr std::uint32_t kAllRails = UINT8_MAX;

// Where there are no packets, none sees how loaded a link is.
Limits words(bool has_packets) {
  Limits limits;
  for (const Named& each : kChoices) {
    if (each.choice == NicChoice::kLeastLoaded && !has_packets) continue;
    limits.one_of.emplace_back(each.name);
  }
  return limits;
}

}  // namespace

ParameterSpec nic_choice_parameter(bool has_packets) {
  return {"nic_choice", ParameterType::kText, "library",
          fmt::format("Which of a host's links a message takes. Of a rank's own, unless the graph names "
                      "others: library (as the job's protocol and collectives do), near (the first), ucx "
                      "(large messages on two), nccl (channels in turn, else all) or all. Of the host's: "
                      "given (what the graph says, else the first), round_robin, hash, {}spray ({} all).",
                      has_packets ? "least_loaded, " : "",
                      has_packets ? "packet after packet over" : "divided over"),
          words(has_packets)};
}

NicChoice nic_choice_of(const Parameters& parameters) {
  return std::ranges::find(kChoices, parameters.text("nic_choice"), &Named::name)->choice;
}

sim::RailUse rail_use(NicChoice choice, const sim::RailUse& library) {
  switch (choice) {
    case NicChoice::kLibrary:
      return library;
    case NicChoice::kUcx:
      return {.most = 2};
    case NicChoice::kNccl:
      return {.most = kAllRails, .by_channel = true};
    case NicChoice::kAll:
      return {.most = kAllRails};
    default:
      return {};
  }
}

}  // namespace weft::routing
