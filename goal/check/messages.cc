// Checks of sends and receives against each other, one receiving rank at a time.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "goal/check/matching.h"
#include "goal/check/recorder.h"

namespace weft::goal::checks {
namespace {

struct Message {
  std::uint32_t comm;
  std::uint32_t source;  // kAny: any
  std::uint32_t tag;
  Rank rank;  // where the operation is
  OpIndex op;

  auto key() const { return std::tuple(comm, source, tag); }
};

class MessageCheck {
 public:
  MessageCheck(Recorder& recorder, const Members& members)
      : recorder_(recorder), graph_(recorder.graph()), members_(members) {}

  void run() {
    sort_sends_by_destination();
    std::vector<Message> sends, receives;
    for (Rank rank = 0; rank < graph_.ranks(); ++rank) {
      sends.clear();
      receives.clear();
      for (std::uint64_t i = first_send_[rank]; i < first_send_[rank + 1]; ++i) {
        sends.push_back(message(sends_[i].rank, sends_[i].op, sends_[i].rank));
      }
      const RankView view = graph_.rank(rank);
      for (OpIndex i = 0; i < view.ops(); ++i) {
        if (view.kind(i) == OpKind::kRecv && is_sound(view, rank, i))
          receives.push_back(message(rank, i, view.peer(i)));
      }
      match(sends, receives);
    }
  }

 private:
  struct Place {
    Rank rank;
    OpIndex op;
  };
  using Messages = std::vector<Message>;
  using Iterator = Messages::const_iterator;

  Message message(Rank rank, OpIndex op, std::uint32_t source) const {
    const RankView view = graph_.rank(rank);
    return {view.comm(op), source, view.tag(op), rank, op};
  }

  // Can the operation be matched at all? If not, that was reported.
  bool is_sound(const RankView& view, Rank rank, OpIndex i) {
    const bool any_source = view.kind(i) == OpKind::kRecv && view.peer(i) == kAny;
    const bool bad_comm = view.comm(i) >= graph_.communicators().size();
    if (bad_comm || (view.peer(i) >= graph_.ranks() && !any_source)) {
      recorder_.add(FindingKind::kOutOfRange, 1, rank, i, [&] {
        return recorder_.describe(rank, i) + " names a " + (bad_comm ? "communicator" : "rank") +
               " that does not exist";
      });
      return false;
    }
    if (view.comm(i) == kWorld) return true;
    const bool is_member = members_.position(view.comm(i), rank) != kAny;
    if (!is_member || (!any_source && members_.position(view.comm(i), view.peer(i)) == kAny)) {
      recorder_.add(FindingKind::kNotMember, 1, rank, i, [&] {
        return recorder_.describe(rank, i) + " uses " + recorder_.communicator(view.comm(i)) +
               ", which rank " + std::to_string(is_member ? view.peer(i) : rank) + " is not in";
      });
    }
    return true;
  }

  void sort_sends_by_destination() {
    first_send_.assign(std::size_t{graph_.ranks()} + 2, 0);
    const auto for_each_send = [&](const auto& work) {
      for (Rank rank = 0; rank < graph_.ranks(); ++rank) {
        const RankView view = graph_.rank(rank);
        for (OpIndex i = 0; i < view.ops(); ++i) {
          if (view.kind(i) == OpKind::kSend) work(view, rank, i);
        }
      }
    };
    for_each_send([&](const RankView& view, Rank rank, OpIndex i) {
      if (is_sound(view, rank, i)) ++first_send_[std::size_t{view.peer(i)} + 2];
    });
    for (std::size_t r = 1; r < first_send_.size(); ++r) first_send_[r] += first_send_[r - 1];
    sends_.resize(first_send_.back());
    for_each_send([&](const RankView& view, Rank rank, OpIndex i) {
      if (view.peer(i) < graph_.ranks() && view.comm(i) < graph_.communicators().size()) {
        sends_[first_send_[std::size_t{view.peer(i)} + 1]++] = {rank, i};
      }
    });
  }

