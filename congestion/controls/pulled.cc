#include "congestion/controls/pulled.h"

#include <algorithm>

#include "congestion/controls/rates.h"

namespace weft::congestion {
std::vector<ParameterSpec> join(std::vector<ParameterSpec> first, const std::vector<ParameterSpec>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<ParameterSpec> credit_parameters(const std::string& window, const std::string& help) {
  return {{"window", ParameterType::kReal, window, help, above("0")},
          {"patience", ParameterType::kTime, "2ms",
           "A sender that hears nothing for so long sends a packet unasked; doubled each time.",
           above("0").up_to("3600s")}};
}

CreditAccount::Settings credit_settings(const Parameters& parameters) {
  return {.window = parameters.real("window"), .patience = parameters.time("patience")};
}

std::vector<ParameterSpec> pull_parameters(const std::string& packets, const std::string& rate,
                                           bool unasked) {
  std::vector<ParameterSpec> list{{"packets_per_pull", ParameterType::kInteger, packets,
                                   "Full packets that one pull allows.", from_to("1", "64")},
                                  {"pull_rate", ParameterType::kReal, rate,
                                   "Share of the link's rate that pulls let in.", above("0").up_to("1")}};
  if (unasked) {
    list.push_back({"unasked_window", ParameterType::kReal, "1.5",
                    "Pulled unasked while nobody wants any, for each flow, in bandwidth-delay products.",
                    at_least("0")});
  }
  return list;
}

PullReceiver::Settings pull_settings(const Parameters& parameters, bool unasked) {
  PullReceiver::Settings settings;
  settings.packets_per_pull = parameters.integer("packets_per_pull");
  settings.rate = parameters.real("pull_rate");
  if (!unasked) return settings;
  settings.idle_window = parameters.real("unasked_window");
  return settings;
}

std::vector<ParameterSpec> network_rate_parameters() {
  return {
      {"oversubscription", ParameterType::kReal, "1",
       "Of the network, worst path: above 1, pulls slow down while packets are marked or cut off before the "
       "last "
       "hop.",
       from_to("1", "1000")},
      {"marked_target", ParameterType::kReal, "0.3", "Share of marked packets above which it slows down.",
       at_least("0")},
      {"rate_increase", ParameterType::kReal, "0.01", "Share of the link's rate added in 1.5 network RTTs.",
       above("0")},
      {"rate_growth", ParameterType::kReal, "2",
       "Factor of the increase for each such time before, while nothing is marked.", at_least("1")},
      {"rate_interval", ParameterType::kTime, "auto", "It is looked at so often; auto: 1.5 network RTTs.",
       above("0")},
      {"trims_count", ParameterType::kBoolean, "true",
       "Take the share of packets that were cut off from the rate; false: go by marks alone."},
      {"rate_decrease", ParameterType::kReal, "0.5", "Weight of the excess over marked_target.",
       from_to("0", "1")},
      {"marked_weight", ParameterType::kReal, "0.5", "Weight of the newest marked share.",
       above("0").up_to("1")},
      {"least_rate", ParameterType::kReal, "0.9",
       "Share of the link's rate over the oversubscription that they never go below.",
       above("0").up_to("1")}};
}

NetworkRate::Settings network_rate_settings(const Parameters& parameters) {
  return {.target = parameters.real("marked_target"),
          .increase = parameters.real("rate_increase"),
          .growth = parameters.real("rate_growth"),
          .decrease = parameters.real("rate_decrease"),
          .weight = parameters.real("marked_weight"),
          .least = parameters.real("least_rate") / std::max(1.0, parameters.real("oversubscription")),
          .interval = time_or_zero(parameters, "rate_interval"),
          .trims_count = parameters.boolean("trims_count")};
}

}  // namespace weft::congestion
