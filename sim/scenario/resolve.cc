// Filling in defaults, and the rules by which settings fit together.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "sim/scenario/complete.h"
#include "sim/scenario/connections.h"
#include "sim/scenario/fault_times.h"
#include "sim/scenario/queue_match.h"
#include "sim/scenario/random_links.h"
#include "sim/scenario/resolve_fabric.h"
#include "sim/scenario/resolve_one.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/short_form.h"

namespace weft::sim {
namespace {

bool from_command_line(const SourceLocation& location) { return location.line == 0; }

class Resolver {
 public:
  Resolver(const Draft& draft, const Registries& registries, bool places)
      : draft_(draft), registries_(registries), places_(places) {
    static_cast<RunSettings&>(scenario_) = draft;
    scenario_.jobs = draft.jobs;
  }

  Scenario resolve() {
    jobs();
    network();
    placement();
    if (network_module().has_fabric) {
      fabric();
    } else {
      drop_parts({"topology", "routing", "congestion", "recovery", "queue"});
      drop_faults();
    }
    for (ModuleChoice& fault : scenario_.faults) {
      complete_fault(fault);
      if (!network_module().has_packets) drop_of_packets(fault);
    }
    hosts();
    protocol();
    connections();
    collectives();
    output();
    threads();
    return std::move(scenario_);
  }

 private:
  // A setting that can't act: an error where it was given for this run, a warning in a file for many.
  void useless(const SourceLocation& location, const std::string& what) {
    if (from_command_line(location)) throw InputError(location, what);
    scenario_.warnings.push_back(location.prefix() + what);
  }

  template <typename Registered>
  static std::span<const Registered> all(const std::vector<Registered>& modules) {
    return {modules.data(), modules.size()};
  }
  const RegisteredNetwork& network_module() const {
    return find_module(all(registries_.networks), scenario_.network, "network model");
  }

  void jobs() {
    if (scenario_.jobs.empty()) {
      throw InputError(
          "there is nothing to run: give a GOAL file with --goal FILE or job { goal: \"FILE\" }, or "
          "generated "
          "traffic with --traffic NAME or job { traffic { NAME {} } }");
    }
    for (Job& job : scenario_.jobs) {
      const bool generated = !job.traffic.empty();
      if (job.goal.empty() && !generated) {
        throw InputError(job.location,
                         "this job has nothing to do: give its goal (a GOAL file) or its traffic");
      }
      if (!job.goal.empty() && generated) {
        throw InputError(job.traffic.location,
                         fmt::format("traffic '{}' is given beside goal '{}'; a job has one of them",
                                     job.traffic.name, job.goal));
      }
      if (generated) {
        complete(find_info(traffic_seam(), registries_, job.traffic), job.traffic);
      }
      if (job.name.empty()) {
        job.name = generated ? job.traffic.name : std::filesystem::path(job.goal).stem().string();
      }
    }
  }

  // A job alone that says nothing has its ranks in order on the first hosts, in any network.
  void placement() {
    ModuleChoice& choice = scenario_.jobs[0].placement;
    if (choice.empty()) choice = draft_.placement;
    if (network_module().has_fabric && places_ && !registries_.placements.empty()) {
      choose(registries_.placements, choice, placement_seam().word);
    }
    if (choice.empty()) return;
    if (network_module().has_fabric) {
      complete(find_info(placement_seam(), registries_, choice), choice);
      return;
    }
    useless(choice.location, fmt::format("placement '{}' has no effect: network model {} has no topology",
                                         choice.name, scenario_.network.name));
    choice = {};
  }

  void network() {
    if (scenario_.network.empty()) {
      const bool wants_fabric =
          !scenario_.fabric.empty() ||
          std::ranges::any_of(seams(), [&](const Seam& seam) { return !(scenario_.*seam.choice).empty(); });
      const auto found =
          std::ranges::find(registries_.networks, wants_fabric, &RegisteredNetwork::has_fabric);
      if (found == registries_.networks.end())
        throw InputError("no network model fits; choose one with --network");
      scenario_.network.name = found->info.name;
    }
    fill_from_fabric(scenario_, registries_);
    complete(network_module().info, scenario_.network);
  }

