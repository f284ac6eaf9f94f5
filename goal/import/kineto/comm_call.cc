#include "goal/import/kineto/comm_call.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace weft::goal {
namespace {

struct Word {
  std::string_view word;
  CommKind kind;
  CollectiveKind collective = CollectiveKind::kBarrier;
};

// Searched for in this order, as some are part of others; without '_' and case.
constexpr Word kWords[] = {
    {"reducescatter", CommKind::kCollective, CollectiveKind::kReduceScatter},
    {"allreduce", CommKind::kCollective, CollectiveKind::kAllreduce},
    {"allgather", CommKind::kCollective, CollectiveKind::kAllgather},
    {"alltoall", CommKind::kCollective, CollectiveKind::kAlltoall},
    {"broadcast", CommKind::kCollective, CollectiveKind::kBcast},
    {"barrier", CommKind::kCollective, CollectiveKind::kBarrier},
    {"gather", CommKind::kCollective, CollectiveKind::kGather},
    {"scatter", CommKind::kCollective, CollectiveKind::kScatter},
    {"reduce", CommKind::kCollective, CollectiveKind::kReduce},
    {"sendrecv", CommKind::kNone},  // a kernel of any messages and all-to-alls
    {"send", CommKind::kSend},
    {"recv", CommKind::kRecv},
    {"coalesced", CommKind::kNone},
    {"wait", CommKind::kNone},
    {"init", CommKind::kNone},
};

struct TypeBytes {
  std::string_view name;
  std::uint32_t bytes;
};
// Names of c10::ScalarType (c10::toString), those of C++ that shapes come with, and those of Python; in lower
// case, without "c10::" and "torch.". A quantized type has the bytes that it is stored in; what holds several
// values packed ("_x2") has a byte for all of them, and so has each of PyTorch's integers of 1 to 7 bits.
constexpr TypeBytes kTypes[] = {
    {"byte", 1},           {"char", 1},           {"bool", 1},         {"int8", 1},
    {"uint8", 1},          {"unsigned char", 1},  {"signed char", 1},  {"qint8", 1},
    {"quint8", 1},         {"quint4x2", 1},       {"quint2x4", 1},     {"bits1x8", 1},
    {"bits2x4", 1},        {"bits4x2", 1},        {"bits8", 1},        {"float4_e2m1fn_x2", 1},
    {"short", 2},          {"short int", 2},      {"int16", 2},        {"uint16", 2},
    {"bits16", 2},         {"half", 2},           {"float16", 2},      {"fp16", 2},
    {"bfloat16", 2},       {"bf16", 2},           {"int", 4},          {"int32", 4},
    {"uint32", 4},         {"qint32", 4},         {"float", 4},        {"float32", 4},
    {"fp32", 4},           {"complexhalf", 4},    {"complex32", 4},    {"long", 8},
    {"long int", 8},       {"int64", 8},          {"uint64", 8},       {"double", 8},
    {"float64", 8},        {"fp64", 8},           {"complexfloat", 8}, {"complex64", 8},
    {"complex<float>", 8}, {"complexdouble", 16}, {"complex128", 16},  {"complex<double>", 16},
};

// "uint4", "Int7": a byte each.
bool is_small_integer(std::string_view name) {
  if (name.starts_with('u')) name.remove_prefix(1);
  return name.size() == 4 && name.starts_with("int") && name[3] >= '1' && name[3] <= '7';
}

std::string bare(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c != '_') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

// Elements, of which each has `element` bytes, in bytes; the most there is if that is too much.
std::uint64_t in_bytes(std::uint64_t elements, std::uint32_t element) {
  std::uint64_t bytes = 0;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  return __builtin_mul_overflow(elements, std::uint64_t{element}, &bytes) || bytes > kMost ? kMost : bytes;
}

// The elements of a shape: a product, or a sum over the shapes in a list.
std::uint64_t elements_of(JsonValue shape) {
  std::uint64_t product = 1, sum = 0;
  bool shapes_inside = false;
  for (const JsonValue v : shape.items()) {
    if (v.is_array()) {
      shapes_inside = true;
      sum += std::min(elements_of(v), std::uint64_t{1} << 58);
    } else {
      product = in_bytes(
          product, static_cast<std::uint32_t>(std::clamp<std::int64_t>(v.integer_or(0), 0, 0xFFFFFFFF)));
    }
  }
  return shapes_inside ? sum : product;
}

std::uint64_t count_of(JsonValue value) { return value.unsigned_or(0); }

void read_group(JsonValue args, GroupName& group) {
  group.name = args["Process Group Name"].text();
  if (group.name.empty()) group.name = args["Process Group ID"].text();  // before PyTorch 2.4
  bool cut = false;
  const auto ranks = read_list(args["Process Group Ranks"].text(), cut);
  group.size = args["Group size"].integer_or(-1);
  group.start = args["Global rank start"].integer_or(-1);
  group.stride = args["Global rank stride"].integer_or(-1);
  if (!ranks || cut || std::any_of(ranks->begin(), ranks->end(), [](std::uint64_t r) { return r >= kAny; }))
    return;
  for (const std::uint64_t rank : *ranks) group.ranks.push_back(static_cast<Rank>(rank));
}

}  // namespace

