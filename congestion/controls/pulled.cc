#include "congestion/controls/pulled.h"

#include <algorithm>

namespace weft::congestion {
namespace {

double positive(const Parameters& parameters, std::string_view name) {
  const double value = parameters.real(name);
  if (!(value > 0)) parameters.fail(name, "it must be above 0");
  return value;
}

double share(const Parameters& parameters, std::string_view name) {
  const double value = parameters.real(name);
  if (!(value > 0 && value <= 1)) parameters.fail(name, "it must be above 0, and 1 at most");
  return value;
}

}  // namespace

std::vector<ParameterSpec> join(std::vector<ParameterSpec> first, const std::vector<ParameterSpec>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<ParameterSpec> credit_parameters(const std::string& window, const std::string& help) {
  return {{"window", ParameterType::kReal, window, help},
          {"patience", ParameterType::kTime, "2ms",
           "A sender that hears nothing for so long sends a packet unasked; doubled each time."}};
}

CreditAccount::Settings credit_settings(const Parameters& parameters) {
  CreditAccount::Settings settings{.window = positive(parameters, "window"),
                                   .patience = parameters.time("patience")};
  if (settings.patience <= Time() || settings.patience > Time::us(3'600'000'000)) {
    parameters.fail("patience", "it must be above 0, and 3600s at most");
  }
  return settings;
}

std::vector<ParameterSpec> pull_parameters(const std::string& packets, const std::string& rate,
                                           bool unasked) {
  std::vector<ParameterSpec> list{
      {"packets_per_pull", ParameterType::kInteger, packets, "Full packets that one pull allows, 1 to 64."},
      {"pull_rate", ParameterType::kReal, rate,
       "Share of the link's rate that pulls let in: above 0, 1 at most."}};
  if (unasked) {
    list.push_back({"unasked_window", ParameterType::kReal, "1.5",
                    "Pulled unasked while nobody wants any, for each flow, in bandwidth-delay products."});
  }
  return list;
}

PullReceiver::Settings pull_settings(const Parameters& parameters, bool unasked) {
  PullReceiver::Settings settings;
  settings.packets_per_pull = parameters.integer("packets_per_pull");
  settings.rate = share(parameters, "pull_rate");
  if (settings.packets_per_pull < 1 || settings.packets_per_pull > 64) {
    parameters.fail("packets_per_pull", "it must be from 1 to 64");
  }
  if (!unasked) return settings;
  settings.idle_window = parameters.real("unasked_window");
  if (!(settings.idle_window >= 0)) parameters.fail("unasked_window", "it must be 0 or more");
  return settings;
}

std::vector<ParameterSpec> network_rate_parameters() {
  return {
      {"oversubscription", ParameterType::kReal, "1",
       "Of the network, worst path: above 1, pulls slow down while packets are marked or cut off before the "
       "last "
       "hop."},
      {"marked_target", ParameterType::kReal, "0.3", "Share of marked packets above which it slows down."},
      {"rate_increase", ParameterType::kReal, "0.01", "Share of the link's rate added in 1.5 network RTTs."},
      {"rate_growth", ParameterType::kReal, "2",
       "Factor of the increase for each such time before, while nothing is marked: 1 or more."},
      {"rate_interval", ParameterType::kTime, "auto", "It is looked at so often; auto: 1.5 network RTTs."},
      {"trims_count", ParameterType::kBoolean, "true",
       "Take the share of packets that were cut off from the rate; false: go by marks alone."},
      {"rate_decrease", ParameterType::kReal, "0.5", "Weight of the excess over marked_target."},
      {"marked_weight", ParameterType::kReal, "0.5",
       "Weight of the newest marked share: above 0, 1 at most."},
      {"least_rate", ParameterType::kReal, "0.9",
       "Share of the link's rate over the oversubscription that they never go below: above 0, 1 at most."}};
}

NetworkRate::Settings network_rate_settings(const Parameters& parameters) {
  NetworkRate::Settings settings{
      .target = parameters.real("marked_target"),
      .increase = positive(parameters, "rate_increase"),
      .growth = parameters.real("rate_growth"),
      .decrease = parameters.real("rate_decrease"),
      .weight = share(parameters, "marked_weight"),
      .least = share(parameters, "least_rate") / std::max(1.0, parameters.real("oversubscription")),
      .interval = Time(),
      .trims_count = parameters.boolean("trims_count")};
  if (!parameters.automatic("rate_interval")) {
    settings.interval = parameters.time("rate_interval");
    if (settings.interval <= Time()) parameters.fail("rate_interval", "it must be above 0, or auto");
  }
  if (!(parameters.real("oversubscription") >= 1 && parameters.real("oversubscription") <= 1000)) {
    parameters.fail("oversubscription", "it must be from 1 to 1000");
  }
  if (!(settings.growth >= 1)) parameters.fail("rate_growth", "it must be 1 or more");
  if (!(settings.target >= 0)) parameters.fail("marked_target", "it must be 0 or more");
  if (!(settings.decrease >= 0 && settings.decrease <= 1)) {
    parameters.fail("rate_decrease", "it must be from 0 to 1");
  }
  return settings;
}

}  // namespace weft::congestion
