#include "sim/scenario/scenario.h"

#include <fmt/core.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sim/scenario/document.h"
#include "sim/scenario/scenario.pb.h"
#include "sim/units/input_file.h"

namespace weft::sim {
namespace {

namespace pb = google::protobuf;

const pb::FieldDescriptor& field_of(const pb::Message& message, const std::string& name) {
  const pb::FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr) throw std::logic_error(message.GetTypeName() + " has no field " + name);
  return *field;
}

const pb::Message& section(const pb::Message& message, const std::string& name) {
  return message.GetReflection()->GetMessage(message, &field_of(message, name));
}

std::string text_of(const pb::Message& message, const std::string& name) {
  return field_text(message, field_of(message, name));
}

// Reads a quantity; an error names the field and its place.
template <typename Parse>
auto quantity(const Document& document, const std::string& section_name, const std::string& name,
              Parse parse) {
  const std::string text = text_of(section(document.message(), section_name), name);
  try {
    return parse(text);
  } catch (const InputError& error) {
    const std::string path = section_name + "." + name;
    throw InputError(document.location(path), fmt::format("{}: {}", path, error.what()));
  }
}

// The fields that are set in a module's message or in a section, as a choice.
ModuleChoice read_choice(const Document& document, const pb::Message& message, const std::string& name,
                         const std::string& path) {
  ModuleChoice choice;
  choice.name = name;
  choice.location = document.location(path);
  std::vector<const pb::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    choice.given[field->name()] = field_text(message, *field);
    choice.locations[field->name()] = document.location(path + "." + field->name());
  }
  return choice;
}

// `parent` holds the seam's field; `prefix` is its own path, "" or "job[0].".
ModuleChoice read_seam(const Document& document, const pb::Message& parent, const std::string& prefix,
                       const Seam& seam) {
  const pb::FieldDescriptor& field = field_of(parent, seam.field);
  if (!parent.GetReflection()->HasField(parent, &field)) return {};
  const pb::Message& message = section(parent, seam.field);
  const std::string path = prefix + seam.field;
  std::vector<const pb::FieldDescriptor*> chosen;
  message.GetReflection()->ListFields(message, &chosen);
  if (chosen.empty()) {
    throw InputError(document.location(path), fmt::format("'{}' names no {}", seam.field, seam.word));
  }
  const pb::Message& module = message.GetReflection()->GetMessage(message, chosen[0]);
  return read_choice(document, module, chosen[0]->name(), path + "." + chosen[0]->name());
}

Time read_time(const Document& document, const pb::Message& message, const std::string& path,
               const std::string& name) {
  try {
    return parse_time(text_of(message, name));
  } catch (const InputError& error) {
    throw InputError(document.location(path + name), fmt::format("{}: {}", name, error.what()));
  }
}

// What jobs and models of jobs have in common; `path` ends in a dot.
Job read_what(const Document& document, const pb::Message& message, const std::string& path) {
  Job job{text_of(message, "goal"), read_seam(document, message, path, traffic_seam()),
          text_of(message, "name"), document.location(path.substr(0, path.size() - 1))};
  job.placement = read_seam(document, message, path, placement_seam());
  job.hosts = read_choice(document, section(message, "hosts"), "hosts", path + "hosts");
  job.collectives =
      read_choice(document, section(message, "collectives"), "collectives", path + "collectives");
  job.compute_scale = std::stod(text_of(message, "compute_scale"));
  return job;
}

std::vector<Job> read_jobs(const Document& document) {
  const pb::Message& root = document.message();
  const pb::FieldDescriptor& field = field_of(root, "job");
  std::vector<Job> jobs;
  for (int i = 0; i < root.GetReflection()->FieldSize(root, &field); ++i) {
    const pb::Message& job = root.GetReflection()->GetRepeatedMessage(root, &field, i);
    const std::string path = fmt::format("job[{}].", i);
    Job& read = jobs.emplace_back(read_what(document, job, path));
    read.at = read_time(document, job, path, "at");
    read.repeat = std::stoull(text_of(job, "repeat"));
    read.repeat_for = read_time(document, job, path, "repeat_for");
    read.repeat_until_others_end = text_of(job, "repeat_until_others_end") == "true";
    read.estimate = read_time(document, job, path, "estimate");
  }
  return jobs;
}

