#include "sim/scenario/document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/units/brackets.h"

namespace weft::sim {
namespace {

namespace pb = google::protobuf;
using pb::FieldDescriptor;

template <typename Number>
Number number(const std::string& text, const FieldDescriptor& field, const char* expected,
              const SourceLocation& location) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size() ||
      !std::isfinite(static_cast<double>(value))) {
    throw InputError(location, fmt::format("{}: '{}' is not {}", field.name(), text, expected));
  }
  if (error != std::errc()) {
    throw InputError(location, fmt::format("{}: '{}' is out of range", field.name(), text));
  }
  return value;
}

std::optional<bool> boolean(const std::string& text) {
  if (text == "true" || text == "1" || text == "yes") return true;
  if (text == "false" || text == "0" || text == "no") return false;
  return std::nullopt;
}

// Keeps the first error of the parser; the others often follow from it.
class ParseErrors : public pb::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!first.empty()) return;
    first = message;
    at_line = line;
    at_column = column;
  }
  void AddWarning(int, int, const std::string&) override {}
  std::string first;
  int at_line = -1, at_column = -1;  // from 0; -1: not known
};

// `text` between the n-th and the next double quotes, from 0.
std::string quoted(const std::string& text, int n) {
  std::size_t begin = text.find('"');
  for (int i = 0; i < 2 * n && begin != std::string::npos; ++i) begin = text.find('"', begin + 1);
  if (begin == std::string::npos) return "";
  return text.substr(begin + 1, text.find('"', begin + 1) - begin - 1);
}

// "job[2]" as "job" and 2; 0 where no index is given.
std::pair<std::string, int> split_index(std::string_view text, const SourceLocation& where) {
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return {std::string(text), 0};
  int index = -1;
  const std::string_view inside = text.substr(bracket + 1);
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  if (error != std::errc() || index < 0 || std::string_view(end, inside.data() + inside.size()) != "]") {
    throw InputError(where, fmt::format("'{}' is no field; one of several is named like job[1]", text));
  }
  return {std::string(text.substr(0, bracket)), index};
}

// Where `name` stands before a place that the parser reports after having read it. All from 0.
void step_back_to(std::string_view text, const std::string& name, int& line, int& column) {
  std::size_t offset = 0;
  for (int i = 0; i < line; ++i) {
    const std::size_t end = text.find('\n', offset);
    if (end == std::string_view::npos) break;
    offset = end + 1;
  }
  offset = std::min(text.size(), offset + static_cast<std::size_t>(column));
  const std::size_t found = text.rfind(name, offset);
  if (found == std::string_view::npos) return;
  const std::string_view before = text.substr(0, found);
  line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_start = before.rfind('\n');
  column = static_cast<int>(found - (line_start == std::string_view::npos ? 0 : line_start + 1));
}

// Texts that are mostly whole numbers ("5%" and "node*" aren't) may be written as such, without quotes. Puts
// quotes around one that the parser has stumbled over; false if it was something else.
bool quote_number(std::string& text, const ParseErrors& errors) {
  constexpr std::string_view kText = "Expected string, got: ";
  if (!errors.first.starts_with(kText)) return false;
  const std::string number = errors.first.substr(kText.size());
  if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) return false;
  std::size_t at = 0;
  for (int line = 0; line < errors.at_line; ++line) at = text.find('\n', at) + 1;
  at += static_cast<std::size_t>(errors.at_column);
  const std::size_t end = text.find_last_not_of(" \t\r\n:", at - 1) + 1;
  const std::string_view before = std::string_view(text).substr(0, end);
  if (!before.ends_with("random_links") && !before.ends_with("hosts")) return false;
  text.replace(at, number.size(), '"' + number + '"');
  return true;
}