  // Chooses the first module of a kind if none is chosen, and completes it.
  template <typename Registered>
  const Registered& choose(const std::vector<Registered>& modules, ModuleChoice& choice, const char* word) {
    if (choice.empty()) {
      if (modules.empty()) throw InputError(fmt::format("there is no {} to choose", word));
      choice.name = modules.front().info.name;
    }
    const Registered& module = find_module(all(modules), choice, word);
    complete(module.info, choice);
    return module;
  }

  // Where none is chosen, what is recommended for the topology, if this network model can have it.
  void recommend_routing(const RegisteredTopology& topology) {
    if (!scenario_.routing.empty() || topology.routing.empty()) return;
    const RegisteredRouting& best =
        find_module(all(registries_.routing), ModuleChoice{.name = topology.routing}, "routing policy");
    if (!network_module().has_packets && !best.has_fluid) {
      scenario_.routing_reason = fmt::format("{} is recommended for {}, but network model {} has no packets",
                                             best.info.name, topology.info.name, scenario_.network.name);
      return;
    }
    scenario_.routing.name = best.info.name;
    scenario_.routing_reason = topology.routing_reason;
  }

  // That whose routing it has by default.
  const RegisteredTopology& routed_as(const RegisteredTopology& topology) const {
    if (topology.routed_as == nullptr) return topology;
    const RegisteredTopology* other =
        find_registered(registries_.topologies, topology.routed_as(scenario_.topology));
    return other == nullptr ? topology : *other;
  }

  void fabric() {
    if (scenario_.topology.empty()) {
      std::vector<std::string> known;
      for (const RegisteredTopology& module : registries_.topologies) known.push_back(module.info.name);
      throw InputError(scenario_.network.location,
                       fmt::format("network model {} needs a topology: give --topology NAME:key=value,… or "
                                   "topology {{ NAME {{ … }} }} (known: {})",
                                   scenario_.network.name, fmt::join(known, ", ")));
    }
    recommend_routing(routed_as(choose(registries_.topologies, scenario_.topology, "topology")));
    const RegisteredRouting& routing = choose(registries_.routing, scenario_.routing, "routing policy");
    if (!network_module().has_packets) return drop_parts({"congestion", "recovery", "queue"});
    const RegisteredControl& control =
        choose(registries_.congestion, scenario_.congestion, "congestion control");
    std::vector<Party> parties = {
        party("congestion control", "control", control, registries_.congestion, scenario_.congestion),
        party("routing policy", "policy", routing, registries_.routing, scenario_.routing)};
    check_queue_of(control, registries_.queues, scenario_.congestion.location);
    parties.front().queue = control.queue;
    parties.front().queue_settings = control.queue_settings;
    const std::string disorder = what_breaks_order(routing);
    warn_of_paths(control, disorder);
    if (!registries_.recoveries.empty()) {
      const RegisteredRecovery& recovery =
          choose(registries_.recoveries, scenario_.recovery, "loss recovery");
      parties.push_back(
          party("loss recovery", "recovery", recovery, registries_.recoveries, scenario_.recovery));
      warn_of_disorder(recovery, disorder);
    }
    if (!control.caveat.empty()) {
      scenario_.warnings.push_back(
          fmt::format("congestion control {} is {}", control.info.name, control.caveat));
    }
    if (network_module().needs_of) parties.push_back(network_party());
    queue(parties);
  }

  template <typename Registered>
  static Party party(const char* word, const char* brief, const Registered& module,
                     const std::vector<Registered>& modules, const ModuleChoice& choice) {
    Party party{word, brief, module.info.name, module.needs, choice.location, {}};
    for (const Registered& each : modules) party.others.emplace_back(each.info.name, each.needs);
    return party;
  }
  // What another network would need follows from parameters that nobody gave it.
  Party network_party() const {
    const RegisteredNetwork& network = network_module();
    const CapabilityNeeds needs = network.needs_of(Parameters(network.info, scenario_.network));
    Party party{"network model", "network", network.info.name, needs, scenario_.network.location, {}};
    for (const RegisteredNetwork& each : registries_.networks) {
      party.others.emplace_back(each.info.name, &each == &network ? needs : CapabilityNeeds());
    }
    return party;
  }

