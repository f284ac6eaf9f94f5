#include "sim/scenario/draft.h"

#include <fmt/core.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "sim/scenario/document.h"
#include "sim/scenario/scenario.pb.h"
#include "sim/scenario/seams.h"
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

// In the order of TimelineChoice.
constexpr std::array<const char*, 3> kTimelineChoices = {"auto", "on", "off"};

TimelineChoice read_timeline(const Document& document, const std::string& text) {
  const auto found = std::ranges::find(kTimelineChoices, text);
  if (found == kTimelineChoices.end()) {
    throw InputError(document.location("output.timeline"),
                     fmt::format("timeline: '{}' is none of auto, on, off", text));
  }
  return static_cast<TimelineChoice>(found - kTimelineChoices.begin());
}

Output read_output(const Document& document) {
  const pb::Message& message = section(document.message(), "output");
  Output output;
  output.directory = text_of(message, "directory");
  output.flows = text_of(message, "flows") == "true";
  output.sqlite = text_of(message, "sqlite") == "true";
  output.timeline = read_timeline(document, text_of(message, "timeline"));
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

// One more of a repeated field.
pb::Message& add(pb::Message& message, const std::string& name) {
  return *message.GetReflection()->AddMessage(&message, &field_of(message, name));
}

void write_output(const Output& output, pb::Message& message) {
  if (!output.directory.empty()) set(message, "directory", output.directory);
  set(message, "flows", output.flows ? "true" : "false");
  set(message, "sqlite", output.sqlite ? "true" : "false");
  set(message, "timeline", kTimelineChoices[static_cast<std::size_t>(output.timeline)]);
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

// What jobs and models of jobs have in common.
void write_what(const Job& job, pb::Message& message) {
  if (!job.goal.empty()) set(message, "goal", job.goal);
  write_choice(job.traffic, traffic_seam(), message);
  if (!job.name.empty()) set(message, "name", job.name);
  write_choice(job.placement, placement_seam(), message);
  if (!job.hosts.given.empty()) write_parameters(job.hosts, open(message, "hosts"));
  if (!job.collectives.given.empty()) write_parameters(job.collectives, open(message, "collectives"));
  if (job.compute_scale != 1) set(message, "compute_scale", fmt::format("{}", job.compute_scale));
}

void write_job(const Job& job, pb::Message& message) {
  write_what(job, message);
  if (job.at != Time()) set(message, "at", to_string(job.at));
  if (job.repeat != 1) set(message, "repeat", fmt::format("{}", job.repeat));
  if (job.repeat_for != Time()) set(message, "repeat_for", to_string(job.repeat_for));
  if (job.repeat_until_others_end) set(message, "repeat_until_others_end", "true");
  if (job.estimate != Time()) set(message, "estimate", to_string(job.estimate));
}

void write_job_list(const JobListChoice& list, pb::Message& message) {
  set(message, "file", list.file);
  set(message, "time_scale", fmt::format("{}", list.time_scale));
  set(message, "jobs", fmt::format("{}", list.jobs));
  set(message, "estimate_factor", fmt::format("{}", list.estimate_factor));
  for (const JobModel& model : list.models) {
    pb::Message& written = add(message, "model");
    write_what(model.job, written);
    set(written, "least_ranks", fmt::format("{}", model.least_ranks));
    set(written, "most_ranks", fmt::format("{}", model.most_ranks));
  }
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

}  // namespace

Setting parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw InputError(fmt::format(
        "--set {}: expected field=value, like --set topology.fat_tree.k=8 or --set seed=7", text));
  }
  return {fmt::format("--set {}", text), std::string(text.substr(0, equals)),
          std::string(text.substr(equals + 1))};
}

