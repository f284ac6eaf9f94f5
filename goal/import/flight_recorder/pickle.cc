#include "goal/import/flight_recorder/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// What a few bytes may become: memos can repeat a value any number of times.
constexpr std::size_t kMostJson = std::size_t{1} << 28;
constexpr std::size_t kMostItems = std::size_t{1} << 26;
constexpr int kDeepest = 64;

enum class Kind : std::uint8_t { kText, kNumber, kList, kDict, kListMaker, kMark };

struct Item {
  Kind kind = Kind::kNumber;
  std::string text;                     // of texts; of numbers and constants, as JSON has them
  std::vector<std::uint32_t> children;  // of a dictionary: keys and values in turn
};

class Unpickler {
 public:
  Unpickler(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  std::string run() {
    while (!done_) step();
    std::string json;
    print(result_, 0, json);
    return json;
  }

 private:
  using Number = std::uint32_t;  // of an item

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError({.file = name_, .byte_offset = static_cast<std::int64_t>(at_)}, what);
  }

  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) fail("the pickle ends here, in the middle of a value");
    const std::string_view piece = bytes_.substr(at_, size);
    at_ += size;
    return piece;
  }

  template <typename Unsigned>
  Unsigned little() {
    Unsigned value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) fail("the pickle ends here, in the middle of a line");
    const std::string_view text = take(end - at_);
    at_ += 1;
    return text;
  }

  Number make(Kind kind, std::string text = {}, std::vector<Number> children = {}) {
    if (items_.size() >= kMostItems) fail(fmt::format("more than {} values", kMostItems));
    items_.push_back({kind, std::move(text), std::move(children)});
    return static_cast<Number>(items_.size() - 1);
  }
  void push(Kind kind, std::string text = {}) { stack_.push_back(make(kind, std::move(text))); }
  void push_number(std::int64_t value) { push(Kind::kNumber, std::to_string(value)); }

  Number pop() {
    if (stack_.empty()) fail("the pickle takes a value where there is none");
    const Number top = stack_.back();
    stack_.pop_back();
    return top;
  }
  Number top() {
    if (stack_.empty()) fail("the pickle takes a value where there is none");
    return stack_.back();
  }
  Item& container(Kind kind) {
    Item& item = items_[top()];
    if (item.kind != kind) fail("the pickle adds to what is no list or dictionary");
    return item;
  }

  // All values behind the last mark, which goes too.
  std::vector<Number> behind_mark() {
    std::size_t at = stack_.size();
    while (at > 0 && items_[stack_[at - 1]].kind != Kind::kMark) --at;
    if (at == 0) fail("the pickle has no mark here");
    std::vector<Number> values(stack_.begin() + static_cast<std::ptrdiff_t>(at), stack_.end());
    stack_.resize(at - 1);
    return values;
  }

  void push_list(std::vector<Number> values) { stack_.push_back(make(Kind::kList, {}, std::move(values))); }
  void push_last(std::size_t count) {
    if (stack_.size() < count) fail("the pickle takes a value where there is none");
    std::vector<Number> values(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    push_list(std::move(values));
  }

  bool extend(Kind kind, const std::vector<Number>& values) {
    if (kind == Kind::kDict && values.size() % 2 != 0) fail("a key without a value");
    Item& item = container(kind);
    item.children.insert(item.children.end(), values.begin(), values.end());
    return true;
  }

  // Two's complement, the lowest byte first.
  void push_long(std::string_view bytes) {
    if (bytes.size() > 8) fail("a whole number of more than 64 bits");
    std::uint64_t value = !bytes.empty() && (bytes.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      value &= ~(std::uint64_t{0xFF} << (8 * i));
      value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    push_number(static_cast<std::int64_t>(value));
  }

  void push_float(double value) {
    push(Kind::kNumber, std::isfinite(value) ? fmt::format("{}", value) : std::string("null"));
  }

  void push_whole(std::string_view text) {
    if (text == "01" || text == "00") return push(Kind::kNumber, text == "01" ? "true" : "false");
    if (text.ends_with('L')) text.remove_suffix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail("a line that is no whole number");
    push_number(value);
  }

  void push_decimal(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail("a line that is no number");
    push_float(value);
  }

  // A function or class that the pickle wants.
  void push_global(std::string_view module, std::string_view function) {
    if (module != "torch.jit._pickle" || !function.starts_with("build_")) {
      fail(fmt::format("the pickle wants {}.{}, and only plain data is read", module, function));
    }
    push(Kind::kListMaker);
  }

  void call() {
    const Number arguments = pop();
    if (items_[pop()].kind != Kind::kListMaker || items_[arguments].children.size() != 1) {
      fail("the pickle calls a function; only plain data is read");
    }
    stack_.push_back(items_[arguments].children[0]);
  }

  void remember(std::uint64_t slot) { memo_[slot] = top(); }
  void recall(std::uint64_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) fail("the pickle wants a value that it hasn't kept");
    stack_.push_back(found->second);
  }
  std::uint64_t slot_line() {
    const std::string_view text = line();
    std::uint64_t slot = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slot);
    if (error != std::errc() || end != text.data() + text.size()) fail("a line that is no whole number");
    return slot;
  }

  void step() {
    const auto op = static_cast<unsigned char>(take(1)[0]);
    if (!scalar(op) && !structure(op)) {
      at_ -= 1;
      fail(fmt::format("a pickle's operation 0x{:02x} that no plain data has", op));
    }
  }

  bool scalar(unsigned char op) {
    switch (op) {
      case 'N':
        push(Kind::kNumber, "null");
        return true;
      case 0x88:
      case 0x89:
        push(Kind::kNumber, op == 0x88 ? "true" : "false");
        return true;
      case 'I':
      case 'L':
        push_whole(line());
        return true;
      case 'F':
        push_decimal(line());
        return true;
      case 'J':
        push_number(static_cast<std::int32_t>(little<std::uint32_t>()));
        return true;
      case 'K':
        push_number(little<std::uint8_t>());
        return true;
      case 'M':
        push_number(little<std::uint16_t>());
        return true;
      case 0x8a:
        push_long(take(little<std::uint8_t>()));
        return true;
      case 0x8b:
        push_long(take(little<std::uint32_t>()));
        return true;
      case 'G':
        push_float(std::bit_cast<double>(__builtin_bswap64(little<std::uint64_t>())));
        return true;
      case 'X':
      case 'T':
      case 'B':
        push(Kind::kText, std::string(take(little<std::uint32_t>())));
        return true;
      case 0x8c:
      case 'U':
      case 'C':
        push(Kind::kText, std::string(take(little<std::uint8_t>())));
        return true;
      case 0x8d:
      case 0x8e:
        push(Kind::kText, std::string(take(little<std::uint64_t>())));
        return true;
      case 'V':
        push(Kind::kText, std::string(line()));
        return true;
      default:
        return false;
    }
  }

  bool structure(unsigned char op) {
    switch (op) {
      case 0x80:
        if (little<std::uint8_t>() > 5) fail("a pickle of a later protocol than 5");
        return true;
      case 0x95:
        take(8);
        return true;
      case '.':
        result_ = pop();
        done_ = true;
        return true;
      case '(':
        push(Kind::kMark);
        return true;
      case '0':
        pop();
        return true;
      case '1':
        behind_mark();
        return true;
      case ']':
      case ')':
      case 0x8f:
        push_list({});
        return true;
      case 'l':
      case 't':
        push_list(behind_mark());
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        push_last(op - 0x84u);
        return true;
      case 'a': {
        const Number value = pop();
        return extend(Kind::kList, {value});
      }
      case 'e':
      case 0x90:
        return extend(Kind::kList, behind_mark());
      case '}':
        push(Kind::kDict);
        return true;
      case 'd': {
        std::vector<Number> values = behind_mark();
        if (values.size() % 2 != 0) fail("a key without a value");
        stack_.push_back(make(Kind::kDict, {}, std::move(values)));
        return true;
      }
      case 's': {
        const Number value = pop(), key = pop();
        return extend(Kind::kDict, {key, value});
      }
      case 'u':
        return extend(Kind::kDict, behind_mark());
      default:
        return memory(op);
    }
  }

  bool memory(unsigned char op) {
    switch (op) {
      case 'q':
        remember(little<std::uint8_t>());
        return true;
      case 'r':
        remember(little<std::uint32_t>());
        return true;
      case 'p':
        remember(slot_line());
        return true;
      case 0x94:
        remember(memo_.size());
        return true;
      case 'h':
        recall(little<std::uint8_t>());
        return true;
      case 'j':
        recall(little<std::uint32_t>());
        return true;
      case 'g':
        recall(slot_line());
        return true;
      case 'c': {
        const std::string_view module = line();
        push_global(module, line());
        return true;
      }
      case 0x93: {
        const Number function = pop(), module = pop();
        push_global(items_[module].text, items_[function].text);
        return true;
      }
      case 'R':
        call();
        return true;
      default:
        return false;
    }
  }

  static void print_text(std::string_view text, std::string& json) {
    json += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') json += '\\';
      if (static_cast<unsigned char>(c) < 0x20) {
        json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      } else {
        json += c;
      }
    }
    json += '"';
  }

  void print(Number number, int depth, std::string& json) const {
    const Item& item = items_[number];
    if (depth > kDeepest) fail(fmt::format("values stand in more than {} others", kDeepest));
    if (json.size() > kMostJson) fail(fmt::format("the pickle unfolds to more than {} bytes", kMostJson));
    if (item.kind == Kind::kText) return print_text(item.text, json);
    if (item.kind == Kind::kNumber) {
      json += item.text;
      return;
    }
    if (item.kind != Kind::kList && item.kind != Kind::kDict) fail("the pickle's value is no plain data");
    const bool dict = item.kind == Kind::kDict;
    json += dict ? '{' : '[';
    bool first = true;
    for (std::size_t i = 0; i < item.children.size(); ++i) {
      if (dict && is_left_out(items_[item.children[i]])) {
        ++i;
        continue;
      }
      if (!first) json += ',';
      first = false;
      if (dict) print_key(items_[item.children[i++]], json);
      print(item.children[i], depth + 1, json);
    }
    json += dict ? '}' : ']';
  }

  // Stacks are most of a dump, and every call has one.
  static bool is_left_out(const Item& key) { return key.text == "frames"; }

  void print_key(const Item& key, std::string& json) const {
    if (key.kind != Kind::kText && key.kind != Kind::kNumber) {
      fail("a dictionary's key is neither a text nor a number");
    }
    print_text(key.text, json);
    json += ':';
  }

  std::string_view bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::vector<Item> items_;
  std::vector<Number> stack_;
  std::unordered_map<std::uint64_t, Number> memo_;
  Number result_ = 0;
  bool done_ = false;
};

}  // namespace

std::string pickle_to_json(std::string_view pickle, const std::string& name) {
  return Unpickler(pickle, name).run();
}

}  // namespace weft::goal