// The parser's message in words for people who don't know Protocol Buffers.
[[noreturn]] void fail_parse(const Schema& schema, std::string_view text, const std::string& file,
                             ParseErrors& errors) {
  const std::string& message = errors.first;
  const auto where = [&] {
    return SourceLocation{.file = file, .line = errors.at_line + 1, .column = errors.at_column + 1};
  };
  if (message.starts_with("Message type \"")) {
    const std::string type = quoted(message, 0), name = quoted(message, 1);
    if (const pb::Descriptor* descriptor = schema.find(type)) {
      step_back_to(text, name, errors.at_line, errors.at_column);
      fail_unknown_field(*descriptor, name, where());
    }
  }
  if (message.starts_with("Non-repeated field \"")) {
    const std::string name = quoted(message, 0);
    step_back_to(text, name, errors.at_line, errors.at_column);
    throw InputError(where(), fmt::format("'{}' is given twice", name));
  }
  if (message.starts_with("Field \"") && message.find("oneof") != std::string::npos) {
    const std::string name = quoted(message, 0);
    step_back_to(text, name, errors.at_line, errors.at_column);
    throw InputError(where(), fmt::format("'{}' is given beside '{}'; choose one", name, quoted(message, 1)));
  }
  constexpr std::string_view kText = "Expected string, got: ";
  if (message.starts_with(kText)) {
    throw InputError(where(), fmt::format("found {} where text in quotes is expected, like \"400Gbps\"",
                                          message.substr(kText.size())));
  }
  constexpr std::string_view kInteger = "Expected integer, got: ";
  if (message.starts_with(kInteger)) {
    const std::string found = message.substr(kInteger.size());
    throw InputError(where(), found == "-" ? "found a minus sign where a number of 0 or more is expected"
                                           : fmt::format("found {} where a whole number is expected", found));
  }
  if (message.starts_with("Integer out of range")) {
    throw InputError(where(), "this number is out of range");
  }
  if (message == "Need space between number and identifier.") {
    throw InputError(where(), "a quantity with a unit is text in quotes, like \"400Gbps\"");
  }
  throw InputError(where(), message);
}

void collect_locations(const pb::Message& message, const pb::TextFormat::ParseInfoTree& tree,
                       const std::string& file, const std::string& prefix,
                       std::map<std::string, SourceLocation>& locations) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int count = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const int index = field->is_repeated() ? i : -1;
      const std::string path =
          prefix + field->name() + (field->is_repeated() ? fmt::format("[{}]", i) : std::string());
      const auto place = tree.GetLocation(field, index);
      locations[path] = {.file = file, .line = place.line + 1, .column = place.column + 1};
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      const pb::Message& child = field->is_repeated()
                                     ? message.GetReflection()->GetRepeatedMessage(message, field, i)
                                     : message.GetReflection()->GetMessage(message, field);
      if (const auto* nested = tree.GetTreeForNested(field, index)) {
        collect_locations(child, *nested, file, path + ".", locations);
      }
    }
  }
}

std::vector<std::string> field_names(const pb::Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

}  // namespace

void Document::parse(std::string_view given, const std::string& file) {
  std::string text(given);
  for (;;) {
    pb::TextFormat::Parser parser;
    pb::TextFormat::ParseInfoTree tree;
    ParseErrors errors;
    parser.RecordErrorsTo(&errors);
    parser.WriteLocationsTo(&tree);
    if (parser.ParseFromString(text, message_.get())) {
      collect_locations(*message_, tree, file, "", locations_);
      break;
    }
    if (!quote_number(text, errors)) fail_parse(schema_, given, file, errors);
    message_->Clear();
  }
  size_topology();
}

void Document::size_topology() {
  const FieldDescriptor* field = message_->GetDescriptor()->FindFieldByName("topology");
  if (!message_->GetReflection()->HasField(*message_, field)) return;
  pb::Message& seam = *message_->GetReflection()->MutableMessage(message_.get(), field);
  std::vector<const FieldDescriptor*> chosen, given;
  seam.GetReflection()->ListFields(seam, &chosen);
  if (chosen.empty()) return;
  pb::Message& module = *seam.GetReflection()->MutableMessage(&seam, chosen[0]);
  module.GetReflection()->ListFields(module, &given);
  const std::string prefix = "topology." + chosen[0]->name() + ".";
  const auto place = locations_.find(prefix + kEndpoints);
  const RegisteredTopology* const sized = schema_.sized_module(*module.GetDescriptor());
  if (place == locations_.end() || sized == nullptr) return;
  const SourceLocation where = place->second;
  ModuleChoice choice{.name = sized->info.name, .given = {}, .location = where, .locations = {}};
  for (const FieldDescriptor* parameter : given) {
    choice.given[parameter->name()] = field_text(module, *parameter);
  }
  std::map<std::string, std::string> sizes = sized->sized(choice).given;
  for (const auto& [name, value] : choice.given) sizes.erase(name);
  module.GetReflection()->ClearField(&module, module.GetDescriptor()->FindFieldByName(kEndpoints));
  set_fields(module, prefix, where, std::move(sizes));
}

SourceLocation Document::location(const std::string& path) const {
  const auto found = locations_.find(path);
  return found == locations_.end() ? SourceLocation() : found->second;
}