JobListChoice read_job_list(const Document& document) {
  const pb::Message& root = document.message();
  JobListChoice list;
  if (!root.GetReflection()->HasField(root, &field_of(root, "job_list"))) return list;
  const pb::Message& message = section(root, "job_list");
  list.location = document.location("job_list");
  list.file = text_of(message, "file");
  if (list.file.empty()) throw InputError(list.location, "this job_list has no file");
  const auto factor = [&](const std::string& name) {
    const double value = std::stod(text_of(message, name));
    if (std::isfinite(value) && value > 0) return value;
    throw InputError(document.location("job_list." + name), fmt::format("{} must be above 0", name));
  };
  list.time_scale = factor("time_scale");
  list.estimate_factor = factor("estimate_factor");
  list.jobs = std::stoull(text_of(message, "jobs"));
  const pb::FieldDescriptor& field = field_of(message, "model");
  for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
    const pb::Message& model = message.GetReflection()->GetRepeatedMessage(message, &field, i);
    list.models.push_back({read_what(document, model, fmt::format("job_list.model[{}].", i)),
                           static_cast<std::uint32_t>(std::stoul(text_of(model, "least_ranks"))),
                           static_cast<std::uint32_t>(std::stoul(text_of(model, "most_ranks")))});
  }
  return list;
}

std::vector<ModuleChoice> read_faults(const Document& document) {
  const pb::Message& root = document.message();
  const pb::FieldDescriptor& field = field_of(root, "fault");
  std::vector<ModuleChoice> faults;
  for (int i = 0; i < root.GetReflection()->FieldSize(root, &field); ++i) {
    faults.push_back(read_choice(document, root.GetReflection()->GetRepeatedMessage(root, &field, i), "fault",
                                 fmt::format("fault[{}]", i)));
  }
  return faults;
}

Output read_output(const Document& document) {
  const pb::Message& message = section(document.message(), "output");
  Output output;
  output.directory = text_of(message, "directory");
  output.flows = text_of(message, "flows") == "true";
  output.sqlite = text_of(message, "sqlite") == "true";
  output.timeline = text_of(message, "timeline");
  if (output.timeline != "auto" && output.timeline != "on" && output.timeline != "off") {
    throw InputError(document.location("output.timeline"),
                     fmt::format("timeline: '{}' is none of auto, on, off", output.timeline));
  }
  output.sample_interval = quantity(document, "output", "sample_interval",
                                    [](const std::string& value) { return parse_time(value); });
  output.sample_links = text_of(message, "sample_links");
  output.packet_log = text_of(message, "packet_log");
  output.pcapng = text_of(message, "pcapng");
  output.interference = text_of(message, "interference") == "true";
  output.baseline = output.interference || text_of(message, "baseline") == "true";
  output.locations = read_choice(document, message, "output", "output").locations;
  return output;
}

void set(pb::Message& message, const std::string& name, const std::string& text) {
  set_field(message, field_of(message, name), text, {});
}

pb::Message& open(pb::Message& message, const std::string& name) {
  return *message.GetReflection()->MutableMessage(&message, &field_of(message, name));
}

void write_output(const Output& output, pb::Message& message) {
  if (!output.directory.empty()) set(message, "directory", output.directory);
  set(message, "flows", output.flows ? "true" : "false");
  set(message, "sqlite", output.sqlite ? "true" : "false");
  set(message, "timeline", output.timeline);
  set(message, "sample_interval", to_string(output.sample_interval));
  set(message, "sample_links", output.sample_links);
  set(message, "packet_log", output.packet_log);
  set(message, "pcapng", output.pcapng);
  if (output.baseline) set(message, "baseline", "true");
  if (output.interference) set(message, "interference", "true");
}

void write_parameters(const ModuleChoice& choice, pb::Message& message) {
  for (const auto& [name, value] : choice.given) set(message, name, value);
}

void write_choice(const ModuleChoice& choice, const Seam& seam, pb::Message& parent) {
  if (!choice.empty()) write_parameters(choice, open(open(parent, seam.field), choice.name));
}

void write_job(const Job& job, pb::Message& message) {
  if (!job.goal.empty()) set(message, "goal", job.goal);
  write_choice(job.traffic, traffic_seam(), message);
  if (!job.name.empty()) set(message, "name", job.name);
  if (job.at != Time()) set(message, "at", to_string(job.at));
  write_choice(job.placement, placement_seam(), message);
  if (!job.hosts.given.empty()) write_parameters(job.hosts, open(message, "hosts"));
  if (!job.collectives.given.empty()) write_parameters(job.collectives, open(message, "collectives"));
  if (job.compute_scale != 1) set(message, "compute_scale", fmt::format("{}", job.compute_scale));
  if (job.repeat != 1) set(message, "repeat", fmt::format("{}", job.repeat));
  if (job.repeat_for != Time()) set(message, "repeat_for", to_string(job.repeat_for));
  if (job.repeat_until_others_end) set(message, "repeat_until_others_end", "true");
  if (job.estimate != Time()) set(message, "estimate", to_string(job.estimate));
}