  // "": a connection's packets keep to one way.
  std::string what_breaks_order(const RegisteredRouting& routing) const {
    if (routing.keeps_order && !routing.keeps_order(Parameters(routing.info, scenario_.routing)))
      return fmt::format("routing policy {}", routing.info.name);
    const RegisteredNetwork& network = network_module();
    return network.breaks_order ? network.breaks_order(Parameters(network.info, scenario_.network)) : "";
  }

  void warn(const ModuleChoice& choice, const std::string& text) {
    scenario_.warnings.push_back(choice.location.prefix() + text);
  }
  // It works, and is compared; but who didn't mean to should know. Here and below.
  void warn_of_paths(const RegisteredControl& control, const std::string& disorder) {
    if (disorder.empty() || !control.wants_one_path ||
        !control.wants_one_path(Parameters(control.info, scenario_.congestion)))
      return;
    warn(
        scenario_.congestion,
        fmt::format("congestion control {} compares what a packet met on its way with what the last one met, "
                    "and with {} they may take different ways: where they do, it does not react",
                    control.info.name, disorder));
  }
  void warn_of_disorder(const RegisteredRecovery& recovery, const std::string& disorder) {
    if (disorder.empty() || !recovery.wants_order) return;
    warn(scenario_.recovery,
         fmt::format("loss recovery {} takes packets that come early for a sign of loss, and with {} they "
                     "overtake each other",
                     recovery.info.name, disorder));
  }

  void queue(const std::vector<Party>& parties) {
    const bool given = !scenario_.queue.empty();
    match_queue(parties, registries_.queues, scenario_.queue);
    const RegisteredQueue& discipline = choose(registries_.queues, scenario_.queue, "queue discipline");
    if (!given) scenario_.queue_choice = why_queue(parties.front(), discipline);
    if (given && has_queue_of_fabric(scenario_, registries_)) return;
    const bool noticed = std::ranges::any_of(
        parties, [](const Party& party) { return party.needs.noticed().has(Capability::kMark); });
    if (given && discipline.offers.always.has(Capability::kMark) && !noticed) {
      warn(scenario_.queue,
           fmt::format("queue discipline {} sets ECN marks, which congestion control {} does not look at",
                       discipline.info.name, scenario_.congestion.name));
    }
  }

  static std::string why_queue(const Party& control, const RegisteredQueue& queue) {
    return control.queue == queue.info.name
               ? fmt::format("made for {}", control.name)
               : fmt::format("the first that suits {} and the others", control.name);
  }

  // Parts that the network model doesn't have.
  void drop_parts(std::initializer_list<std::string_view> fields) {
    std::vector<std::string> dropped;
    SourceLocation first;
    for (const Seam& seam : seams()) {
      ModuleChoice& choice = scenario_.*seam.choice;
      if (std::find(fields.begin(), fields.end(), seam.field) == fields.end() || choice.empty()) continue;
      std::vector<SourceLocation> places = {choice.location};
      for (const auto& [name, place] : choice.locations) places.push_back(place);
      for (const SourceLocation& place : places) {
        if (!from_command_line(place)) continue;
        throw InputError(place, fmt::format("{} '{}' has no effect: network model {} has none", seam.word,
                                            choice.name, scenario_.network.name));
      }
      if (dropped.empty()) first = choice.location;
      dropped.push_back(seam.field);
      choice = {};
    }
    if (!dropped.empty()) {
      scenario_.warnings.push_back(fmt::format("{}{} without effect: network model {} has none",
                                               first.prefix(), fmt::join(dropped, ", "),
                                               scenario_.network.name));
    }
  }

  void drop_faults() {
    const std::string what =
        fmt::format("without effect: network model {} has no links", scenario_.network.name);
    for (const ModuleChoice& fault : scenario_.faults) {
      if (from_command_line(fault.location)) throw InputError(fault.location, "fault " + what);
      for (const auto& [name, place] : fault.locations) {
        if (from_command_line(place)) throw InputError(place, fmt::format("fault.{} {}", name, what));
      }
    }
    if (!scenario_.faults.empty()) useless(scenario_.faults[0].location, "fault " + what);
    scenario_.faults.clear();
  }