void read_comm_name(std::string_view name, CommCall& call) {
  const std::string text = bare(name);
  call.name = name.substr(0, 64);
  for (const Word& word : kWords) {
    if (text.find(word.word) == std::string::npos) continue;
    call.kind = word.kind;
    call.collective = word.collective;
    return;
  }
  call.kind = CommKind::kUnknown;
}

std::optional<std::uint32_t> bytes_of_type(std::string_view type) {
  for (const std::string_view prefix : {"c10::", "torch."}) {
    if (type.starts_with(prefix)) type.remove_prefix(prefix.size());
  }
  std::string name;
  for (const char c : type) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const TypeBytes& known : kTypes) {
    if (known.name == name) return known.bytes;
  }
  if (name.starts_with("float8") || name.starts_with("fp8") || is_small_integer(name)) return 1;
  return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> read_list(std::string_view text, bool& cut) {
  cut = false;
  if (!text.starts_with('[')) return std::nullopt;
  std::vector<std::uint64_t> list;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size();
  while (at != end && *at != ']') {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    if (*at == '.') {
      cut = true;
      return list;
    }
    std::uint64_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number > 0xFFFFFFFFFFFF) return std::nullopt;
    list.push_back(number);
    at = behind;
  }
  if (at == end) return std::nullopt;
  return list;
}

bool read_comm_args(JsonValue args, CommCall& call) {
  const std::string_view name = args["Collective name"].text();
  if (name.empty()) return false;
  read_comm_name(name, call);
  read_group(args, call.group);
  const std::string_view type = args["dtype"].text();
  const JsonValue elements = args["In msg nelems"];
  const bool any = count_of(elements) > 0 || count_of(args["Out msg nelems"]) > 0;
  call.known_type = bytes_of_type(type).has_value() || (type.empty() && !any);
  if (!call.known_type) call.type = type.substr(0, 40);
  call.element_bytes = bytes_of_type(type).value_or(4);
  call.sized = !elements.missing() && elements.kind() != JsonKind::kNull;
  call.in_bytes = in_bytes(count_of(args["In msg nelems"]), call.element_bytes);
  call.out_bytes = in_bytes(count_of(args["Out msg nelems"]), call.element_bytes);
  bool cut_in = false, cut_out = false;
  call.in_split = read_list(args["In split size"].text(), cut_in).value_or(std::vector<std::uint64_t>());
  call.out_split = read_list(args["Out split size"].text(), cut_out).value_or(std::vector<std::uint64_t>());
  call.cut_split = cut_in || cut_out;
  // The root of a collective that has one, and the other end's rank in the group of a message.
  const std::int64_t rank = args["Rank"].integer_or(-1);
  if (call.kind == CommKind::kCollective && has_root(call.collective)) call.root = rank;
  if (call.kind == CommKind::kSend) call.peer = args["Dst Rank"].integer_or(-1);
  if (call.kind == CommKind::kRecv) call.peer = args["Src Rank"].integer_or(-1);
  const bool message = call.kind == CommKind::kSend || call.kind == CommKind::kRecv;
  if (message && call.peer < 0 && rank >= 0 && static_cast<std::size_t>(rank) < call.group.ranks.size()) {
    call.peer = call.group.ranks[static_cast<std::size_t>(rank)];
  }
  return true;
}

void read_annotation(std::string_view name, JsonValue args, CommCall& call) {
  read_comm_name(name, call);
  std::uint64_t bytes = 0;
  const JsonValue types = args["Input type"];
  auto type = types.items().begin();
  const auto no_more = types.items().end();
  for (const JsonValue shape : args["Input Dims"].items()) {
    const std::string_view type_name = type != no_more ? (*type).text() : std::string_view();
    if (type != no_more) ++type;
    const auto element = bytes_of_type(type_name);
    if (!shape.is_array() || (!element && elements_of(shape) <= 1)) continue;
    call.known_type = call.known_type && element.has_value();
    if (!element) call.type = type_name.substr(0, 40);
    call.element_bytes = element.value_or(4);
    bytes += std::min(in_bytes(elements_of(shape), call.element_bytes), std::uint64_t{1} << 60);
  }
  call.tells_splits = false;
  call.sized = bytes > 0;
  call.in_bytes = call.out_bytes = bytes;
}

}  // namespace weft::goal
