#include "sim/scenario/queue_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/units/did_you_mean.h"
#include "sim/units/plugin_modules.h"

namespace weft::sim {
namespace {

constexpr const char* kWord = "queue discipline";

// How messages speak of a capability.
struct Phrases {
  const char* acts;    // what a module that requires it does
  const char* lacks;   // what a discipline without it does then
  const char* noun;    // what a module can't live with
  const char* offers;  // and a discipline does
};

Phrases phrases(Capability capability) {
  switch (capability) {
    case Capability::kMark:
      return {"acts on ECN marks", "never sets any", "ECN marks", "sets"};
    case Capability::kTrim:
      return {"acts on trimmed packets", "never trims any", "trimmed packets", "makes"};
    case Capability::kTelemetry:
      return {"acts on telemetry", "has none", "telemetry", "has"};
    case Capability::kCredit:
      return {"paces by credits", "gives them no precedence", "credits that go first", "has"};
    case Capability::kBackToSender:
      return {"acts on headers that come back", "sends none back", "headers that come back", "sends"};
    case Capability::kLossless:
      return {"takes it that nothing is lost", "drops packets", "packets that are held back", "has"};
    case Capability::kCutThrough:
      return {"passes packets on before they are there as a whole", "decides about them when they are",
              "cut-through", "has"};
  }
  return {};
}

CapabilityNeeds both(const CapabilityNeeds& a, const CapabilityNeeds& b) {
  return {
      .required = a.required | b.required, .forbidden = a.forbidden | b.forbidden, .used = a.used | b.used};
}

std::string list(const std::vector<std::string>& names) {
  return names.empty() ? "there is none" : fmt::format("{}", fmt::join(names, ", "));
}

// A discipline with the parameters that were given for it.
class Discipline {
 public:
  Discipline(const RegisteredQueue& module, const ModuleChoice& choice) : module_(module) {
    if (module.offers.switches.empty()) return;
    const Parameters values(module.info, choice);
    for (const CapabilitySwitch& each : module.offers.switches) {
      const bool is_new = std::none_of(switches_.begin(), switches_.end(), [&](const Switch& other) {
        return other.parameter == each.parameter;
      });
      if (!is_new) continue;
      const bool is_given = choice.given.contains(each.parameter);
      const bool is_on = value(each.parameter, values) == each.on;
      switches_.push_back({each.parameter, each.on, each.off, is_given, is_on});
    }
  }

  const std::string& name() const { return module_.info.name; }
  // What is to be set so that it suits, the parameters that weren't given: nothing, if all is as it should
  // be. None if it can't.
  std::optional<std::vector<std::pair<std::string, std::string>>> settings_for(
      const CapabilityNeeds& needs) const {
    for (std::uint32_t turned = 0; turned < 1u << switches_.size(); ++turned) {  // as they are first
      if (!suits(needs, turned)) continue;
      std::vector<std::pair<std::string, std::string>> settings;
      for (std::size_t i = 0; i < switches_.size(); ++i) {
        if (turned >> i & 1) {
          settings.emplace_back(switches_[i].parameter,
                                switches_[i].is_on ? switches_[i].off : switches_[i].on);
        }
      }
      return settings;
    }
    return std::nullopt;
  }
  bool suits(const CapabilityNeeds& needs) const { return settings_for(needs).has_value(); }
  bool may_offer(Capability capability) const { return suits({.required = capability}); }
  bool may_do_without(Capability capability) const { return suits({.forbidden = capability}); }
  // What was given, and excludes the capability; null: nothing.
  const CapabilitySwitch* blocker(Capability capability) const {
    for (const CapabilitySwitch& each : module_.offers.switches) {
      const auto found = std::find_if(switches_.begin(), switches_.end(),
                                      [&](const Switch& other) { return other.parameter == each.parameter; });
      if (each.capability == capability && found->is_given && !found->is_on) return &each;
    }
    return nullptr;
  }

 private:
  struct Switch {
    std::string parameter, on, off;
    bool is_given = false, is_on = false;
  };

