#include "goal/import/chakra/node.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "goal/chakra/chakra.pb.h"
#include "goal/import/json/byte_stream.h"
#include "goal/import/json/json_reader.h"
#include "sim/units/printable.h"

namespace weft::goal {
namespace {

namespace pb = ChakraProtoMsg;
constexpr std::uint64_t kMostBytes = 64u << 20;

std::optional<std::int64_t> signed_of(std::uint64_t value) {
  if (!std::in_range<std::int64_t>(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// Producers differ in the kind of number they write. Nothing for what is no whole number.
std::optional<std::int64_t> integer_of(const pb::AttributeProto& attribute) {
  switch (attribute.value_case()) {
    case pb::AttributeProto::kInt32Val:
      return attribute.int32_val();
    case pb::AttributeProto::kInt64Val:
      return attribute.int64_val();
    case pb::AttributeProto::kUint32Val:
      return attribute.uint32_val();
    case pb::AttributeProto::kUint64Val:
      return signed_of(attribute.uint64_val());
    case pb::AttributeProto::kSint32Val:
      return attribute.sint32_val();
    case pb::AttributeProto::kSint64Val:
      return attribute.sint64_val();
    case pb::AttributeProto::kFixed32Val:
      return attribute.fixed32_val();
    case pb::AttributeProto::kFixed64Val:
      return signed_of(attribute.fixed64_val());
    case pb::AttributeProto::kSfixed32Val:
      return attribute.sfixed32_val();
    case pb::AttributeProto::kSfixed64Val:
      return attribute.sfixed64_val();
    case pb::AttributeProto::kDoubleVal:
      return whole_number(attribute.double_val());
    case pb::AttributeProto::kFloatVal:
      return whole_number(static_cast<double>(attribute.float_val()));
    case pb::AttributeProto::kStringVal:
      return whole_number(attribute.string_val());
    default:
      return std::nullopt;
  }
}

[[noreturn]] void fail(const pb::AttributeProto& attribute, const char* expected) {
  const std::string found = attribute.value_case() == pb::AttributeProto::kStringVal
                                ? attribute.string_val()
                                : attribute.ShortDebugString();
  throw InputError(
      fmt::format("attribute '{}' is '{}', where {} is expected", attribute.name(), found, expected));
}

// An attribute without a value is as good as none.
std::optional<std::int64_t> integer_if_set(const pb::AttributeProto& attribute) {
  if (attribute.value_case() == pb::AttributeProto::VALUE_NOT_SET) return std::nullopt;
  const std::optional<std::int64_t> value = integer_of(attribute);
  if (!value) fail(attribute, "a whole number");
  return value;
}

std::optional<bool> boolean_if_set(const pb::AttributeProto& attribute) {
  if (attribute.value_case() == pb::AttributeProto::kBoolVal) return attribute.bool_val();
  if (attribute.value_case() == pb::AttributeProto::kStringVal) {
    const std::string& text = attribute.string_val();
    if (text == "true" || text == "True") return true;
    if (text == "false" || text == "False") return false;
  }
  const std::optional<std::int64_t> value = integer_if_set(attribute);
  if (value && *value != 0 && *value != 1) fail(attribute, "true or false");
  return value ? std::optional<bool>(*value != 0) : std::nullopt;
}

std::uint64_t not_negative(std::int64_t value, std::string_view name) {
  if (value >= 0) return static_cast<std::uint64_t>(value);
  throw InputError(fmt::format("'{}' is {}, where a number from 0 is expected", name, value));
}

// Where an attribute of that name goes to; null for what is not looked at.
std::optional<std::int64_t>* integer_field(ChakraNode& node, std::string_view name) {
  if (name == "comm_type") return &node.comm_type;
  if (name == "comm_size") return &node.comm_size;
  if (name == "comm_src") return &node.comm_src;
  if (name == "comm_dst") return &node.comm_dst;
  if (name == "comm_tag") return &node.comm_tag;
  if (name == "num_ops") return &node.num_ops;
  if (name == "tensor_size") return &node.tensor_size;
  if (name == "stream") return &node.stream;
  if (name == "cpu") return &node.cpu;
  if (name == "nic") return &node.nic;
  if (name == "root" || name == "comm_root") return &node.root;
  if (name == "element_bytes") return &node.element_bytes;
  if (name == "block_bytes") return &node.block_bytes;
  return nullptr;
}

std::uint64_t nanoseconds(std::uint64_t micros, const SourceLocation& where) {
  if (micros > std::uint64_t{1} << 52) throw InputError(where, fmt::format("a duration of {} us", micros));
  return micros * 1000;
}

// Another kind of list than ours, or none, is not taken for an empty one.
std::vector<std::uint64_t> list_of(const pb::AttributeProto& attribute) {
  const bool is_set = attribute.value_case() != pb::AttributeProto::VALUE_NOT_SET;
  if (is_set && !attribute.has_uint64_list()) fail(attribute, "a uint64_list");
  return {attribute.uint64_list().values().begin(), attribute.uint64_list().values().end()};
}

bool involves_part(const pb::AttributeProto& attribute) {
  const bool is_set = attribute.value_case() != pb::AttributeProto::VALUE_NOT_SET;
  if (is_set && !attribute.has_bool_list()) fail(attribute, "a bool_list");
  const auto& dimensions = attribute.bool_list().values();
  return std::any_of(dimensions.begin(), dimensions.end(), [](bool in) { return !in; });
}

// STAGE's files of older kinds have comm_group.
bool is_group_name(std::string_view name) { return name == "pg_name" || name == "comm_group"; }

// "ALL_REDUCE", as the schema has it.
std::optional<std::int64_t> comm_type_of(std::string_view text) {
  pb::CollectiveCommType type = pb::ALL_REDUCE;
  if (!pb::CollectiveCommType_Parse(std::string(text), &type)) return std::nullopt;
  return type;
}

void take_attribute(const pb::AttributeProto& attribute, ChakraNode& node) {
  const std::string& name = attribute.name();
  if (name == "comm_type") {
    node.comm_type = comm_type_of(attribute.string_val());
    if (node.comm_type) return;
  }
  if (std::optional<std::int64_t>* field = integer_field(node, name)) *field = integer_if_set(attribute);
  if (name == "is_cpu_op") node.is_cpu_op = boolean_if_set(attribute);
  if (is_group_name(name)) {
    const auto number = [&] { return integer_if_set(attribute); };
    node.pg_name = attribute.value_case() == pb::AttributeProto::kStringVal ? attribute.string_val()
                   : number()                                               ? std::to_string(*number())
                                                                            : "";
  }
  if (name == "involved_dim") node.involves_part = involves_part(attribute);
  if (name == "duration_nanos") {
    if (const auto ns = integer_if_set(attribute)) node.ns = not_negative(*ns, name);
  }
  if (name == "synchronous") node.synchronous = boolean_if_set(attribute).value_or(false);
  if (name == "v_form") node.v_form = boolean_if_set(attribute).value_or(false);
  if (name == "counts") node.counts = list_of(attribute);
  if (name == "receive_counts") node.receive_counts = list_of(attribute);
  if (name == "start_deps") node.start_deps = list_of(attribute);
  if (name == "end_deps") node.end_deps = list_of(attribute);
  if (name == "algorithm") node.algorithm = attribute.string_val();
}

bool is_read(ChakraNode& node, std::string_view name) {
  constexpr std::array<std::string_view, 10> kOthers = {
      "is_cpu_op", "involved_dim",   "duration_nanos", "synchronous", "v_form",
      "counts",    "receive_counts", "start_deps",     "end_deps",    "algorithm"};
  return integer_field(node, name) != nullptr || is_group_name(name) ||
         std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end();
}

void count(Unread* unread, std::string_view name) {
  if (unread != nullptr) count_unread(*unread, name);
}

[[noreturn]] void fail_twice(std::string_view name) {
  throw InputError(fmt::format("'{}' is given twice, with two values", name));
}

// Attributes of one node that are read, which must outlive this: a name that comes again must have the same
// value.
class ReadAttributes {
 public:
  void take(const pb::AttributeProto& attribute, ChakraNode& node) {
    for (const pb::AttributeProto* before : read_) {
      if (before->name() != attribute.name()) continue;
      if (before->SerializeAsString() == attribute.SerializeAsString()) return;
      fail_twice(attribute.name());
    }
    take_attribute(attribute, node);
    read_.push_back(&attribute);
  }

 private:
  std::vector<const pb::AttributeProto*> read_;
};

ChakraNode from_message(const pb::Node& message, const SourceLocation& where, Unread* unread) {
  ChakraNode node;
  node.id = message.id();
  node.name = message.name().substr(0, 80);
  node.type = message.type();
  node.ctrl_deps.assign(message.ctrl_deps().begin(), message.ctrl_deps().end());
  node.data_deps.assign(message.data_deps().begin(), message.data_deps().end());
  node.ns = nanoseconds(message.duration_micros(), where);
  node.tells_time = true;
  ReadAttributes attributes;
  for (const pb::AttributeProto& attribute : message.attr()) {
    if (!is_read(node, attribute.name())) {
      count(unread, attribute.name());
      continue;
    }
    try {
      attributes.take(attribute, node);
    } catch (const InputError& error) {
      throw InputError(where, fmt::format("node {}: {}", node.id, error.what()));
    }
  }
  return node;
}

// The length before a message; nothing at the end of the file.
std::optional<std::uint64_t> read_length(ByteStream& bytes) {
  if (bytes.at_end()) return std::nullopt;
  const SourceLocation where{.file = bytes.path(),
                             .byte_offset = static_cast<std::int64_t>(bytes.position())};
  std::uint64_t length = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes.at_end()) throw InputError(where, "the file ends in the length of a message");
    const auto byte = static_cast<unsigned char>(bytes.take());
    length |= std::uint64_t{byte & 127u} << shift;
    if (byte < 128) {
      if (length <= kMostBytes) return length;
      break;
    }
  }
  throw InputError(where,
                   fmt::format("a message of more than {} MiB; expected a Chakra trace", kMostBytes >> 20));
}

// The bytes of a message, taken as they are found: a length may promise more than there is.
void read_message(ByteStream& bytes, std::uint64_t length, std::string& text) {
  const std::uint64_t at = bytes.position();
  text.clear();
  while (text.size() < length) {
    const std::size_t before = text.size();
    const std::size_t piece = std::min<std::size_t>(length - before, 1u << 20);
    text.resize(before + piece);
    const std::size_t got = bytes.read(text.data() + before, piece);
    if (got == piece) continue;
    throw InputError({.file = bytes.path(), .byte_offset = static_cast<std::int64_t>(at)},
                     fmt::format("the file ends within a message of {} bytes, {} of which are there", length,
                                 before + got));
  }
}

void read_messages(const std::string& path,
                   const std::function<void(ChakraNode&, const SourceLocation&)>& take, Unread* unread) {
  ByteStream bytes(path);
  std::string text;
  bool first = true;
  while (const auto length = read_length(bytes)) {
    const SourceLocation where{.file = path, .byte_offset = static_cast<std::int64_t>(bytes.position())};
    read_message(bytes, *length, text);
    if (first) {
      pb::GlobalMetadata metadata;
      if (!metadata.ParseFromString(text)) throw InputError(where, "not a GlobalMetadata message of Chakra");
      first = false;
      continue;
    }
    pb::Node message;
    if (!message.ParseFromString(text)) throw InputError(where, "not a Node message of Chakra");
    ChakraNode node = from_message(message, where, unread);
    take(node, where);
  }
  if (first) throw InputError({path}, "is empty; expected a Chakra trace");
}

// The next of the JSON objects that a file has one after the other; nothing at its end.
std::optional<std::string> next_object(ByteStream& bytes, SourceLocation& where) {
  while (!bytes.at_end() && std::string_view(" \t\r\n").find(bytes.peek()) != std::string_view::npos)
    bytes.take();
  if (bytes.at_end()) return std::nullopt;
  where = bytes.location();
  if (bytes.peek() != '{') throw InputError(where, "expected a message of Chakra's in braces");
  std::string text;
  bool in_string = false;
  for (int depth = 0; text.empty() || depth > 0;) {
    if (bytes.at_end()) throw InputError(where, "the file ends within a message");
    if (text.size() == kMostBytes) {
      throw InputError(where, fmt::format("a message of more than {} MiB", kMostBytes >> 20));
    }
    const char c = bytes.take();
    text += c;
    if (in_string && c == '\\' && !bytes.at_end()) text += bytes.take();
    if (c == '"') in_string = !in_string;
    if (!in_string && (c == '{' || c == '[')) ++depth;
    if (!in_string && (c == '}' || c == ']')) --depth;
  }
  return text;
}

// Protobuf's JSON form of a message: names in camel case, 64-bit numbers in quotes.
template <typename Message>
void parse_object(const std::string& text, const char* what, const SourceLocation& where, Message& message) {
  const auto status = google::protobuf::util::JsonStringToMessage(text, &message);
  if (status.ok()) return;
  throw InputError(where, fmt::format("not a {} message of Chakra: {}", what,
                                      printable(std::string(status.message()).substr(0, 200))));
}

void read_objects(const std::string& path,
                  const std::function<void(ChakraNode&, const SourceLocation&)>& take, Unread* unread) {
  ByteStream bytes(path);
  SourceLocation where;
  bool first = true;
  while (const auto text = next_object(bytes, where)) {
    if (std::exchange(first, false)) {
      pb::GlobalMetadata metadata;
      parse_object(*text, "GlobalMetadata", where, metadata);
      continue;
    }
    pb::Node message;
    parse_object(*text, "Node", where, message);
    ChakraNode node = from_message(message, where, unread);
    take(node, where);
  }
}

std::string lower(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c != '_') made += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return made;
}

void take_deps(JsonValue list, std::vector<std::uint64_t>& deps, const SourceLocation& where) {
  for (const JsonValue dep : list.items()) {
    const auto id = dep.unsigned_integer();
    if (!id)
      throw InputError(where, fmt::format("'{}' among a node's dependencies; expected node ids", dep.text()));
    deps.push_back(*id);
  }
}

// 4 or "COMP_NODE".
int node_type_of(JsonValue type, const SourceLocation& where) {
  if (type.is_string() && !type.integer()) {
    pb::NodeType named = pb::INVALID_NODE;
    if (pb::NodeType_Parse(std::string(type.text()), &named)) return named;
    throw InputError(where,
                     fmt::format("'{}' is '{}', where a number from 1 to 7 or a name like COMP_NODE is "
                                 "expected",
                                 type.key(), type.text()));
  }
  return static_cast<int>(std::clamp<std::int64_t>(type.integer_or(0), 0, 99));
}

void take_integer(JsonValue member, ChakraNode& node, std::optional<std::int64_t>& field) {
  if (member.kind() == JsonKind::kNull) return;
  if (&field == &node.comm_type && member.is_string()) {
    field = comm_type_of(member.text());
    if (field) return;
  }
  field = member.integer_or(0);
}

// [{"name": "comm_size", "int64_val": 8}, …], as protobuf's form has attributes.
void take_attributes(JsonValue list, ChakraNode& node, Unread* unread) {
  pb::Node kept;
  ReadAttributes attributes;
  for (const JsonValue item : list.items()) {
    const std::string_view name = item["name"].text();
    if (!is_read(node, name)) {
      count(unread, name);
      continue;
    }
    pb::AttributeProto& attribute = *kept.add_attr();
    attribute.set_name(std::string(name));
    for (const JsonValue value : item.items()) {
      if (!lower(value.key()).ends_with("val")) continue;
      if (value.is_string() || value.kind() == JsonKind::kNumber) {
        attribute.set_string_val(std::string(value.text()));
      } else if (value.kind() == JsonKind::kTrue || value.kind() == JsonKind::kFalse) {
        attribute.set_bool_val(value.kind() == JsonKind::kTrue);
      }
    }
    if (attribute.value_case() == pb::AttributeProto::VALUE_NOT_SET) {
      count(unread, name);
    } else {
      attributes.take(attribute, node);
    }
  }
}

void expect_list(JsonValue member, const SourceLocation& where) {
  if (member.is_array() || member.kind() == JsonKind::kNull) return;
  throw InputError(where, fmt::format("'{}' is no list", member.key()));
}

// A member that is read: its name in lower case without underscores, and its value.
using ReadMember = std::pair<std::string, JsonValue>;

// Members with readers of their own.
bool is_member(std::string_view name) {
  constexpr std::array<std::string_view, 11> kMembers = {
      "id",      "name",           "nodetype", "type",   "ctrldeps",   "datadeps",
      "runtime", "durationmicros", "iscpuop",  "pgname", "involveddim"};
  return std::find(kMembers.begin(), kMembers.end(), name) != kMembers.end();
}

// A name that comes again must have the same value; a list can't come again. Both names of a time are one.
void check_once(std::vector<ReadMember>& read, std::string name, JsonValue member) {
  if (name == "runtime") name = "durationmicros";
  for (const auto& [before, value] : read) {
    const bool same = value.kind() == member.kind() && value.text() == member.text();
    if (before == name && (!same || value.is_array() || value.is_object())) fail_twice(member.key());
  }
  read.emplace_back(std::move(name), member);
}

// Names of members differ between producers in case and underscores.
ChakraNode from_json(JsonValue value, const SourceLocation& where, Unread* unread) {
  ChakraNode node;
  bool has_id = false;
  std::vector<ReadMember> read;
  for (const JsonValue member : value.items()) {
    const std::string name = lower(member.key());
    if (is_member(name) || integer_field(node, member.key()) != nullptr) check_once(read, name, member);
    if (name == "id") {
      has_id = true;
      node.id = member.unsigned_or(0);
    } else if (name == "name") {
      node.name = member.text().substr(0, 80);
    } else if (name == "nodetype" || name == "type") {
      node.type = node_type_of(member, where);
    } else if (name == "attr" && member.is_array()) {
      take_attributes(member, node, unread);
    } else if (name == "ctrldeps" || name == "datadeps") {
      expect_list(member, where);
      take_deps(member, name == "ctrldeps" ? node.ctrl_deps : node.data_deps, where);
    } else if (name == "runtime" || name == "durationmicros") {
      if (member.kind() == JsonKind::kNull) continue;
      const auto ns = member.thousandths();
      if (!ns || *ns < 0) {
        throw InputError(where, fmt::format("'{}' is '{}', where a number of microseconds is expected",
                                            member.key(), member.text()));
      }
      node.ns =
          nanoseconds(static_cast<std::uint64_t>(*ns) / 1000, where) + static_cast<std::uint64_t>(*ns) % 1000;
      node.tells_time = true;
    } else if (name == "iscpuop") {
      if (member.kind() != JsonKind::kNull) node.is_cpu_op = member.boolean_or(false);
    } else if (name == "pgname" || name == "commgroup") {
      node.pg_name = member.text();
    } else if (name == "involveddim") {
      expect_list(member, where);
      for (const JsonValue in : member.items()) node.involves_part |= !in.boolean_or(true);
    } else if (std::optional<std::int64_t>* field = integer_field(node, member.key())) {
      take_integer(member, node, *field);
    } else {
      count(unread, member.key());
    }
  }
  if (!has_id) throw InputError(where, "a node without an id");
  return node;
}

bool is_json(const std::string& path) {
  ByteStream bytes(path);
  char c = bytes.peek();
  while (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
    bytes.take();
    c = bytes.peek();
  }
  // '{' may be the length of a message; a Chakra message does not go on with a quote or white space.
  if (c != '{') return false;
  bytes.take();
  c = bytes.peek();
  return c == '"' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

std::string head_of(const std::string& path) {
  ByteStream bytes(path);
  std::string head(4096, '\0');
  head.resize(bytes.read(head.data(), head.size()));
  return head;
}

// Messages in JSON one after the other, as chakra_jsonizer writes them.
bool has_objects(std::string_view head) {
  const auto has = [&](std::string_view word) { return head.find(word) != head.npos; };
  return !has("\"workload_graph\"") &&
         (has("\"durationMicros\"") || has("\"ctrlDeps\"") || has("\"dataDeps\"") || has("_NODE\""));
}

}  // namespace

void read_chakra(const std::string& path, const std::function<void(ChakraNode&, const SourceLocation&)>& take,
                 Unread* unread) {
  if (!is_json(path)) return read_messages(path, take, unread);
  if (has_objects(head_of(path))) return read_objects(path, take, unread);
  bool any = false;
  JsonHandlers handlers;
  handlers.element = [&](std::string_view, JsonValue value, const SourceLocation& where) {
    if (!value.is_object()) throw InputError(where, "expected a node in braces");
    ChakraNode node = from_json(value, where, unread);
    take(node, where);
    any = true;
    return true;
  };
  read_json(path, {"workload_graph"}, handlers);
  if (!any) throw InputError({path}, "no nodes in \"workload_graph\"; expected a Chakra trace");
}

bool is_of_stage(const std::string& path) {
  ByteStream bytes(path);
  pb::GlobalMetadata metadata;
  if (is_json(path)) {
    SourceLocation where;
    if (!has_objects(head_of(path))) return false;
    const auto text = next_object(bytes, where);
    if (!text || !google::protobuf::util::JsonStringToMessage(*text, &metadata).ok()) return false;
  } else {
    std::string text;
    const auto length = read_length(bytes);
    if (!length) return false;
    read_message(bytes, *length, text);
    if (!metadata.ParseFromString(text)) return false;
  }
  return std::any_of(metadata.attr().begin(), metadata.attr().end(), [](const pb::AttributeProto& attribute) {
    return attribute.name() == "schema" && attribute.string_val() == "symbolic_tensor_network";
  });
}

bool looks_like_chakra(const std::string& path) {
  try {
    if (is_json(path)) {
      const std::string head = head_of(path);
      return head.find("\"workload_graph\"") != head.npos || has_objects(head);
    }
    if (!path.ends_with(".et") && !path.ends_with(".et.gz")) return false;
    ByteStream bytes(path);
    const auto length = read_length(bytes);
    if (!length || *length > 1u << 20) return false;
    std::string text;
    read_message(bytes, *length, text);
    return pb::GlobalMetadata().ParseFromString(text);
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace weft::goal
