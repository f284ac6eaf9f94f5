#include "goal/import/kineto/execution_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "goal/import/json/json_reader.h"

namespace weft::goal {
namespace {

// The value of an attribute: before schema 1.0.3 a member of the node, then an element of "attrs".
JsonValue attribute(JsonValue node, std::string_view name) {
  const JsonValue member = node[name];
  if (member) return member;
  for (const JsonValue attribute : node["attrs"].items()) {
    if (attribute["name"].text() == name) return attribute["value"];
  }
  return {};
}

// The values of "inputs" or "outputs", which older schemas have without a level between.
JsonValue values(JsonValue node, std::string_view side) {
  const JsonValue found = node[side];
  return found.is_object() ? found["values"] : found;
}

// Elements and bytes of one of all tensors in a value: [id, storage, offset, elements, element's bytes,
// device].
void add_tensors(JsonValue value, std::uint64_t& bytes, std::uint32_t& element) {
  std::vector<JsonValue> members;
  for (const JsonValue v : value.items()) {
    if (members.size() < 6) members.push_back(v);
    if (v.is_array()) add_tensors(v, bytes, element);
  }
  if (members.size() != 6 || !members[5].is_string()) return;
  const auto elements = members[3].unsigned_integer();
  const auto size = members[4].unsigned_integer();
  if (!elements || !size || *size == 0 || *size > 64 || *elements > std::uint64_t{1} << 50) return;
  element = static_cast<std::uint32_t>(*size);
  bytes = std::min(bytes + *elements * *size, std::uint64_t{1} << 60);
}

std::vector<std::uint64_t> numbers(JsonValue list) {
  std::vector<std::uint64_t> found;
  for (const JsonValue v : list.items()) found.push_back(v.unsigned_or(0) & 0xFFFFFFFFFFFF);
  return found;
}

// Inputs: tensors, number in the group, [group name, description] or its number, rank or root, name, shares
// in and out, then the group's start, stride and size. Which come before the name has changed; the order has
// not.
CommCall call_of(JsonValue node) {
  CommCall call;
  std::vector<JsonValue> before, behind;
  std::string_view name;
  for (const JsonValue v : values(node, "inputs").items()) {
    if (name.empty() && v.is_string()) {
      name = v.text();
    } else {
      (name.empty() ? before : behind).push_back(v);
    }
  }
  if (name.empty()) name = attribute(node, "collective_name").text();
  read_comm_name(name, call);
  for (const JsonValue v : before) {
    add_tensors(v, call.in_bytes, call.element_bytes);
    if (!v.is_array()) continue;
    const auto items = v.items();
    if (items.begin() != items.end() && (*items.begin()).is_string())
      call.group.name = (*items.begin()).text();
  }
  add_tensors(values(node, "outputs"), call.out_bytes, call.element_bytes);
  call.sized = call.in_bytes + call.out_bytes > 0;
  const std::int64_t rank = before.empty() ? -1 : before.back().integer_or(-1);
  if (behind.size() >= 5) {
    call.in_split = numbers(behind[0]);
    call.out_split = numbers(behind[1]);
    call.group.start = behind[2].integer_or(-1);
    call.group.stride = behind[3].integer_or(-1);
    call.group.size = behind[4].integer_or(-1);
  }
  if (call.kind == CommKind::kCollective && has_root(call.collective)) call.root = rank;
  return call;
}

// [{"pg_name": "0", "ranks": [], "group_size": 2}, …] as a text.
void read_groups(JsonValue node, const SourceLocation& where, ExecutionTrace& trace) {
  for (const JsonValue text : values(node, "inputs").items()) {
    if (!text.is_string()) continue;
    JsonHandlers handlers;
    handlers.element = [&](std::string_view, JsonValue group, const SourceLocation&) {
      GroupName made{.name = std::string(group["pg_name"].text())};
      made.size = group["group_size"].integer_or(-1);
      for (const std::uint64_t rank : numbers(group["ranks"])) {
        made.ranks.push_back(static_cast<Rank>(std::min<std::uint64_t>(rank, kAny)));
      }
      trace.groups.push_back(std::move(made));
      return true;
    };
    read_json_text(text.text(), where.prefix() + "process groups", {}, handlers);
  }
}

}  // namespace

ExecutionTrace read_execution_trace(const std::string& path) {
  ExecutionTrace trace;
  JsonHandlers handlers;
  handlers.member = [&](JsonValue member, const SourceLocation&) {
    if (member.key() == "schema") trace.schema = member.text();
    return true;
  };
  handlers.element = [&](std::string_view, JsonValue node, const SourceLocation& where) {
    const std::string_view name = node["name"].text();
    if (name == "## process_group:init ##") read_groups(node, where, trace);
    if (name != "record_param_comms") return true;
    const auto id = attribute(node, "rf_id").unsigned_integer();
    if (!id)
      throw InputError(where, "a record_param_comms without rf_id; expected a PyTorch execution trace");
    trace.calls.emplace(*id, call_of(node));
    return true;
  };
  read_json(path, {"nodes"}, handlers);
  if (!trace.schema.starts_with("1.0.") && !trace.schema.starts_with("1.1.")) {
    throw InputError(
        {path}, fmt::format("a PyTorch execution trace of schema '{}'; expected 1.0 or 1.1", trace.schema));
  }
  return trace;
}

}  // namespace weft::goal
