#include "goal/import/chakra/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "goal/chakra/chakra.pb.h"
#include "goal/import/json/byte_stream.h"
#include "goal/import/json/json_reader.h"

namespace weft::goal {
namespace {

namespace pb = ChakraProtoMsg;
constexpr std::uint64_t kMostBytes = 64u << 20;

std::int64_t at_most(std::uint64_t value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(value, kMost));
}

// Producers differ in the kind of whole number they write.
std::optional<std::int64_t> integer_of(const pb::AttributeProto& attribute) {
  switch (attribute.value_case()) {
    case pb::AttributeProto::kInt32Val:
      return attribute.int32_val();
    case pb::AttributeProto::kInt64Val:
      return attribute.int64_val();
    case pb::AttributeProto::kUint32Val:
      return attribute.uint32_val();
    case pb::AttributeProto::kUint64Val:
      return at_most(attribute.uint64_val());
    case pb::AttributeProto::kSint32Val:
      return attribute.sint32_val();
    case pb::AttributeProto::kSint64Val:
      return attribute.sint64_val();
    case pb::AttributeProto::kFixed32Val:
      return attribute.fixed32_val();
    case pb::AttributeProto::kFixed64Val:
      return at_most(attribute.fixed64_val());
    case pb::AttributeProto::kSfixed32Val:
      return attribute.sfixed32_val();
    case pb::AttributeProto::kSfixed64Val:
      return attribute.sfixed64_val();
    case pb::AttributeProto::kBoolVal:
      return attribute.bool_val() ? 1 : 0;
    case pb::AttributeProto::kStringVal:
      return whole_number(attribute.string_val());
    default:
      return std::nullopt;
  }
}

// Where an attribute of that name goes to; null for what is not looked at.
std::optional<std::int64_t>* integer_field(ChakraNode& node, std::string_view name) {
  if (name == "comm_type") return &node.comm_type;
  if (name == "comm_size") return &node.comm_size;
  if (name == "comm_src") return &node.comm_src;
  if (name == "comm_dst") return &node.comm_dst;
  if (name == "comm_tag") return &node.comm_tag;
  if (name == "num_ops") return &node.num_ops;
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

std::vector<std::uint64_t> list_of(const pb::AttributeProto& attribute) {
  return {attribute.uint64_list().values().begin(), attribute.uint64_list().values().end()};
}

void take_attribute(const pb::AttributeProto& attribute, ChakraNode& node) {
  const std::string& name = attribute.name();
  if (std::optional<std::int64_t>* field = integer_field(node, name)) *field = integer_of(attribute);
  if (name == "is_cpu_op") node.is_cpu_op = integer_of(attribute).value_or(0) != 0;
  if (name == "pg_name") {
    node.pg_name = attribute.value_case() == pb::AttributeProto::kStringVal
                       ? attribute.string_val()
                       : std::to_string(integer_of(attribute).value_or(0));
  }
  if (name == "involved_dim") {
    const auto& dimensions = attribute.bool_list().values();
    node.involves_part = std::any_of(dimensions.begin(), dimensions.end(), [](bool in) { return !in; });
  }
  if (name == "duration_nanos") {
    node.ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_of(attribute).value_or(0)));
  }
  if (name == "synchronous") node.synchronous = attribute.bool_val();
  if (name == "v_form") node.v_form = attribute.bool_val();
  if (name == "counts") node.counts = list_of(attribute);
  if (name == "receive_counts") node.receive_counts = list_of(attribute);
  if (name == "start_deps") node.start_deps = list_of(attribute);
  if (name == "end_deps") node.end_deps = list_of(attribute);
  if (name == "algorithm") node.algorithm = attribute.string_val();
}

ChakraNode from_message(const pb::Node& message, const SourceLocation& where) {
  ChakraNode node;
  node.id = message.id();
  node.name = message.name().substr(0, 80);
  node.type = message.type();
  node.ctrl_deps.assign(message.ctrl_deps().begin(), message.ctrl_deps().end());
  node.data_deps.assign(message.data_deps().begin(), message.data_deps().end());
  node.ns = nanoseconds(message.duration_micros(), where);
  for (const pb::AttributeProto& attribute : message.attr()) take_attribute(attribute, node);
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
                   const std::function<void(ChakraNode&, const SourceLocation&)>& take) {
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
    ChakraNode node = from_message(message, where);
    take(node, where);
  }
  if (first) throw InputError({path}, "is empty; expected a Chakra trace");
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

// Names of members differ between producers in case and underscores.
ChakraNode from_json(JsonValue value, const SourceLocation& where) {
  ChakraNode node;
  bool has_id = false;
  for (const JsonValue member : value.items()) {
    const std::string name = lower(member.key());
    if (name == "id") {
      has_id = member.unsigned_integer().has_value();
      node.id = member.unsigned_integer().value_or(0);
    } else if (name == "name") {
      node.name = member.text().substr(0, 80);
    } else if (name == "nodetype" || name == "type") {
      node.type = static_cast<int>(std::clamp<std::int64_t>(member.integer().value_or(0), 0, 99));
    } else if (name == "ctrldeps" || name == "datadeps") {
      take_deps(member, name == "ctrldeps" ? node.ctrl_deps : node.data_deps, where);
    } else if (name == "runtime" || name == "durationmicros") {
      node.ns = nanoseconds(member.unsigned_integer().value_or(0), where);
    } else if (name == "iscpuop") {
      node.is_cpu_op = member.boolean();
    } else if (name == "pgname") {
      node.pg_name = member.text();
    } else if (name == "involveddim") {
      for (const JsonValue in : member.items()) node.involves_part |= !in.boolean().value_or(true);
    } else if (std::optional<std::int64_t>* field = integer_field(node, member.key())) {
      *field = member.integer();
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
  return c == '"' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace

void read_chakra(const std::string& path,
                 const std::function<void(ChakraNode&, const SourceLocation&)>& take) {
  if (!is_json(path)) return read_messages(path, take);
  bool any = false;
  JsonHandlers handlers;
  handlers.element = [&](std::string_view, JsonValue value, const SourceLocation& where) {
    if (!value.is_object()) throw InputError(where, "expected a node in braces");
    ChakraNode node = from_json(value, where);
    take(node, where);
    any = true;
    return true;
  };
  read_json(path, {"workload_graph"}, handlers);
  if (!any) throw InputError({path}, "no nodes in \"workload_graph\"; expected a Chakra trace");
}

bool looks_like_chakra(const std::string& path) {
  try {
    if (is_json(path)) {
      ByteStream bytes(path);
      std::string head(4096, '\0');
      head.resize(bytes.read(head.data(), head.size()));
      return head.find("\"workload_graph\"") != head.npos;
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