Draft read_scenario(const Registries& registries, std::string_view text, const std::string& file,
                    std::span<const Setting> settings) {
  const Schema schema(registries);
  Document document(schema);
  document.parse(text, file);
  for (const Setting& setting : settings) document.apply(setting);

  Draft draft;
  draft.jobs = read_jobs(document);
  const pb::Message& root = document.message();
  const pb::FieldDescriptor& plugin = field_of(root, "plugin");
  for (int i = 0; i < root.GetReflection()->FieldSize(root, &plugin); ++i) {
    draft.plugins.push_back(root.GetReflection()->GetRepeatedString(root, &plugin, i));
  }
  for (const Seam& seam : seams()) draft.*seam.choice = read_seam(document, root, "", seam);
  draft.fabric = text_of(root, "fabric");
  draft.fabric_location = document.location("fabric");
  draft.placement = read_seam(document, root, "", placement_seam());
  draft.scheduler = read_seam(document, root, "", scheduler_seam());
  draft.nodes = static_cast<std::uint32_t>(std::stoul(text_of(root, "nodes")));
  draft.nodes_location = document.location("nodes");
  draft.failed = text_of(root, "failed");
  draft.failed_location = document.location("failed");
  draft.job_list = read_job_list(document);
  draft.hosts = read_choice(document, section(root, "hosts"), "hosts", "hosts");
  draft.collectives = read_choice(document, section(root, "collectives"), "collectives", "collectives");
  draft.faults = read_faults(document);
  draft.seed = std::stoull(text_of(root, "seed"));
  draft.threads = static_cast<std::uint32_t>(std::stoul(text_of(root, "threads")));
  if (draft.threads == 0) throw InputError(document.location("threads"), "threads: 0, but one is needed");
  draft.connections = text_of(root, "connections");
  draft.connections_location = document.location("connections");
  draft.connection_idle_location = document.location("connection_idle");
  try {
    draft.connection_idle = parse_time(text_of(root, "connection_idle"));
  } catch (const InputError& error) {
    throw InputError(draft.connection_idle_location, fmt::format("connection_idle: {}", error.what()));
  }
  draft.output = read_output(document);
  draft.limits.time =
      quantity(document, "limits", "time", [](const std::string& value) { return parse_time(value); });
  draft.limits.events = std::stoull(text_of(section(root, "limits"), "events"));
  draft.limits.memory_bytes =
      quantity(document, "limits", "memory", [](const std::string& value) { return parse_bytes(value); });
  return draft;
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

Draft read_scenario_file(const Registries& registries, const std::string& path,
                         std::span<const Setting> settings) {
  return read_scenario(registries, path.empty() ? "" : read_file(path), path, settings);
}

std::string to_text(const Draft& draft, const Registries& registries) {
  const Schema schema(registries);
  const std::unique_ptr<pb::Message> root = schema.new_scenario();
  for (const std::string& plugin : draft.plugins) {
    root->GetReflection()->AddString(root.get(), &field_of(*root, "plugin"), plugin);
  }
  for (const Job& job : draft.jobs) {
    write_job(job, add(*root, "job"));
  }
  if (!draft.job_list.file.empty()) write_job_list(draft.job_list, open(*root, "job_list"));
  write_choice(draft.placement, placement_seam(), *root);
  write_choice(draft.scheduler, scheduler_seam(), *root);
  if (draft.nodes != 0) set(*root, "nodes", fmt::format("{}", draft.nodes));
  if (!draft.failed.empty()) set(*root, "failed", draft.failed);
  if (!draft.fabric.empty()) set(*root, "fabric", draft.fabric);
  for (const Seam& seam : seams()) {
    write_choice(draft.*seam.choice, seam, *root);
  }
  if (!draft.hosts.given.empty()) write_parameters(draft.hosts, open(*root, "hosts"));
  if (!draft.collectives.given.empty()) write_parameters(draft.collectives, open(*root, "collectives"));
  const bool says_connections = !draft.connections.empty();
  if (says_connections) set(*root, "connections", draft.connections);
  if (says_connections || draft.connection_idle != Time()) {
    set(*root, "connection_idle", to_string(draft.connection_idle));
  }
  set(*root, "seed", fmt::format("{}", draft.seed));
  set(*root, "threads", fmt::format("{}", draft.threads));
  write_output(draft.output, open(*root, "output"));
  pb::Message& limits = open(*root, "limits");
  set(limits, "time", to_string(draft.limits.time));
  set(limits, "events", fmt::format("{}", draft.limits.events));
  set(limits, "memory", bytes_to_string(draft.limits.memory_bytes));

  for (const ModuleChoice& fault : draft.faults) {
    write_parameters(fault, add(*root, "fault"));
  }

  pb::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  if (!printer.PrintToString(*root, &text)) throw std::runtime_error("can't print the scenario");
  return text;
}

}  // namespace weft::sim