  void drop_of_packets(ModuleChoice& fault) {
    const Parameters parameters(fault_section(), fault);
    const auto drop = [&](const char* field, const char* none) {
      const auto place = fault.locations.find(field);
      useless(place == fault.locations.end() ? fault.location : place->second,
              fmt::format("fault.{} has no effect: network model {} has no packets", field,
                          scenario_.network.name));
      fault.given[field] = none;
    };
    if (parameters.real("bit_error_rate") != 0) drop("bit_error_rate", "0");
    if (parameters.boolean("scale_queue")) drop("scale_queue", "false");
  }

  // Which links there are is not known here.
  void complete_fault(ModuleChoice& fault) {
    const bool draws = fault.given.contains("random_links");
    const auto names = [&](const char* field) {
      const auto found = fault.given.find(field);
      return found != fault.given.end() && !found->second.empty();
    };
    ModuleInfo section = fault_section();
    for (ParameterSpec& spec : section.parameters) {
      if (spec.name == "between" && draws && !names("link") && !names("switch")) spec.default_value = "auto";
      if (spec.name == "rate" && fault.given.contains("bit_error_rate")) spec.default_value = "1";
    }
    complete(section, fault);
    const Parameters parameters(section, fault);
    if (names("link") + names("switch") + names("between") != 1) {
      throw InputError(fault.location,
                       "this fault must say which links it is of in one way: link, switch or random_links");
    }
    if (!draws && names("between")) {
      parameters.fail("between", "that is where random_links are drawn from; give their number");
    }
    if (random_links(parameters).any() && !names("between")) {
      parameters.fail("random_links", "this fault names its links; give one or the other");
    }
    if (const double rate = parameters.real("rate"); !(rate >= 0 && rate <= 1)) {
      parameters.fail("rate", "it must be from 0 (down) to 1 (as built)");
    }
    if (const double errors = parameters.real("bit_error_rate"); !(errors >= 0 && errors < 1)) {
      parameters.fail("bit_error_rate", "it must be 0 or more and below 1");
    }
    check_fault_times(parameters);
  }

  // Hosts' parameters, less those that the network model has itself.
  void hosts() {
    ModuleInfo left = hosts_section();
    const std::vector<ParameterSpec>& own = network_module().info.parameters;
    std::erase_if(left.parameters, [&](const ParameterSpec& spec) {
      const bool overridden = std::any_of(
          own.begin(), own.end(), [&](const ParameterSpec& other) { return other.name == spec.name; });
      if (overridden && scenario_.hosts.given.erase(spec.name) > 0) {
        useless(scenario_.hosts.locations[spec.name],
                fmt::format("hosts.{0} has no effect: network model {1} has its own {0}; set network.{1}.{0}",
                            spec.name, scenario_.network.name));
        scenario_.hosts.locations.erase(spec.name);
      }
      return overridden;
    });
    if (!network_module().has_connections) {
      std::erase_if(left.parameters, [](const ParameterSpec& spec) {
        return spec.name == "protocol" || spec.name == "collective_S";
      });
      drop_without_connections("protocol");
      drop_without_connections("collective_S");
    }
    scenario_.hosts.name = left.name;
    // Generated traffic is about the network: hosts cost nothing there unless told to.
    if (is_generated()) {
      const bool is_ideal = !has_protocol(), limits_rounds = is_ideal && !scenario_.hosts.given.contains("S");
      for (ParameterSpec& spec : left.parameters) {
        if (spec.name == "o") spec.default_value = "0ns";
        if (spec.name == "S" && is_ideal) spec.default_value = "1000TB";
        if (spec.name == "collective_S" && limits_rounds) spec.default_value = eager_limit_of_ideal();
        if (spec.name == "protocol" && !registries_.protocols.empty()) {
          spec.default_value = protocol_of_generated();
        }
      }
    }
    complete(left, scenario_.hosts);
  }

  auto traffic_of(const Job& job) const {
    return find_module(all(registries_.traffic), job.traffic, traffic_seam().word);
  }
  bool is_generated() const { return !scenario_.jobs[0].traffic.empty(); }

