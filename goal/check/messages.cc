// Checks of sends and receives against each other.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "goal/check/matching.h"
#include "goal/check/pending.h"
#include "goal/check/recorder.h"

namespace weft::goal::checks {
namespace {

// Operations read of a rank in one turn, and of all ranks together: the turns are short enough to keep what
// waits for its other side small, and long enough to be worth the change.
constexpr std::uint64_t kOpsInTurns = 1 << 22;
constexpr std::uint64_t kMinTurn = 32, kMaxTurn = 4096;

class MessageCheck {
 public:
  MessageCheck(Recorder& recorder, const CommunicatorPlaces& members)
      : recorder_(recorder), source_(recorder.source()), members_(members) {}

  // Ranks are read side by side, so that both sides of a message are met soon. An exact send and an exact
  // receive of equal key are paired at once. That takes nothing from a maximum matching: whatever else would
  // take the one fits what else would take the other.
  void run() {
    std::vector<std::pair<Rank, std::unique_ptr<OpCursor>>> cursors;  // of ranks that are not at their end
    for (Rank rank = 0; rank < source_.ranks(); ++rank) cursors.emplace_back(rank, source_.open(rank));
    const auto turn = static_cast<std::uint32_t>(
        std::clamp(kOpsInTurns / std::max(source_.ranks(), Rank{1}), kMinTurn, kMaxTurn));
    while (!cursors.empty()) {
      std::erase_if(cursors, [&](const auto& cursor) {
        if (!cursor.second->next(block_, turn)) return true;
        read(cursor.first);
        return false;
      });
    }
    report_out_of_range();
    report_left();
    report_short();
  }

 private:
  // All messages to one rank within one communicator.
  using Group = std::pair<Rank, std::uint32_t>;
  // Equal messages that a wildcard keeps from being paired at once.
  struct WildKey {
    Group group;
    bool is_send;
    std::uint32_t sender, tag;
    auto operator<=>(const WildKey&) const = default;
  };
  struct Count {
    std::uint64_t count = 0;
    Rank rank = 0;
    OpIndex op = 0;  // the first of them
  };
  struct Short {
    OpIndex receive;
    Rank sender;
    OpIndex send;
  };
  struct Shorts {
    std::uint64_t count = 0;
    std::vector<Short> first;
  };
  struct Place {
    Rank rank;
    OpIndex op;
    FindingKind kind;
    bool bad_comm;
    Rank other;  // who is no member
  };

  void read(Rank rank) {
    for (std::uint32_t k = 0; k < block_.ops.size(); ++k) {
      const Op& op = block_.ops[k];
      if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
      const OpIndex index = block_.first + k;
      if (!is_sound(rank, index, op)) continue;
      const bool is_send = op.kind == OpKind::kSend;
      const MessageKey key{is_send ? op.peer : rank, is_send ? rank : op.peer, op.comm, op.tag};
      if (key.sender == kAny || key.tag == kAny) {
        Count& count = wild_[{{key.receiver, key.comm}, is_send, key.sender, key.tag}];
        if (count.count++ == 0) {
          count.rank = rank;
          count.op = index;
        }
        continue;
      }
      const auto other = pending_.meet(key, is_send, {index, op.value});
      if (!other) continue;
      const std::uint64_t sent = is_send ? op.value : other->bytes, taken = is_send ? other->bytes : op.value;
      if (taken >= sent) continue;
      Shorts& shorts = shorts_[{key.receiver, key.comm}];
      ++shorts.count;
      if (shorts.first.size() < recorder_.examples()) {
        shorts.first.push_back({is_send ? other->op : index, key.sender, is_send ? index : other->op});
      }
    }
  }

  // Can the operation be matched at all? If not, that is reported.
  bool is_sound(Rank rank, OpIndex index, const Op& op) {
    const bool any_source = op.kind == OpKind::kRecv && op.peer == kAny;
    const bool bad_comm = op.comm >= source_.communicators().size();
    if (bad_comm || (op.peer >= source_.ranks() && !any_source)) {
      note({rank, index, FindingKind::kOutOfRange, bad_comm, 0});
      return false;
    }
    if (op.comm == kWorld) return true;
    const bool is_member = members_.position(op.comm, rank) != kAny;
    if (!is_member || (!any_source && members_.position(op.comm, op.peer) == kAny)) {
      note({rank, index, FindingKind::kNotMember, false, is_member ? op.peer : rank});
    }
    return true;
  }

  // Ranks are not read in order: the first of a rank are kept, and told in order.
  void note(const Place& place) {
    ++noted_[{place.kind, place.rank}].first;
    std::vector<Place>& kept = noted_[{place.kind, place.rank}].second;
    if (kept.size() < recorder_.examples()) kept.push_back(place);
  }

