#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "goal/file.h"
#include "goal/graph/algorithm_word.h"
#include "goal/text/label_table.h"
#include "goal/text/scanner.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// By recursive descent; one pass, one look ahead.
class Parser : private Scanner {
 public:
  Parser(std::string_view text, const std::string& file_name) : Scanner(text, file_name) {}

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
  std::string ranks_hint() const {
    if (ranks_ == 0) return " does not exist: num_ranks is 0";
    return " does not exist: with num_ranks " + std::to_string(ranks_) + " ranks go from 0 to " +
           std::to_string(ranks_ - 1);
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
      parse_attributes(op, "send", kTag | kCpu | kNic | kComm | kSync);
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
    while (at_ != end_ && belongs_to_algorithm(*at_)) ++at_;
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
    kBy = 128,
    kSync = 256
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
    if (word == "sync") return kSync;
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
        case kSync:
          op.kind = KindOfOp(OpKind::kSend, true);
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