  SourceLocation hosts_location(const std::string& parameter) const {
    const auto place = scenario_.hosts.locations.find(parameter);
    return place == scenario_.hosts.locations.end() ? SourceLocation() : place->second;
  }

  // Was one asked for whose eager limit is not that of generated traffic?
  bool has_protocol() const {
    const auto found = scenario_.hosts.given.find("protocol");
    if (found == scenario_.hosts.given.end() || found->second == kByRules) return false;
    const ModuleChoice choice = read_short_form(found->second, hosts_location("protocol"));
    return registries_.protocols.empty() || choice.name != registries_.protocols[0].name ||
           choice.given.contains("eager_limit");
  }

  // Nobody's. REQUIRES: there are protocols.
  std::string protocol_of_generated() const {
    return registries_.protocols[0].name + (sends_by_one_nic(scenario_) ? ":rails=1" : "");
  }

  std::string eager_limit_of_ideal() const {
    if (registries_.protocols.empty()) return std::string(kByRules);
    const std::vector<ParameterSpec>& parameters = registries_.protocols[0].parameters;
    return std::ranges::find(parameters, "eager_limit", &ParameterSpec::name)->default_value;
  }

  void drop_without_connections(const char* parameter) {
    const auto found = scenario_.hosts.given.find(parameter);
    if (found == scenario_.hosts.given.end()) return;
    if (found->second != kByRules) {
      useless(hosts_location(parameter), fmt::format("hosts.{} has no effect: network model {} has no "
                                                     "connections, and takes messages as LogGOPS does",
                                                     parameter, scenario_.network.name));
    }
    scenario_.hosts.given.erase(found);
    scenario_.hosts.locations.erase(parameter);
  }

  // Completes the short form.
  void protocol() {
    const auto found = scenario_.hosts.given.find("protocol");
    if (found == scenario_.hosts.given.end() || registries_.protocols.empty()) return;
    std::string& text = found->second;
    if (text == kByRules && is_generated()) text = protocol_of_generated();
    if (text == kByRules) return;
    ModuleChoice choice = read_short_form(text, hosts_location("protocol"));
    std::vector<std::string> known;
    for (const ModuleInfo& info : registries_.protocols) {
      known.push_back(info.name);
      if (info.name != choice.name) continue;
      complete(info, choice);
      text = to_short_form(info.name, Parameters(info, choice));
      return;
    }
    fail_unknown_name("protocol", choice.name, known, hosts_location("protocol"));
  }

  void connections() {
    const std::string& text = draft_.connections;
    const bool is_set = !text.empty() && text != kByRules;
    Time& idle = scenario_.connection_idle;
    ConnectionChoice choice;
    if (is_set) choice = parse_connections(text, scenario_.connections_location);
    if (!network_module().has_connections) {
      const std::string why =
          fmt::format("has no effect: network model {} has no connections", scenario_.network.name);
      if (is_set) useless(scenario_.connections_location, "connections " + why);
      if (idle != Time()) useless(scenario_.connection_idle_location, "connection_idle " + why);
      idle = Time();
      return;
    }
    if (!is_set) {
      choice.per_message = is_generated() && traffic_of(scenario_.jobs[0]).independent_flows;
    }
    scenario_.connections = choice;
    if (idle == Time() || (network_module().has_packets && !choice.per_message)) return;
    useless(scenario_.connection_idle_location,
            choice.per_message ? "connection_idle has no effect where connections are per_message"
                               : fmt::format("connection_idle has no effect: network model {} has no "
                                             "windows that a connection could keep",
                                             scenario_.network.name));
    idle = Time();
  }

  void collectives() {
    ModuleInfo section = collectives_section(registries_);
    // Where no kind is left to a profile, it is the first.
    if (!registries_.profiles.empty() && is_each_kind_named(section)) {
      section.parameters[0].default_value = registries_.profiles[0].name;
      std::erase_if(scenario_.collectives.given,
                    [](const auto& each) { return each.first == "profile" && each.second == kByRules; });
    }
    ModuleChoice& choice = scenario_.collectives;
    choice.name = section.name;
    const bool has_rules = !registries_.profiles.empty();
    if (has_rules && choice.given.contains("profile")) check_profile(choice.given.at("profile"));
    if (has_rules && asks_for_rules()) rules_must_act(section);
    complete(section, choice);
    for (const auto& [collective, text] : choice.given) {
      if (has_rules && (collective == "profile" || collective == "table" || text == kByRules)) continue;
      check_algorithm(collective, text, collectives_location(collective));
    }
  }

