#include "sim/scenario/schema.h"

#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "sim/scenario/scenario.pb.h"

namespace weft::sim {
namespace {

namespace pb = google::protobuf;

// Modules' messages are named so that they never meet a field's name.
constexpr std::string_view kModuleSuffix = "_parameters";

pb::FieldDescriptorProto::Type field_type(ParameterType type) {
  switch (type) {
    case ParameterType::kInteger:
      return pb::FieldDescriptorProto::TYPE_INT64;
    case ParameterType::kReal:
      return pb::FieldDescriptorProto::TYPE_DOUBLE;
    case ParameterType::kBoolean:
      return pb::FieldDescriptorProto::TYPE_BOOL;
    case ParameterType::kText:
    case ParameterType::kFile:
    case ParameterType::kNameOrFile:
    case ParameterType::kTopologies:
    case ParameterType::kTime:
    case ParameterType::kBandwidth:
    case ParameterType::kBytes:
      return pb::FieldDescriptorProto::TYPE_STRING;
  }
  throw std::logic_error("unknown parameter type");
}

pb::FieldDescriptorProto& add_parameter(const ParameterSpec& spec, pb::DescriptorProto& message) {
  pb::FieldDescriptorProto& field = *message.add_field();
  field.set_name(spec.name);
  field.set_number(message.field_size());
  field.set_label(pb::FieldDescriptorProto::LABEL_OPTIONAL);
  field.set_type(field_type(spec.type));
  return field;
}

void add_parameters(const ModuleInfo& info, pb::DescriptorProto& message) {
  for (const ParameterSpec& spec : info.parameters) {
    pb::FieldDescriptorProto& field = add_parameter(spec, message);
    if (spec.type == ParameterType::kInteger && spec.default_value == "auto") {
      field.set_default_value(std::to_string(kAutomaticInteger));
    }
    if (spec.type == ParameterType::kReal && spec.default_value == "auto") field.set_default_value("nan");
  }
}

bool takes_endpoints(const Registries& registries, const ModuleInfo& module) {
  return std::ranges::any_of(registries.topologies, [&](const RegisteredTopology& topology) {
    return &topology.info == &module && topology.sized != nullptr;
  });
}

// A oneof with one message for each module of a seam.
void add_modules(const Registries& registries, const Seam& seam_of_modules, const std::string& package,
                 pb::DescriptorProto& seam) {
  const std::vector<const ModuleInfo*> modules = seam_of_modules.modules(registries);
  if (modules.empty()) return;
  seam.add_oneof_decl()->set_name("module");
  for (const ModuleInfo* module : modules) {
    pb::DescriptorProto& nested = *seam.add_nested_type();
    nested.set_name(module->name + std::string(kModuleSuffix));
    add_parameters(*module, nested);
    if (takes_endpoints(registries, *module)) add_parameter({.name = kEndpoints}, nested);
    pb::FieldDescriptorProto& field = *seam.add_field();
    field.set_name(module->name);
    field.set_number(seam.field_size());
    field.set_label(pb::FieldDescriptorProto::LABEL_OPTIONAL);
    field.set_type(pb::FieldDescriptorProto::TYPE_MESSAGE);
    field.set_type_name("." + package + "." + seam.name() + "." + nested.name());
    field.set_oneof_index(0);
  }
}

// Keeps the first error of building the schema; two modules of one name, for instance.
class BuildErrors : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string&, const std::string& element, const pb::Message*, ErrorLocation,
                const std::string& message) override {
    if (first.empty()) first = element + ": " + message;
  }
  void AddWarning(const std::string&, const std::string&, const pb::Message*, ErrorLocation,
                  const std::string&) override {}
  std::string first;
};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// Throws InputError if the file's names do not go together.
std::unique_ptr<const pb::DescriptorPool> make_pool(const pb::FileDescriptorProto& file) {
  auto pool = std::make_unique<pb::DescriptorPool>();
  BuildErrors errors;
  try {
    if (pool->BuildFileCollectingErrors(file, &errors) != nullptr) return pool;
  } catch (...) {
    (void)pool.release();  // one that is half built can't be destroyed: that ends the process
    throw;
  }
  throw InputError("these modules can't be in one scenario: " + errors.first);
}

// scenario.proto, and in it a message for each module.
pb::FileDescriptorProto file_with_modules(const Registries& registries) {
  pb::FileDescriptorProto file;
  scenario::Scenario::descriptor()->file()->CopyTo(&file);
  const auto message = [&](const std::string& name) -> pb::DescriptorProto& {
    for (pb::DescriptorProto& type : *file.mutable_message_type()) {
      if (lower(type.name()) == name) return type;
    }
    throw std::logic_error("scenario.proto has no message for " + name);
  };
  const auto add = [&](const Seam& seam) {
    add_modules(registries, seam, file.package(), message(seam.field));
  };
  for (const Seam& seam : seams()) add(seam);
  add(traffic_seam());
  add(placement_seam());
  add(scheduler_seam());
  add_parameters(hosts_section(), message("hosts"));
  add_parameters(fault_section(), message("fault"));
  add_parameters(collectives_section(registries), message("collectives"));
  return file;
}

}  // namespace

Schema::Schema(const Registries& registries)
    : registries_(registries), pool_(make_pool(file_with_modules(registries))) {}

const RegisteredTopology* Schema::sized_module(const pb::Descriptor& type) const {
  const pb::Descriptor* const seam = type.containing_type();
  if (seam == nullptr || type.FindFieldByName(kEndpoints) == nullptr) return nullptr;
  for (const RegisteredTopology& module : registries_.topologies) {
    if (module.sized != nullptr && module.info.name + std::string(kModuleSuffix) == type.name())
      return &module;
  }
  return nullptr;
}

std::unique_ptr<pb::Message> Schema::new_scenario() const {
  return std::unique_ptr<pb::Message>(factory_.GetPrototype(find("weft.scenario.Scenario"))->New());
}

const Seam* seam_of(const pb::Descriptor& type) {
  if (type.containing_type() != nullptr) return nullptr;
  const std::string name = lower(type.name());
  for (const Seam& seam : seams()) {
    if (name == seam.field) return &seam;
  }
  if (name == placement_seam().field) return &placement_seam();
  if (name == scheduler_seam().field) return &scheduler_seam();
  return name == traffic_seam().field ? &traffic_seam() : nullptr;
}

void fail_unknown_field(const pb::Descriptor& type, std::string_view name, const SourceLocation& location) {
  std::vector<std::string> known;
  for (int i = 0; i < type.field_count(); ++i) known.push_back(type.field(i)->name());
  std::string kind;
  if (const Seam* seam = seam_of(type)) {
    kind = seam->word;
  } else if (type.containing_type() != nullptr) {
    kind = "parameter of " + type.name().substr(0, type.name().size() - kModuleSuffix.size());
  } else {
    kind = "field of " + lower(type.name());
  }
  fail_unknown_name(kind, name, known, location);
}

}  // namespace weft::sim