void Document::apply(const Setting& setting) {
  if (setting.path == "fault") return add_fault(setting);
  if (setting.path == "job" || setting.path == "job_list.model") return add_to(setting.path, setting);
  apply_in(*message_, "", setting.path, setting);
}

void Document::apply_in(pb::Message& parent, std::string path, std::string_view rest,
                        const Setting& setting) {
  const SourceLocation where{.file = setting.flag};
  pb::Message* message = &parent;
  for (;;) {
    const std::size_t dot = rest.find('.');
    const auto [name, index] = split_index(rest.substr(0, dot), where);
    const bool last = dot == std::string_view::npos;
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name);
    if (field == nullptr) fail_unknown_field(*message->GetDescriptor(), name, where);
    path += (path.empty() ? "" : ".") + name + (field->is_repeated() ? fmt::format("[{}]", index) : "");
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!last) throw InputError(where, fmt::format("'{}' is a value and has no fields", name));
      return set_fields(*message, path.substr(0, path.rfind('.') + 1), where, {{name, setting.value}});
    }
    const pb::Reflection& reflection = *message->GetReflection();
    if (!field->is_repeated()) {
      keep_choice(*message, *field, path.substr(0, path.rfind('.')), setting);
      message = reflection.MutableMessage(message, field);
    } else if (const int there = reflection.FieldSize(*message, field); index < there) {
      message = reflection.MutableRepeatedMessage(message, field, index);
    } else if (index == 0) {
      message = reflection.AddMessage(message, field);
    } else {
      throw InputError(
          where, fmt::format("there is no {}[{}]; they count from 0, and there are {}", name, index, there));
    }
    locations_.emplace(path, where);
    if (last) break;
    rest.remove_prefix(dot + 1);
  }
  if (seam_of(*message->GetDescriptor()) == nullptr) {
    throw InputError(where, fmt::format("'{}' has fields of its own; set one of them: {}", setting.path,
                                        fmt::join(field_names(*message->GetDescriptor()), ", ")));
  }
  apply_short_form(*message, path, setting);
}

// A setting inside of a module may choose it against the file, but not against another setting: which of the
// two counts would be a matter of taste. Who names the module anew, as a sweep does, means that.
void Document::keep_choice(const pb::Message& seam_message, const FieldDescriptor& field,
                           const std::string& seam_path, const Setting& setting) const {
  const pb::OneofDescriptor* choices = field.containing_oneof();
  if (choices == nullptr) return;
  const FieldDescriptor* chosen =
      seam_message.GetReflection()->GetOneofFieldDescriptor(seam_message, choices);
  if (chosen == nullptr || chosen == &field) return;
  const auto place = locations_.find(seam_path + "." + chosen->name());
  if (place == locations_.end() || !place->second.file.starts_with("--")) return;
  throw InputError({.file = setting.flag}, fmt::format("{} is {} by {}: give one of the two", seam_path,
                                                       chosen->name(), place->second.file));
}

void Document::apply_short_form(pb::Message& seam_message, const std::string& seam_path,
                                const Setting& setting) {
  const SourceLocation where{.file = setting.flag};
  ModuleChoice choice;
  try {
    choice = parse_module_choice(setting.value);
  } catch (const InputError& error) {
    throw InputError(where, error.what());
  }
  const FieldDescriptor* field = seam_message.GetDescriptor()->FindFieldByName(choice.name);
  if (field == nullptr) fail_unknown_field(*seam_message.GetDescriptor(), choice.name, where);
  pb::Message& module = *seam_message.GetReflection()->MutableMessage(&seam_message, field);
  locations_[seam_path + "." + choice.name] = where;
  set_fields(module, seam_path + "." + choice.name + ".", where, std::move(choice.given));
}

void Document::add_fault(const Setting& setting) {
  const pb::Reflection& reflection = *message_->GetReflection();
  const FieldDescriptor* field = message_->GetDescriptor()->FindFieldByName("fault");
  const SourceLocation where{.file = setting.flag};
  const std::string path = fmt::format("fault[{}]", reflection.FieldSize(*message_, field));
  ModuleChoice choice;
  try {
    choice = parse_module_choice("fault:" + setting.value);
  } catch (const InputError&) {
    throw InputError(where,
                     fmt::format("'{}' is no fault; expected field=value,field=value, each field once, like "
                                 "\"link=edge 0.0 / aggregation 0.1,at=10us,until=50us\"",
                                 setting.value));
  }
  locations_[path] = where;
  set_fields(*reflection.AddMessage(message_.get(), field), path + ".", where, std::move(choice.given));
}

