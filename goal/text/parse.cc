#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "goal/file.h"
#include "goal/text/label_table.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c); }

// Which attributes and arguments a collective takes.
bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::kBcast || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter;
}
bool has_counts(CollectiveKind kind) {
  return kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllgather ||
         kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter ||
         kind == CollectiveKind::kAlltoall || kind == CollectiveKind::kNeighborAlltoall;
}

// A scanner over the whole text and a parser by recursive descent; one pass, one look ahead.
class Parser {
 public:
  Parser(std::string_view text, const std::string& file_name)
      : at_(text.data()), end_(text.data() + text.size()), line_begin_(at_), file_name_(file_name) {}

  Graph parse() {
    skip_lines();
    expect_word("num_ranks", "'num_ranks N' as the first statement");
    ranks_ = static_cast<Rank>(number("a number of ranks", kAny - 1));
    expect_end_of_line("the number of ranks");
    parse_communicators();
    for (Rank rank = 0; rank < ranks_; ++rank) parse_rank(rank);
    skip_lines();
    if (at_ != end_) {
      if (peek_word() == "comm")
        fail("'comm' after a rank block; communicators come right after 'num_ranks'");
      if (peek_word() == "rank") {
        next_word();
        const char* begin = at_after_blanks();
        const std::uint64_t rank = number("a rank", kMax64);
        if (rank < ranks_) fail_at(begin, "rank " + std::to_string(rank) + " has a block already");
        fail_at(begin, "rank " + std::to_string(rank) + ranks_hint());
      }
      fail("found " + found() + " after the block of the last rank; expected the end of the file");
    }
    return builder_.finish();
  }

 private:
  // --- errors ---

  [[noreturn]] void fail_at(const char* where, const std::string& message) const {
    // A comment over lines may part a statement; then the place is where reading has got to.
    if (where < line_begin_) where = at_;
    throw InputError(SourceLocation{.file = file_name_, .line = line_, .column = where - line_begin_ + 1},
                     message);
  }
  [[noreturn]] void fail(const std::string& message) const { fail_at(at_, message); }

  // What stands at the current position, for messages.
  std::string found() const {
    if (at_ == end_) return "the end of the file";
    if (*at_ == '\n') return "the end of the line";
    const char* last = at_ + 1;
    if (is_word(*at_)) {
      while (last != end_ && is_word(*last)) ++last;
    }
    const auto shown = std::min<std::ptrdiff_t>(last - at_, 40);
    const auto byte = static_cast<unsigned char>(*at_);
    if (byte < 0x20 || byte >= 0x7F) return "a byte of value " + std::to_string(byte);
    return "'" + std::string(at_, static_cast<std::size_t>(shown)) + "'";
  }

  std::string ranks_hint() const {
    if (ranks_ == 0) return " does not exist: num_ranks is 0";
    return " does not exist: with num_ranks " + std::to_string(ranks_) + " ranks go from 0 to " +
           std::to_string(ranks_ - 1);
  }

  // --- scanning ---

  void new_line() {
    ++line_;
    line_begin_ = at_;
  }

  // Skips blanks and comments, but stops at the end of a line.
  void skip_blanks() {
    while (at_ != end_) {
      if (*at_ == ' ' || *at_ == '\t' || *at_ == '\r') {
        ++at_;
      } else if (*at_ == '/') {
        skip_comment();
      } else {
        return;
      }
    }
  }

  void skip_comment() {
    if (at_ + 1 != end_ && at_[1] == '/') {
      while (at_ != end_ && *at_ != '\n') ++at_;
      return;
    }
    if (at_ + 1 == end_ || at_[1] != '*') fail("found '/'; a comment is '// …' or '/* … */'");
    const SourceLocation begin{.file = file_name_, .line = line_, .column = at_ - line_begin_ + 1};
    at_ += 2;
    while (at_ + 1 < end_ && !(at_[0] == '*' && at_[1] == '/')) {
      if (*at_++ == '\n') new_line();
    }
    if (at_ + 1 >= end_) throw InputError(begin, "this '/*' has no '*/'");
    at_ += 2;
  }

  void skip_lines() {
    for (skip_blanks(); at_ != end_ && *at_ == '\n'; skip_blanks()) {
      ++at_;
      new_line();
    }
  }

  const char* at_after_blanks() {
    skip_blanks();
    return at_;
  }

  // The word at the current position, or "" if none stands there.
  std::string_view peek_word() {
    skip_blanks();
    const char* last = at_;
    if (last != end_ && is_word_start(*last)) {
      while (last != end_ && is_word(*last)) ++last;
    }
    return {at_, last};
  }
  std::string_view next_word() {
    const std::string_view word = peek_word();
    at_ += word.size();
    return word;
  }

