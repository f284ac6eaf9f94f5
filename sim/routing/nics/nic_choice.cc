#include "sim/routing/nics/nic_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

}  // namespace

ParameterSpec nic_choice_parameter(bool has_packets) {
  return {"nic_choice", ParameterType::kText, "library",
          fmt::format("Which of a host's links a message takes. Of a rank's own, unless the graph names "
                      "others: library (as the job's protocol and collectives do), near (the first), ucx "
                      "(large messages on two), nccl (channels in turn, else all) or all. Of the host's: "
                      "given (what the graph says, else the first), round_robin, hash, {}spray ({} all).",
                      has_packets ? "least_loaded, " : "",
                      has_packets ? "packet after packet over" : "divided over")};
}

NicChoice nic_choice_of(const Parameters& parameters, bool has_packets) {
  std::vector<std::string_view> names;
  for (const Named& each : kChoices) {
    if (each.choice == NicChoice::kLeastLoaded && !has_packets) continue;
    if (each.name == parameters.text("nic_choice")) return each.choice;
    names.push_back(each.name);
  }
  parameters.fail("nic_choice", fmt::format("it must be one of {}", fmt::join(names, ", ")));
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