void Document::add_to(const std::string& list, const Setting& setting) {
  const SourceLocation where{.file = setting.flag};
  pb::Message* parent = message_.get();
  const std::size_t dot = list.find('.');
  if (dot != std::string::npos) {
    const std::string outer = list.substr(0, dot);
    parent = parent->GetReflection()->MutableMessage(parent, parent->GetDescriptor()->FindFieldByName(outer));
    locations_.emplace(outer, where);
  }
  const pb::Reflection& reflection = *parent->GetReflection();
  const FieldDescriptor* field =
      parent->GetDescriptor()->FindFieldByName(dot == std::string::npos ? list : list.substr(dot + 1));
  const std::string path = fmt::format("{}[{}]", list, reflection.FieldSize(*parent, field));
  pb::Message& job = *reflection.AddMessage(parent, field);
  locations_[path] = where;
  bool is_first = true;
  for (const std::string_view piece : split_outside_brackets(setting.value, ',')) {
    const std::size_t equals = piece.substr(0, piece.find('[')).find('=');
    std::string_view name = is_first ? "goal" : "", value = piece;
    if (equals != std::string_view::npos) {
      name = piece.substr(0, equals);
      value = without_brackets(piece.substr(equals + 1));
    }
    if (name.empty() || value.empty()) {
      throw InputError(where, fmt::format("'{}' is not field=value; expected a GOAL file and fields, like "
                                          "\"lj.weft,placement=packed,at=1ms\", or only fields, like "
                                          "\"traffic=[shift:size=1MB,ranks=8],repeat=10\"",
                                          piece));
    }
    is_first = false;
    if (name == "ranks_per_node") name = "hosts.ranks_per_host";
    apply_in(job, path, name, {setting.flag, std::string(name), std::string(value)});
  }
}

void Document::set_fields(pb::Message& message, const std::string& prefix, const SourceLocation& where,
                          std::map<std::string, std::string> values) {
  const RegisteredTopology* const sized = schema_.sized_module(*message.GetDescriptor());
  if (sized != nullptr && values.contains(kEndpoints)) {
    const ModuleChoice choice{
        .name = sized->info.name, .given = std::move(values), .location = where, .locations = {}};
    values = sized->sized(choice).given;
  }
  for (const auto& [name, value] : values) {
    const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
    if (field == nullptr) fail_unknown_field(*message.GetDescriptor(), name, where);
    set_field(message, *field, value, where);
    locations_[prefix + name] = where;
  }
}

std::string field_text(const pb::Message& message, const FieldDescriptor& field) {
  const pb::Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      return fmt::format("{}", reflection.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return fmt::format("{}", reflection.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return fmt::format("{}", reflection.GetUInt32(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::format("{}", reflection.GetDouble(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(message, &field);
    default:
      throw std::logic_error("a scenario has no fields of this type: " + field.full_name());
  }
}

void set_field(pb::Message& message, const FieldDescriptor& field, const std::string& text,
               const SourceLocation& location) {
  const pb::Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      if (text == "auto" && field.default_value_int64() == kAutomaticInteger) {
        return reflection.ClearField(&message, &field);
      }
      reflection.SetInt64(&message, &field, number<std::int64_t>(text, field, "a whole number", location));
      return;
    case FieldDescriptor::CPPTYPE_UINT64:
      reflection.SetUInt64(&message, &field,
                           number<std::uint64_t>(text, field, "a whole number of 0 or more", location));
      return;
    case FieldDescriptor::CPPTYPE_UINT32:
      reflection.SetUInt32(&message, &field,
                           number<std::uint32_t>(text, field, "a whole number of 0 or more", location));
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      if (text == "auto" && std::isnan(field.default_value_double())) {
        return reflection.ClearField(&message, &field);
      }
      reflection.SetDouble(&message, &field, number<double>(text, field, "a number", location));
      return;
    case FieldDescriptor::CPPTYPE_BOOL: {
      const std::optional<bool> value = boolean(text);
      if (!value) {
        throw InputError(location, fmt::format("{}: '{}' is not true or false", field.name(), text));
      }
      reflection.SetBool(&message, &field, *value);
      return;
    }
    case FieldDescriptor::CPPTYPE_STRING:
      reflection.SetString(&message, &field, text);
      return;
    default:
      throw std::logic_error("a scenario has no fields of this type: " + field.full_name());
  }
}

}  // namespace weft::sim