  void expect_word(std::string_view word, const char* expected) {
    if (peek_word() != word) fail("found " + found() + "; expected " + expected);
    at_ += word.size();
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const std::string& where) {
    if (!accept(c)) fail("found " + found() + "; expected '" + std::string(1, c) + "' " + where);
  }
  void expect_end_of_line(const char* after) {
    skip_blanks();
    if (at_ != end_ && *at_ != '\n' && *at_ != '}') {
      fail("found " + found() + " after " + after + "; expected the end of the line");
    }
  }

  // Digits up to `max`. The caller looks at what follows.
  std::uint64_t digits(const char* expected, std::uint64_t max) {
    skip_blanks();
    const char* begin = at_;
    if (at_ == end_ || !is_digit(*at_)) fail("found " + found() + "; expected " + expected);
    std::uint64_t value = 0;
    bool overflow = false;
    for (; at_ != end_ && is_digit(*at_); ++at_) {
      const auto digit = static_cast<std::uint64_t>(*at_ - '0');
      overflow |= value > (kMax64 - digit) / 10;
      value = value * 10 + digit;
    }
    if (overflow || value > max) {
      const std::string text(begin, static_cast<std::size_t>(std::min<std::ptrdiff_t>(at_ - begin, 40)));
      fail_at(begin, text + " is too large; expected " + expected + " of at most " + std::to_string(max));
    }
    return value;
  }
  std::uint64_t number(const char* expected, std::uint64_t max) {
    const std::uint64_t value = digits(expected, max);
    if (at_ != end_ && (is_word_start(*at_) || *at_ == '.')) {
      fail("found " + found() + " behind a number; expected " + expected +
           " as a whole number without a unit");
    }
    return value;
  }
  // A number or -1 for "any".
  std::uint32_t number_or_any(const char* expected) {
    skip_blanks();
    if (end_ - at_ >= 2 && at_[0] == '-' && at_[1] == '1' && (end_ - at_ == 2 || !is_word(at_[2]))) {
      at_ += 2;
      return kAny;
    }
    return static_cast<std::uint32_t>(number(expected, kAny - 1));
  }
  void expect_byte_unit() {
    skip_blanks();
    if (at_ == end_ || *at_ != 'b' || (at_ + 1 != end_ && is_word(at_[1]))) {
      fail("found " + found() + "; expected 'b' behind a number of bytes");
    }
    ++at_;
  }
  std::uint64_t bytes() {
    const std::uint64_t value = digits("a number of bytes, as in '8b'", kMax64);
    expect_byte_unit();
    return value;
  }
  // "[1 2 3]b"
  std::vector<std::uint64_t> byte_list() {
    std::vector<std::uint64_t> counts;
    expect('[', "before a list of byte counts");
    while (!accept(']')) counts.push_back(number("a number of bytes or ']'", kMax64));
    expect_byte_unit();
    return counts;
  }
  // "[1 2 3]", ranks of a communicator
  std::vector<std::uint32_t> rank_list() {
    std::vector<std::uint32_t> ranks;
    expect('[', "before a list of ranks");
    while (!accept(']')) {
      ranks.push_back(static_cast<std::uint32_t>(number("a rank of the communicator or ']'", kAny - 1)));
    }
    return ranks;
  }
  Rank existing_rank(const char* expected) {
    const char* begin = at_after_blanks();
    const std::uint64_t rank = number(expected, kMax64);
    if (rank >= ranks_) fail_at(begin, "rank " + std::to_string(rank) + ranks_hint());
    return static_cast<Rank>(rank);
  }

  // --- communicators ---

  void parse_communicators() {
    for (skip_lines(); peek_word() == "comm"; skip_lines()) {
      next_word();
      const char* begin = at_after_blanks();
      const std::uint64_t id = number("the number of a communicator", kAny - 1);
      if (id != communicators_.size()) {
        fail_at(begin, "found communicator " + std::to_string(id) + "; expected " +
                           std::to_string(communicators_.size()) +
                           " (they are numbered in order from 1; 0 is the world)");
      }
      Communicator communicator;
      skip_blanks();
      if (at_ != end_ && *at_ == '"') communicator.name = quoted();
      if (peek_word() == "all") {
        next_word();
      } else {
        parse_members(communicator.ranks);
      }
      expect_end_of_line("a communicator");
      const auto size =
          communicator.ranks.empty() ? ranks_ : static_cast<std::uint32_t>(communicator.ranks.size());
      communicators_.push_back(builder_.add_communicator(std::move(communicator)));
      communicator_sizes_.resize(
          std::max<std::size_t>(communicator_sizes_.size(), communicators_.back() + 1));
      communicator_sizes_[communicators_.back()] = size;
    }
  }