  void report_out_of_range() {
    for (const auto& [key, noted] : noted_) {
      std::uint64_t left = noted.first;
      for (const Place& place : noted.second) {
        const std::uint64_t count = &place == &noted.second.back() ? left : 1;
        left -= count;
        recorder_.add(place.kind, count, place.rank, place.op, [&] { return sentence(place); });
      }
    }
  }

  std::string sentence(const Place& place) const {
    const std::string who = recorder_.describe(place.rank, place.op);
    if (place.kind == FindingKind::kOutOfRange) {
      return who + " names a " + (place.bad_comm ? "communicator" : "rank") + " that does not exist";
    }
    OpBlock block;
    return who + " uses " + recorder_.communicator(recorder_.read(place.rank, place.op, block).comm) +
           ", which rank " + std::to_string(place.other) + " is not in";
  }

  // What found no other side; where there are wildcards, after they have served all they can.
  void report_left() {
    const std::vector<PendingMessages::Left> left = pending_.left();
    auto exact = left.begin();
    auto wild = wild_.begin();
    while (exact != left.end() || wild != wild_.end()) {
      const auto group_of = [](const MessageKey& key) { return Group(key.receiver, key.comm); };
      const auto group_of_wild = [](const auto& entry) { return entry.first.group; };
      // left is sorted by receiver and sender: communicators of one receiver are told apart here.
      Rank receiver = kAny;
      if (exact != left.end()) receiver = std::min(receiver, exact->key.receiver);
      if (wild != wild_.end()) receiver = std::min(receiver, wild->first.group.first);
      std::map<std::uint32_t, Classes> by_comm;
      for (; exact != left.end() && exact->key.receiver == receiver; ++exact) {
        by_comm[group_of(exact->key).second].add(
            exact->is_send, exact->key.sender, exact->key.tag,
            {exact->count, exact->is_send ? exact->key.sender : receiver, exact->op});
      }
      for (; wild != wild_.end() && wild->first.group.first == receiver; ++wild) {
        Classes& classes = by_comm[group_of_wild(*wild).second];
        classes.add(wild->first.is_send, wild->first.sender, wild->first.tag, wild->second);
        classes.any_wild = true;
      }
      for (auto& [comm, classes] : by_comm) {
        classes.sort();
        if (classes.any_wild) {
          match_classes(classes.sends, classes.receives);
          shorts_.erase({receiver, comm});  // who served whom is not certain
        }
        report(classes.sends, classes.send_places, FindingKind::kUnmatchedSend, "no receive takes");
        report(classes.receives, classes.receive_places, FindingKind::kUnmatchedReceive, "no send serves");
      }
    }
  }

  struct Classes {
    std::vector<MessageClass> sends, receives;
    std::vector<Count> send_places, receive_places;
    bool any_wild = false;

    void add(bool is_send, std::uint32_t sender, std::uint32_t tag, const Count& count) {
      std::vector<Count>& places = is_send ? send_places : receive_places;
      (is_send ? sends : receives)
          .push_back({sender, tag, count.count, static_cast<std::uint32_t>(places.size())});
      places.push_back(count);
    }
    void sort() {
      for (std::vector<MessageClass>* list : {&sends, &receives}) {
        std::sort(list->begin(), list->end(), [](const MessageClass& a, const MessageClass& b) {
          return std::pair(a.source, a.tag) < std::pair(b.source, b.tag);
        });
      }
    }
  };

  void report(const std::vector<MessageClass>& left, const std::vector<Count>& places, FindingKind kind,
              const char* what) {
    for (const MessageClass& messages_of : left) {
      if (messages_of.count == 0) continue;
      const Count& first = places[messages_of.first];
      recorder_.add(kind, messages_of.count, first.rank, first.op, [&] {
        return std::string(what) + " " + std::to_string(messages_of.count) +
               (messages_of.count == 1 ? " message like " : " messages like ") +
               recorder_.describe(first.rank, first.op);
      });
    }
  }

  void report_short() {
    for (const auto& [group, shorts] : shorts_) {
      std::uint64_t left = shorts.count;
      for (const Short& example : shorts.first) {
        const std::uint64_t count = &example == &shorts.first.back() ? left : 1;
        left -= count;
        const Rank receiver = group.first;
        recorder_.add(FindingKind::kShortReceive, count, receiver, example.receive, [&] {
          return recorder_.describe(receiver, example.receive) + " takes fewer bytes than " +
                 recorder_.describe(example.sender, example.send) + " has";
        });
      }
    }
  }

  Recorder& recorder_;
  OpSource& source_;
  const CommunicatorPlaces& members_;
  OpBlock block_;
  PendingMessages pending_;
  std::map<WildKey, Count> wild_;
  std::map<Group, Shorts> shorts_;
  std::map<std::pair<FindingKind, Rank>, std::pair<std::uint64_t, std::vector<Place>>> noted_;
};

}  // namespace

void check_messages(Recorder& recorder, const CommunicatorPlaces& members) {
  MessageCheck(recorder, members).run();
}

}  // namespace weft::goal::checks