  // With the `turned` ones of the switches the other way than they are?
  bool suits(const CapabilityNeeds& needs, std::uint32_t turned) const {
    Capabilities missing;
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      const bool is_turned = (turned >> i & 1) != 0;
      if (is_turned && switches_[i].is_given) return false;
      if (switches_[i].is_on != is_turned) continue;
      for (const CapabilitySwitch& each : module_.offers.switches) {
        if (each.parameter == switches_[i].parameter) missing = missing | each.capability;
      }
    }
    const Capabilities offered = module_.offers.at_most().without(missing) | module_.offers.always;
    // Networks with packets write telemetry in front of any queue, where it is required.
    return (offered | Capability::kTelemetry).has_all(needs.required) &&
           offered.both(needs.forbidden).empty();
  }
  std::string value(const std::string& parameter, const Parameters& values) const {
    const auto& parameters = module_.info.parameters;
    const auto spec = std::find_if(parameters.begin(), parameters.end(),
                                   [&](const ParameterSpec& other) { return other.name == parameter; });
    if (spec->type == ParameterType::kBoolean) return values.boolean(parameter) ? "true" : "false";
    if (spec->type == ParameterType::kInteger) return fmt::format("{}", values.integer(parameter));
    return values.text(parameter);
  }

  const RegisteredQueue& module_;
  std::vector<Switch> switches_;
};

class Matching {
 public:
  Matching(std::span<const Party> parties, const std::vector<RegisteredQueue>& queues)
      : parties_(parties), queues_(queues) {
    for (const Party& party : parties) needs_ = both(needs_, party.needs);
  }

  const CapabilityNeeds& needs() const { return needs_; }

  // What a party was made for, the first that suits, or the first of all.
  const RegisteredQueue& first() const {
    auto found = queues_.end();
    for (const Party& party : parties_) {
      if (found != queues_.end()) break;
      found = std::find_if(queues_.begin(), queues_.end(), [&](const auto& each) {
        return each.info.name == party.queue && suits(each, needs_);
      });
    }
    if (found != queues_.end()) return *found;
    found =
        std::find_if(queues_.begin(), queues_.end(), [&](const auto& each) { return suits(each, needs_); });
    return found == queues_.end() ? queues_.front() : *found;
  }

  void refuse_quarrels() const {
    for (const Party& wants : parties_) {
      for (const Party& hates : parties_) {
        wants.needs.required.both(hates.needs.forbidden).for_each([&](Capability each) {
          const auto [wanting, hating] = std::pair(
              others(wants, [&](const CapabilityNeeds& needs) { return !needs.required.has(each); }),
              others(hates, [&](const CapabilityNeeds& needs) { return !needs.forbidden.has(each); }));
          throw InputError(
              wants.location,
              fmt::format("{} {} {}, and {} {} can't live with {}; choose another {} ({}) or "
                          "another {} ({})",
                          wants.word, wants.name, phrases(each).acts, hates.word, hates.name,
                          phrases(each).noun, wants.brief, list(wanting), hates.brief, list(hating)));
        });
      }
    }
  }

  // `place`: where the discipline was chosen, if it was.
  void refuse_misfits(const Discipline& discipline, const std::optional<SourceLocation>& place) const {
    for (const Party& party : parties_) {
      const SourceLocation& where = place ? *place : party.location;
      party.needs.required.for_each([&](Capability each) {
        if (!discipline.may_offer(each)) throw InputError(where, missing(party, discipline, each));
      });
      party.needs.forbidden.for_each([&](Capability each) {
        if (!discipline.may_do_without(each)) throw InputError(where, unwanted(party, discipline, each));
      });
    }
    if (!discipline.suits(needs_)) {
      const SourceLocation& where = place ? *place : parties_.front().location;
      throw InputError(where, entangled(discipline));
    }
  }