  void parse_members(std::vector<Rank>& members) {
    expect('{', "or 'all'");
    if (is_member_.empty()) is_member_.resize(ranks_);
    for (skip_lines(); !accept('}'); skip_lines()) {
      const char* begin = at_after_blanks();
      const Rank first = existing_rank("a rank or '}'");
      const Rank last = accept('-') ? existing_rank("the last rank of a range") : first;
      if (last < first) fail_at(begin, "this range of ranks runs backwards");
      for (Rank rank = first; rank <= last; ++rank) {
        if (is_member_[rank])
          fail_at(begin, "rank " + std::to_string(rank) + " is in this communicator already");
        is_member_[rank] = true;
        members.push_back(rank);
      }
    }
    if (members.empty()) fail("a communicator needs at least one rank; 'all' stands for every rank");
    for (const Rank rank : members) is_member_[rank] = false;
  }

  std::string quoted() {
    const char* begin = at_++;
    std::string text;
    while (at_ != end_ && *at_ != '"' && *at_ != '\n') {
      if (*at_ != '\\') {
        text += *at_++;
        continue;
      }
      if (end_ - at_ >= 2 && (at_[1] == '"' || at_[1] == '\\')) {
        text += at_[1];
        at_ += 2;
      } else if (end_ - at_ >= 4 && at_[1] == 'x' && hex(at_[2]) >= 0 && hex(at_[3]) >= 0) {
        text += static_cast<char>(hex(at_[2]) * 16 + hex(at_[3]));
        at_ += 4;
      } else {
        fail("found a lone '\\' in a name; write \\\\, \\\" or \\xHH");
      }
    }
    if (at_ == end_ || *at_ == '\n') fail_at(begin, "this name has no closing '\"'");
    ++at_;
    return text;
  }
  static int hex(char c) {
    if (is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  }

  // --- rank blocks ---

  void parse_rank(Rank rank) {
    skip_lines();
    if (at_ == end_)
      fail("the file ends without a block for rank " + std::to_string(rank) + ranks_left(rank));
    expect_word("rank", ("'rank " + std::to_string(rank) + " {'").c_str());
    const char* begin = at_after_blanks();
    const Rank given = existing_rank("a rank");
    if (given < rank) fail_at(begin, "rank " + std::to_string(given) + " has a block already");
    if (given > rank) {
      fail_at(begin, "found rank " + std::to_string(given) + "; expected rank " + std::to_string(rank) +
                         " (blocks come in ascending order, empty ones included)");
    }
    const std::int64_t block_line = line_;
    expect('{', "behind the rank");
    labels_.clear();
    while (true) {
      skip_lines();
      if (at_ == end_) {
        fail("the block of rank " + std::to_string(rank) + ", begun on line " + std::to_string(block_line) +
             ", has no '}'");
      }
      if (accept('}')) break;
      parse_statement();
      if (at_ != end_ && *at_ != '\n' && *at_ != '}') {
        fail("found " + found() +
             " at the end of a statement; expected 'tag', 'cpu', 'nic', 'comm' or the end of the line");
      }
    }
    builder_.end_rank();
    expect_end_of_line("'}'");
  }
  std::string ranks_left(Rank rank) const {
    return rank + 1 == ranks_ ? "" : " and those behind it (num_ranks is " + std::to_string(ranks_) + ")";
  }

  void parse_statement() {
    const char* begin = at_;
    std::string_view word = next_word();
    if (word.empty()) fail("found " + found() + "; expected an operation, a label, a dependency or '}'");
    std::string_view label;
    skip_blanks();
    if (at_ != end_ && *at_ == ':') {
      ++at_;
      label = word;
      // A label given twice does no harm until a dependency names it; published files have such labels.
      labels_.insert(label, builder_.ops_in_rank());
      word = next_word();
    } else if (at_ != end_ && (*at_ == 'r' || *at_ == 'i')) {
      const std::string_view relation = peek_word();
      if (relation == "requires" || relation == "irequires") {
        next_word();
        parse_dependency(begin, word, relation == "irequires");
        return;
      }
    }
    parse_op(word, label);
  }

  void parse_dependency(const char* begin, std::string_view dependent_label, bool on_start) {
    const OpIndex dependent = find(dependent_label, begin);
    do {
      skip_blanks();
      const char* first_begin = at_;
      const std::string_view first = next_word();
      if (first.empty()) fail("found " + found() + "; expected a label");
      builder_.add_edge(find(first, first_begin), dependent, on_start);
    } while (accept(','));
  }
  OpIndex find(std::string_view label, const char* where) const {
    const OpIndex op = labels_.find(label);
    if (op == LabelTable::kNone) {
      fail_at(where, "no operation above this line of the rank has the label '" + std::string(label) + "'");
    }
    if (op == LabelTable::kSeveral) {
      fail_at(where,
              "several operations above this line of the rank have the label '" + std::string(label) + "'");
    }
    return op;
  }

  void parse_op(std::string_view word, std::string_view label) {
    Op op;
    if (word == "calc") {
      op.kind = OpKind::kCalc;
      op.value = number("a number of nanoseconds", kMax64);
      parse_attributes(op, "calc", kCpu);
    } else if (word == "send") {
      op.kind = OpKind::kSend;
      op.value = bytes();
      expect_word("to", "'to RANK'");
      op.peer = existing_rank("the rank to send to");
      parse_attributes(op, "send", kTag | kCpu | kNic | kComm);
    } else if (word == "recv") {
      op.kind = OpKind::kRecv;
      op.value = bytes();
      expect_word("from", "'from RANK' or 'from -1'");
      const char* begin = at_after_blanks();
      op.peer = number_or_any("the rank to receive from, or -1 for any");
      if (op.peer != kAny && op.peer >= ranks_)
        fail_at(begin, "rank " + std::to_string(op.peer) + ranks_hint());
      parse_attributes(op, "recv", kTag | kCpu | kNic | kComm);
    } else {
      for (int kind = 0; kind < kCollectiveKinds; ++kind) {
        if (word == name(static_cast<CollectiveKind>(kind))) {
          return parse_collective(static_cast<CollectiveKind>(kind), word.data(), label);
        }
      }
      at_ = word.empty() ? at_ : word.data();
      std::string message = "found " + found() + "; expected calc, send, recv";
      for (int kind = 0; kind < kCollectiveKinds; ++kind) {
        (message += ", ") += name(static_cast<CollectiveKind>(kind));
      }
      if (label.empty()) message += ", or a label with ':' or 'requires' behind it";
      fail(message);
    }
    builder_.add(op, label);
  }

  void parse_collective(CollectiveKind kind, const char* begin, std::string_view label) {
    Collective collective{.kind = kind};
    skip_blanks();
    const bool is_list = has_counts(kind) && at_ != end_ && *at_ == '[';
    if (kind != CollectiveKind::kBarrier) {
      if (is_list) {
        collective.counts = byte_list();
        if (kind == CollectiveKind::kAlltoall || kind == CollectiveKind::kNeighborAlltoall) {
          expect_word("receives", "'receives [BYTES …]b', what this rank gets from each");
          collective.receive_counts = byte_list();
        }
      } else {
        collective.bytes = bytes();
      }
    }
    const bool receives_list =
        is_list || (kind == CollectiveKind::kNeighborAllgather && peek_word() == "receives");
    if (receives_list && !is_list) {
      next_word();
      collective.receive_counts = byte_list();
    }
    if (is_of_neighbors(kind)) {
      expect_word("to", "'to [RANK …]', the ranks that this one sends to");
      collective.destinations = rank_list();
      expect_word("from", "'from [RANK …]', the ranks that this one receives from");
      collective.sources = rank_list();
    }
    Op op{.kind = OpKind::kCollective};
    unsigned allowed = kCpu | kNic | kComm;
    if (kind != CollectiveKind::kBarrier) allowed |= kElem;
    if (has_root(kind)) allowed |= kRoot;
    if (has_counts(kind) || is_of_neighbors(kind)) allowed |= kVForm;
    allowed |= kBy;
    parse_attributes(op, name(kind), allowed, &collective);
    collective.comm = op.comm;
    const std::uint32_t size = op.comm == kWorld ? ranks_ : communicator_sizes_[op.comm];
    if (collective.root >= size) {
      fail_at(begin, "root " + std::to_string(collective.root) + " is outside the communicator of " +
                         std::to_string(size) + " ranks");
    }
    if (is_of_neighbors(kind)) {
      check_neighbors(begin, collective.destinations, size);
      check_neighbors(begin, collective.sources, size);
      if (is_list) check_list(begin, collective.counts, collective.destinations.size(), "", " destinations");
      if (receives_list)
        check_list(begin, collective.receive_counts, collective.sources.size(), "", " sources");
    } else if (is_list) {
      check_list(begin, collective.counts, size, "a communicator of ", " ranks");
      if (kind == CollectiveKind::kAlltoall) {
        check_list(begin, collective.receive_counts, size, "a communicator of ", " ranks");
      }
    }
    builder_.add_collective(collective, op.cpu, op.nic, label);
  }

  void check_list(const char* begin, const std::vector<std::uint64_t>& counts, std::size_t size,
                  const char* before, const char* behind) const {
    if (counts.size() == size) return;
    fail_at(begin, "a list of " + std::to_string(counts.size()) + " byte counts for " + before +
                       std::to_string(size) + behind);
  }
  void check_neighbors(const char* begin, const std::vector<std::uint32_t>& ranks, std::uint32_t size) const {
    for (const std::uint32_t rank : ranks) {
      if (rank < size) continue;
      fail_at(begin, "neighbor " + std::to_string(rank) + " is outside the communicator of " +
                         std::to_string(size) + " ranks");
    }
  }

  // "ring:segment=64KiB", as collective algorithms are written in scenarios. Which there are, the replay
  // knows.
  std::string algorithm_choice() {
    const char* begin = at_after_blanks();
    const auto belongs = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == ':' || c == '=' || c == ',' || c == '.';
    };
    while (at_ != end_ && belongs(*at_)) ++at_;
    if (at_ == begin) fail("found " + found() + "; expected an algorithm, such as ring:segment=64KiB");
    return std::string(begin, at_);
  }