  bool asks_for_rules() const {
    const auto& given = scenario_.collectives.given;
    const auto profile = given.find("profile"), table = given.find("table");
    return (profile != given.end() && profile->second != registries_.profiles[0].name &&
            profile->second != kByRules) ||
           (table != given.end() && !table->second.empty());
  }

  // Has each kind an algorithm of its own? REQUIRES: there are profiles.
  bool is_each_kind_named(const ModuleInfo& section) const {
    const auto& given = scenario_.collectives.given;
    return std::all_of(section.parameters.begin() + 2, section.parameters.end(),
                       [&](const ParameterSpec& spec) {
                         const auto found = given.find(spec.name);
                         return found != given.end() && found->second != kByRules;
                       });
  }

  void rules_must_act(const ModuleInfo& section) {
    auto& given = scenario_.collectives.given;
    if (!is_each_kind_named(section)) return;
    for (const char* const name : {"profile", "table"}) {
      const auto found = given.find(name);
      if (found == given.end() || found->second.empty() || found->second == kByRules ||
          found->second == registries_.profiles[0].name)
        continue;
      given.erase(found);
      useless(
          collectives_location(name),
          fmt::format("collectives.{} has no effect: every kind has an algorithm named for it; leave some "
                      "out or set them to {}",
                      name, kByRules));
    }
  }

  SourceLocation collectives_location(const std::string& parameter) const {
    const auto place = scenario_.collectives.locations.find(parameter);
    return place == scenario_.collectives.locations.end() ? SourceLocation() : place->second;
  }

  void check_profile(const std::string& text) const {
    if (text == kByRules) return;
    std::vector<const ModuleInfo*> all;
    for (const ModuleInfo& profile : registries_.profiles) all.push_back(&profile);
    check_one_of(all, "profile of collectives", text, collectives_location("profile"));
  }

  void check_algorithm(const std::string& collective, const std::string& text,
                       const SourceLocation& location) const {
    std::vector<const ModuleInfo*> all;
    for (const RegisteredAlgorithm& algorithm : registries_.algorithms) {
      if (algorithm.collective == collective) all.push_back(&algorithm.info);
    }
    check_one_of(all, "choice for " + collective, text, location);
  }

  // Drops measurements that this run can't take.
  void output() {
    Output& output = scenario_.output;
    const auto check = [&](const char* field, auto& value, const auto& none, bool possible) {
      if (value == none) return;
      const std::string place = output.directory.empty() ? "no directory is given for its file" : "";
      const std::string model =
          possible ? "" : fmt::format("network model {} has no packets", scenario_.network.name);
      if (model.empty() && place.empty()) return;
      useless(output.locations[field],
              fmt::format("output.{} has no effect: {}", field, model.empty() ? place : model));
      value = none;
    };
    const RegisteredNetwork& network = network_module();
    check("sample_interval", output.sample_interval, Time(), network.has_fabric);
    check("packet_log", output.packet_log, std::string(), network.has_packets);
    check("pcapng", output.pcapng, std::string(), network.has_packets);
    const std::string usual = Output().sample_links;
    if (output.sample_interval == Time() && output.sample_links != usual) {
      useless(output.locations["sample_links"],
              "output.sample_links has no effect without output.sample_interval");
      output.sample_links = usual;
    }
  }

  void threads() {
    if (scenario_.threads == 1 || network_module().has_partitions) return;
    scenario_.warnings.push_back(
        fmt::format("threads: {} asked for, but network model {} runs on one; results are the same",
                    scenario_.threads, scenario_.network.name));
  }

  const Draft& draft_;
  Scenario scenario_;
  const Registries& registries_;
  const bool places_;
};

}  // namespace

Scenario resolve_one(const Draft& draft, const Registries& registries, bool places) {
  return Resolver(draft, registries, places).resolve();
}

}  // namespace weft::sim