 private:
  static bool suits(const RegisteredQueue& queue, const CapabilityNeeds& needs) {
    ModuleChoice choice;
    choice.name = queue.info.name;
    return Discipline(queue, choice).suits(needs);
  }
  template <typename Suits>
  static std::vector<std::string> others(const Party& party, Suits&& suits) {
    std::vector<std::string> names;
    for (const auto& [name, needs] : party.others) {
      if (suits(needs)) names.push_back(name);
    }
    return names;
  }
  std::vector<std::string> suitable(const Discipline& but) const {
    std::vector<std::string> names;
    for (const RegisteredQueue& queue : queues_) {
      if (queue.info.name != but.name() && suits(queue, needs_)) names.push_back(queue.info.name);
    }
    return names;
  }
  // What would do in the place of one of the two.
  std::string ways_out(const Party& party, const Discipline& discipline, const char* queue_that) const {
    const auto modules = others(party, [&](const CapabilityNeeds& needs) { return discipline.suits(needs); });
    return fmt::format("choose a queue {} ({}) or another {} ({})", queue_that, list(suitable(discipline)),
                       party.brief, list(modules));
  }
  std::string missing(const Party& party, const Discipline& discipline, Capability capability) const {
    const CapabilitySwitch* blocker = discipline.blocker(capability);
    const std::string with =
        blocker == nullptr ? "" : fmt::format(" with {}={}", blocker->parameter, blocker->off);
    const std::string instead =
        blocker == nullptr ? "" : fmt::format("set {}={}, or ", blocker->parameter, blocker->on);
    return fmt::format("{} {} {}, and {} {} {}{}; {}{}", party.word, party.name, phrases(capability).acts,
                       kWord, discipline.name(), phrases(capability).lacks, with, instead,
                       ways_out(party, discipline, "that does"));
  }
  std::string unwanted(const Party& party, const Discipline& discipline, Capability capability) const {
    return fmt::format("{} {} can't live with {}, which {} {} {}; {}", party.word, party.name,
                       phrases(capability).noun, kWord, discipline.name(), phrases(capability).offers,
                       ways_out(party, discipline, "without"));
  }

  // Each thing can be had, but not all together.
  std::string entangled(const Discipline& discipline) const {
    std::string all, others;
    for (const Party& party : parties_) {
      const CapabilityNeeds& needs = party.needs;
      const auto add = [&](const std::string& what) {
        all += fmt::format("{}{} {} {}", all.empty() ? "" : ", ", party.word, party.name, what);
      };
      needs.required.for_each([&](Capability each) { add(phrases(each).acts); });
      needs.forbidden.for_each(
          [&](Capability each) { add(fmt::format("can't live with {}", phrases(each).noun)); });
      if (!needs.required.empty() || !needs.forbidden.empty())
        others += fmt::format(" or another {}", party.brief);
    }
    return fmt::format("{} {} can't be set so that it suits all: {}; choose another queue ({}){}", kWord,
                       discipline.name(), all, list(suitable(discipline)), others);
  }

  std::span<const Party> parties_;
  const std::vector<RegisteredQueue>& queues_;
  CapabilityNeeds needs_;
};

}  // namespace

void match_queue(std::span<const Party> parties, const std::vector<RegisteredQueue>& queues,
                 ModuleChoice& queue) {
  if (queues.empty()) return;
  const Matching matching(parties, queues);
  matching.refuse_quarrels();
  std::optional<SourceLocation> place;
  if (queue.empty()) {
    queue.name = matching.first().info.name;
  } else {
    place = queue.location;
  }
  const RegisteredQueue& module = find_module(std::span<const RegisteredQueue>(queues), queue, kWord);
  const Discipline discipline(module, queue);
  matching.refuse_misfits(discipline, place);
  const auto settings = discipline.settings_for(matching.needs());
  for (const auto& [parameter, value] : *settings) queue.given[parameter] = value;
  // What only would be good.
  for (const Party& party : parties) {
    for (const auto& [parameter, value] : party.queue_settings) {
      const bool is_its = std::ranges::any_of(
          module.info.parameters, [&](const ParameterSpec& spec) { return spec.name == parameter; });
      if (is_its) queue.given.try_emplace(parameter, value);
    }
  }
}

void check_queue_of(const RegisteredControl& control, const std::vector<RegisteredQueue>& queues,
                    const SourceLocation& location) {
  std::vector<std::string> disciplines, parameters;
  for (const RegisteredQueue& queue : queues) {
    disciplines.push_back(queue.info.name);
    for (const ParameterSpec& spec : queue.info.parameters) parameters.push_back(spec.name);
  }
  const auto check = [&](const std::string& name, const std::vector<std::string>& known, const char* word) {
    if (name.empty() || std::ranges::find(known, name) != known.end()) return;
    throw InputError(location, fmt::format("{} is made for {}, which is not a {}{}",
                                           name_of_module("congestion control", control.info.name), name,
                                           word, did_you_mean(name, known)));
  };
  check(control.queue, disciplines, kWord);
  for (const auto& [name, value] : control.queue_settings) check(name, parameters, "parameter of any queue");
}

bool may_suit(const RegisteredQueue& queue, const ModuleChoice& choice, const CapabilityNeeds& needs) {
  return Discipline(queue, choice).suits(needs);
}

}  // namespace weft::sim