  // --- attributes ---

  enum Attribute : unsigned {
    kTag = 1,
    kCpu = 2,
    kNic = 4,
    kComm = 8,
    kRoot = 16,
    kElem = 32,
    kVForm = 64,
    kBy = 128
  };

  static unsigned attribute_of(std::string_view word) {
    if (word == "tag") return kTag;
    if (word == "cpu") return kCpu;
    if (word == "nic") return kNic;
    if (word == "comm") return kComm;
    if (word == "root") return kRoot;
    if (word == "elem") return kElem;
    if (word == "v") return kVForm;
    if (word == "by") return kBy;
    return 0;
  }

  void parse_attributes(Op& op, std::string_view op_name, unsigned allowed,
                        Collective* collective = nullptr) {
    unsigned seen = 0;
    for (std::string_view word = peek_word(); !word.empty(); word = peek_word()) {
      const unsigned attribute = attribute_of(word);
      if (attribute == 0) return;  // the caller complains
      if ((attribute & allowed) == 0)
        fail("'" + std::string(op_name) + "' takes no '" + std::string(word) + "'");
      if ((attribute & seen) != 0) fail("'" + std::string(word) + "' is given twice");
      seen |= attribute;
      at_ += word.size();
      const char* begin = at_after_blanks();
      switch (attribute) {
        case kTag:
          op.tag = number_or_any("a tag, or -1 for any");
          break;
        case kCpu:
          op.cpu = static_cast<std::uint16_t>(number("a cpu", 0xFFFF));
          break;
        case kNic:
          op.nic = static_cast<std::uint8_t>(number("a nic", 0xFF));
          break;
        case kRoot:
          collective->root = static_cast<std::uint32_t>(number("a rank of the communicator", kAny - 1));
          break;
        case kElem:
          collective->element_bytes =
              static_cast<std::uint32_t>(number("the bytes of an element", 0xFFFFFFFFu));
          if (collective->element_bytes == 0) fail_at(begin, "an element has at least 1 byte");
          break;
        case kVForm:
          collective->v_form = true;
          break;
        case kBy:
          collective->algorithm = algorithm_choice();
          break;
        default: {
          const std::uint64_t id = number("the number of a communicator", kAny - 1);
          if (id >= communicators_.size())
            fail_at(begin, "communicator " + std::to_string(id) + " is not defined above");
          op.comm = communicators_[id];
        }
      }
    }
  }

  const char* at_;
  const char* end_;
  const char* line_begin_;
  std::int64_t line_ = 1;
  const std::string& file_name_;
  Rank ranks_ = 0;
  GraphBuilder builder_;
  LabelTable labels_;
  std::vector<std::uint32_t> communicators_{kWorld};  // index in the graph of each number in the text
  std::vector<std::uint32_t> communicator_sizes_;     // by index in the graph; not used for the world
  std::vector<bool> is_member_;                       // of the communicator being read
};

}  // namespace

Graph parse_text(std::string_view text, const std::string& file_name) {
  return Parser(text, file_name).parse();
}

Graph read_text_file(const std::string& path) {
  const FileView file(path);
  return parse_text(file.bytes(), path);
}

}  // namespace weft::goal