// A scenario is a page of text; anything much longer was given by mistake.
constexpr std::uint64_t kMostScenarioBytes = 128 << 20;

std::string read_file(const std::string& path) {
  std::string text = read_input(path, kMostScenarioBytes);
  if (text.starts_with("num_ranks") || text.starts_with("WEFTGOAL")) {
    throw InputError(
        fmt::format("{}: this is a GOAL graph, not a scenario; give it as --goal {}", path, path));
  }
  return text;
}

template <auto kList>
std::vector<const ModuleInfo*> infos_of(const Registries& registries) {
  std::vector<const ModuleInfo*> all;
  for (const auto& module : registries.*kList) all.push_back(&module.info);
  return all;
}

}  // namespace

std::span<const Seam> seams() {
  static constexpr Seam kSeams[] = {
      {"network", "network model", infos_of<&Registries::networks>, &Scenario::network},
      {"topology", "topology", infos_of<&Registries::topologies>, &Scenario::topology},
      {"routing", "routing policy", infos_of<&Registries::routing>, &Scenario::routing},
      {"congestion", "congestion control", infos_of<&Registries::congestion>, &Scenario::congestion},
      {"recovery", "loss recovery", infos_of<&Registries::recoveries>, &Scenario::recovery},
      {"queue", "queue discipline", infos_of<&Registries::queues>, &Scenario::queue},
  };
  return kSeams;
}

const Seam& placement_seam() {
  static constexpr Seam kSeam = {"placement", "placement", infos_of<&Registries::placements>,
                                 &Scenario::placement};
  return kSeam;
}

const Seam& scheduler_seam() {
  static constexpr Seam kSeam = {"scheduler", "scheduler", infos_of<&Registries::schedulers>,
                                 &Scenario::scheduler};
  return kSeam;
}

const Seam& traffic_seam() {
  static constexpr Seam kSeam = {"traffic", "traffic pattern", infos_of<&Registries::traffic>, nullptr};
  return kSeam;
}

const ModuleInfo& find_info(const Seam& seam, const Registries& registries, const ModuleChoice& choice) {
  std::vector<std::string> known;
  for (const ModuleInfo* info : seam.modules(registries)) {
    if (info->name == choice.name) return *info;
    known.push_back(info->name);
  }
  fail_unknown_name(seam.word, choice.name, known, choice.location);
}

const ModuleInfo& hosts_section() {
  static const ModuleInfo info = {
      .name = "hosts",
      .summary =
          "What hosts cost, the same for all; a network model's parameter of the same name counts instead.",
      .source = "T. Hoefler, T. Schneider, A. Lumsdaine, LogGOPSim, LSAP 2010",
      .parameters = {
          {"o", ParameterType::kTime, "1500ns", "Cpu time to send or to receive a message."},
          {"O", ParameterType::kReal, "0", "Cpu time per byte sent or received, in ns per byte.",
           from_to("0", "1000000")},
          {"S", ParameterType::kBytes, "auto",
           "Largest eager message; larger ones use rendezvous. auto: the protocol's eager limit; of "
           "generated "
           "traffic all is eager."},
          {"collective_S", ParameterType::kBytes, "auto",
           "The same of collectives in rounds, if it is less: MPI libraries exchange them by blocking calls, "
           "which end when the data have gone. auto: S; of generated traffic ideal's eager limit if no S is "
           "given."},
          {"protocol", ParameterType::kText, "auto",
           "How messages are sent: a protocol and its parameters, see weft list protocol. auto: that of the "
           "MPI "
           "library which the graph is of, else ideal."},
          {"reduction_per_byte", ParameterType::kReal, "0",
           "Cpu time to combine a byte of received data inside a collective, in ns per byte.",
           from_to("0", "1000000")},
          {"ranks_per_host", ParameterType::kInteger, "1", "Rank r runs on host r / ranks_per_host.",
           from_to("1", "4294967295")},
      }};
  return info;
}