  void match(Messages& sends, Messages& receives) {
    const auto order = [](const Message& a, const Message& b) {
      return std::tuple(a.key(), a.rank, a.op) < std::tuple(b.key(), b.rank, b.op);
    };
    std::sort(sends.begin(), sends.end(), order);
    std::sort(receives.begin(), receives.end(), order);
    Iterator send = sends.cbegin(), receive = receives.cbegin();
    while (send != sends.cend() || receive != receives.cend()) {
      const std::uint32_t comm = receive == receives.cend() ? send->comm
                                 : send == sends.cend()     ? receive->comm
                                                            : std::min(send->comm, receive->comm);
      const auto end_of = [comm](Iterator from, const Messages& all) {
        while (from != all.cend() && from->comm == comm) ++from;
        return from;
      };
      const Iterator sends_end = end_of(send, sends), receives_end = end_of(receive, receives);
      match_in_communicator(send, sends_end, receive, receives_end);
      send = sends_end;
      receive = receives_end;
    }
  }

  void match_in_communicator(Iterator send, Iterator sends_end, Iterator receive, Iterator receives_end) {
    std::vector<MessageClass> send_classes = classes(send, sends_end);
    std::vector<MessageClass> receive_classes = classes(receive, receives_end);
    const auto wild = [](const MessageClass& c) { return c.source == kAny || c.tag == kAny; };
    const bool any_wild = std::any_of(send_classes.begin(), send_classes.end(), wild) ||
                          std::any_of(receive_classes.begin(), receive_classes.end(), wild);
    if (!any_wild) check_sizes(send, send_classes, receive, receive_classes);
    match_classes(send_classes, receive_classes);
    report(send, send_classes, FindingKind::kUnmatchedSend, "no receive takes");
    report(receive, receive_classes, FindingKind::kUnmatchedReceive, "no send serves");
  }

  static std::vector<MessageClass> classes(Iterator begin, Iterator end) {
    std::vector<MessageClass> result;
    for (Iterator at = begin; at != end; ++at) {
      if (result.empty() || result.back().source != at->source || result.back().tag != at->tag) {
        result.push_back({at->source, at->tag, 0, static_cast<std::uint32_t>(at - begin)});
      }
      ++result.back().count;
    }
    return result;
  }

  // Pairs the k-th send and the k-th receive of equal classes.
  void check_sizes(Iterator sends, const std::vector<MessageClass>& send_classes, Iterator receives,
                   const std::vector<MessageClass>& receive_classes) {
    auto receive_class = receive_classes.begin();
    for (const MessageClass& send_class : send_classes) {
      const auto key = std::pair(send_class.source, send_class.tag);
      while (receive_class != receive_classes.end() &&
             std::pair(receive_class->source, receive_class->tag) < key) {
        ++receive_class;
      }
      if (receive_class == receive_classes.end()) return;
      if (std::pair(receive_class->source, receive_class->tag) != key) continue;
      for (std::uint64_t k = 0; k < std::min(send_class.count, receive_class->count); ++k) {
        const Message& send = sends[static_cast<std::ptrdiff_t>(send_class.first + k)];
        const Message& receive = receives[static_cast<std::ptrdiff_t>(receive_class->first + k)];
        if (graph_.rank(receive.rank).value(receive.op) >= graph_.rank(send.rank).value(send.op)) continue;
        recorder_.add(FindingKind::kShortReceive, 1, receive.rank, receive.op, [&] {
          return recorder_.describe(receive.rank, receive.op) + " takes fewer bytes than " +
                 recorder_.describe(send.rank, send.op) + " has";
        });
      }
    }
  }

  void report(Iterator messages, const std::vector<MessageClass>& left, FindingKind kind, const char* what) {
    for (const MessageClass& messages_of : left) {
      if (messages_of.count == 0) continue;
      const Message& first = messages[messages_of.first];
      recorder_.add(kind, messages_of.count, first.rank, first.op, [&] {
        return std::string(what) + " " + std::to_string(messages_of.count) +
               (messages_of.count == 1 ? " message like " : " messages like ") +
               recorder_.describe(first.rank, first.op);
      });
    }
  }

  Recorder& recorder_;
  const Graph& graph_;
  const Members& members_;
  std::vector<std::uint64_t> first_send_;  // into sends_, per destination
  std::vector<Place> sends_;
};

}  // namespace

void check_messages(Recorder& recorder, const Members& members) { MessageCheck(recorder, members).run(); }

}  // namespace weft::goal::checks