const ModuleInfo& fault_section() {
  static const ModuleInfo info = {
      .name = "fault",
      .summary = "Links that fail, flap, run at a reduced rate or have bit errors.",
      .source = "",
      .parameters = {
          {"link", ParameterType::kText, "",
           "The cables with this name, both directions: 'edge 0.0 / core *', ends as in links.csv; * for "
           "all. 'core * -> edge 0.0': this direction alone, which may be slow or have errors, not be down."},
          {"switch", ParameterType::kText, "", "Or all cables of the switches with this name."},
          {"random_links", ParameterType::kText, "0",
           "Or so many cables, or such a share of them (5%, rounded to one or more), which the seed draws."},
          {"between", ParameterType::kText, "",
           "Where random_links are drawn: cables with this name, * for all; auto: all but those that are a "
           "host's "
           "only one."},
          {"at", ParameterType::kTime, "0s",
           "When it begins; at 0s it was so before the run, and routes go by it."},
          {"until", ParameterType::kTime, "auto", "When it ends, later than `at`; auto: never."},
          {"rate", ParameterType::kReal, "0",
           "What is left of the rate, 0 (down) to 1; by default 1 where bit_error_rate is given."},
          {"bit_error_rate", ParameterType::kReal, "0",
           "Probability that a bit is wrong, which loses its packet; below 1."},
          {"scale_queue", ParameterType::kBoolean, "false",
           "Capacity and marking thresholds of the queue in front of it shrink with the rate, as where they "
           "are "
           "set by port speed, to a full packet at least; false: they stay as they are, in bytes."},
          {"period", ParameterType::kTime, "0s",
           "It comes again after this time, at least until - at; 0: once."},
          {"times", ParameterType::kInteger, "1", "How often it comes in all."},
      }};
  return info;
}

ModuleInfo collectives_section(const Registries& registries) {
  ModuleInfo info{
      .name = "collectives",
      .summary =
          "The algorithm that each kind of collective operation uses: the one named here. auto: the one "
          "that the graph asks for, or the table or the profile chooses, or the first.",
      .source = "",
      .parameters = {}};
  if (!registries.profiles.empty()) {
    std::string known;
    for (const ModuleInfo& profile : registries.profiles) known += (known.empty() ? "" : ", ") + profile.name;
    info.parameters.push_back({"profile", ParameterType::kText, std::string(kByRules),
                               "Whose rules choose by kind, ranks and size. One of: " + known +
                                   ". auto: those of the library which the graph is of (NCCL's where there "
                                   "is a topology); of a graph "
                                   "that names none nccl on nodes of GPUs, else mpich."});
    info.parameters.push_back(
        {"table", ParameterType::kFile, "", "Path of a file of rules that come before the profile's."});
  }
  for (const RegisteredAlgorithm& algorithm : registries.algorithms) {
    const auto same = [&](const ParameterSpec& spec) { return spec.name == algorithm.collective; };
    const auto found = std::find_if(info.parameters.begin(), info.parameters.end(), same);
    if (found == info.parameters.end()) {
      const std::string by_default(registries.profiles.empty() ? algorithm.info.name : kByRules);
      info.parameters.push_back(
          {algorithm.collective, ParameterType::kText, by_default, "One of: " + algorithm.info.name});
    } else {
      found->help += ", " + algorithm.info.name;
    }
  }
  return info;
}

Setting parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw InputError(fmt::format(
        "--set {}: expected field=value, like --set topology.fat_tree.k=8 or --set seed=7", text));
  }
  return {fmt::format("--set {}", text), std::string(text.substr(0, equals)),
          std::string(text.substr(equals + 1))};
}

Scenario read_scenario(const Registries& registries, std::string_view text, const std::string& file,
                       std::span<const Setting> settings) {
  const Schema schema(registries);
  Document document(schema);
  document.parse(text, file);
  for (const Setting& setting : settings) document.apply(setting);

  Scenario scenario;
  scenario.jobs = read_jobs(document);
  const pb::Message& root = document.message();
  const pb::FieldDescriptor& plugin = field_of(root, "plugin");
  for (int i = 0; i < root.GetReflection()->FieldSize(root, &plugin); ++i) {
    scenario.plugins.push_back(root.GetReflection()->GetRepeatedString(root, &plugin, i));
  }
  for (const Seam& seam : seams()) scenario.*seam.choice = read_seam(document, root, "", seam);
  scenario.fabric = text_of(root, "fabric");
  scenario.fabric_location = document.location("fabric");
  scenario.placement = read_seam(document, root, "", placement_seam());
  scenario.scheduler = read_seam(document, root, "", scheduler_seam());
  scenario.nodes = static_cast<std::uint32_t>(std::stoul(text_of(root, "nodes")));
  scenario.nodes_location = document.location("nodes");
  scenario.failed = text_of(root, "failed");
  scenario.failed_location = document.location("failed");
  scenario.job_list = read_job_list(document);
  scenario.hosts = read_choice(document, section(root, "hosts"), "hosts", "hosts");
  scenario.collectives = read_choice(document, section(root, "collectives"), "collectives", "collectives");
  scenario.faults = read_faults(document);
  scenario.seed = std::stoull(text_of(root, "seed"));
  scenario.threads = static_cast<std::uint32_t>(std::stoul(text_of(root, "threads")));
  if (scenario.threads == 0) throw InputError(document.location("threads"), "threads: 0, but one is needed");
  scenario.connections = text_of(root, "connections");
  scenario.connections_location = document.location("connections");
  scenario.connection_idle_location = document.location("connection_idle");
  try {
    scenario.connection_idle = parse_time(text_of(root, "connection_idle"));
  } catch (const InputError& error) {
    throw InputError(scenario.connection_idle_location, fmt::format("connection_idle: {}", error.what()));
  }
  scenario.output = read_output(document);
  scenario.limits.time =
      quantity(document, "limits", "time", [](const std::string& value) { return parse_time(value); });
  scenario.limits.events = std::stoull(text_of(section(root, "limits"), "events"));
  scenario.limits.memory_bytes =
      quantity(document, "limits", "memory", [](const std::string& value) { return parse_bytes(value); });
  return scenario;
}

std::vector<std::string> plugins_named_in(const std::string& path) {
  if (path.empty()) return {};
  pb::TextFormat::Parser parser;
  parser.AllowUnknownField(true);  // of modules
  class Silent final : public pb::io::ErrorCollector {
    void AddError(int, int, const std::string&) override {}
  } silent;
  parser.RecordErrorsTo(&silent);
  weft::scenario::Scenario message;
  (void)parser.ParseFromString(read_file(path), &message);
  return {message.plugin().begin(), message.plugin().end()};
}

Scenario read_scenario_file(const Registries& registries, const std::string& path,
                            std::span<const Setting> settings) {
  return read_scenario(registries, path.empty() ? "" : read_file(path), path, settings);
}

Scenario load_scenario(const Registries& registries, const std::string& path,
                       std::span<const Setting> settings) {
  return resolve(read_scenario_file(registries, path, settings), registries);
}

std::string to_text(const Scenario& scenario, const Registries& registries) {
  const Schema schema(registries);
  const std::unique_ptr<pb::Message> root = schema.new_scenario();
  for (const std::string& plugin : scenario.plugins) {
    root->GetReflection()->AddString(root.get(), &field_of(*root, "plugin"), plugin);
  }
  for (const Job& job : scenario.jobs) {
    write_job(job, *root->GetReflection()->AddMessage(root.get(), &field_of(*root, "job")));
  }
  write_choice(scenario.placement, placement_seam(), *root);
  write_choice(scenario.scheduler, scheduler_seam(), *root);
  if (scenario.nodes != 0) set(*root, "nodes", fmt::format("{}", scenario.nodes));
  if (!scenario.failed.empty()) set(*root, "failed", scenario.failed);
  if (!scenario.fabric.empty()) set(*root, "fabric", scenario.fabric);
  for (const Seam& seam : seams()) {
    write_choice(scenario.*seam.choice, seam, *root);
  }
  if (!scenario.hosts.given.empty()) write_parameters(scenario.hosts, open(*root, "hosts"));
  if (!scenario.collectives.given.empty()) write_parameters(scenario.collectives, open(*root, "collectives"));
  if (!scenario.connections.empty()) {
    set(*root, "connections", scenario.connections);
    set(*root, "connection_idle", to_string(scenario.connection_idle));
  }
  set(*root, "seed", fmt::format("{}", scenario.seed));
  set(*root, "threads", fmt::format("{}", scenario.threads));
  write_output(scenario.output, open(*root, "output"));
  pb::Message& limits = open(*root, "limits");
  set(limits, "time", to_string(scenario.limits.time));
  set(limits, "events", fmt::format("{}", scenario.limits.events));
  set(limits, "memory", bytes_to_string(scenario.limits.memory_bytes));

  for (const ModuleChoice& fault : scenario.faults) {
    write_parameters(fault, *root->GetReflection()->AddMessage(root.get(), &field_of(*root, "fault")));
  }

  pb::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  if (!printer.PrintToString(*root, &text)) throw std::runtime_error("can't print the scenario");
  return text;
}

}  // namespace weft::sim
