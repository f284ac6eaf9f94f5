#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "goal/file.h"
#include "goal/pack/catalog.h"
#include "goal/pack/frame.h"
#include "goal/pack/labels.h"
#include "goal/pack/loops.h"
#include "goal/pack/pack.h"
#include "goal/pack/program_blocks.h"
#include "goal/pack/shapes.h"
#include "goal/pack/values.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace pack {
namespace {

// A shape that takes no more values than this within a rank, each often, is told apart by them.
constexpr std::uint32_t kFewValues = 8;
constexpr std::uint32_t kOften = 4;
// With more shapes or symbols than this a new book is begun: it must not outgrow the graph.
constexpr std::size_t kMaxShapes = 1 << 20;
// A tag is common if more than one in so many messages has it, among the first of a rank.
constexpr std::uint32_t kCommonTags = 64, kTagSample = 1 << 16;
// Values unpacked at a time in all ranks together: what a reader of all ranks side by side holds.
constexpr std::uint64_t kValuesInAll = 1 << 24;
constexpr std::uint64_t kMinBlockValues = 256;
constexpr int kBlockLabels = 1 << 16;

class Writer {
 public:
  Writer(RankSource& graph, const Sink& sink)
      : graph_(graph),
        frames_(sink),
        programs_(frames_),
        tables_(frames_),
        block_values_(
            std::clamp(kValuesInAll / std::max(graph.ranks(), Rank{1}), kMinBlockValues, kMaxBlockValues)),
        // A column must be worth its head.
        own_columns_(
            static_cast<std::uint32_t>(std::clamp<std::uint64_t>(block_values_ / 64, 2, kMaxColumns - 2))) {}

  void write(const PackInfo& info) {
    describe(graph_, info, catalog_);
    for (Rank rank = 0; rank < graph_.ranks(); ++rank) write_rank(rank);
    programs_.flush();
    tables_.flush();
    programs_.describe(catalog_);
    tables_.describe(catalog_);
    write_collectives(frames_, graph_.collectives(), catalog_);
    const std::uint64_t catalog_begin = frames_.written();
    frames_.block(BlockType::kCatalog, 0, catalog_);
    frames_.trailer(catalog_begin);
  }

 private:
  // What is known of the values of one shape within a rank.
  struct Values {
    std::uint32_t shape;
    std::uint32_t count = 0, distinct = 0;
    std::uint64_t seen[kFewValues];
    std::uint32_t symbol[kFewValues];  // for each value; where values are in a column, the first for all
    std::uint32_t column = 0;
  };

  void write_rank(Rank rank) {
    const RankView view = graph_.rank(rank);
    if (std::max(book_.size(), symbols_.size()) > kMaxShapes) start_afresh();
    peers_.clear();
    comms_.clear();
    collectives_.clear();
    read_shapes(rank, view);
    name_symbols();
    const std::uint64_t values_begin = frames_.written();
    const bool any_values = write_values(rank, view);
    const std::uint64_t labels_begin = frames_.written();
    const bool any_labels = write_labels(rank, view);
    std::int64_t program = program_before_;
    if (view.ops() != 0) program = find_program(rank);
    const auto table = static_cast<std::int64_t>(
        tables_.add(rank, graph_.ranks(), peers_.names(), comms_.names(), collectives_.names()));
    catalog_.add_rank_ops(view.ops());
    catalog_.add_rank_edges(view.edges());
    catalog_.add_rank_program(program - program_before_);
    catalog_.add_rank_table(table - table_before_);
    program_before_ = program;
    table_before_ = table;
    const auto offset = [](bool any, std::uint64_t begin, std::uint64_t& before) {
      const std::uint64_t now = any ? begin : before;
      const auto difference = static_cast<std::int64_t>(now - before);
      before = now;
      return difference;
    };
    catalog_.add_rank_values(offset(any_values, values_begin, values_before_));
    catalog_.add_rank_labels(offset(any_labels, labels_begin, labels_before_));
  }

  void start_afresh() {
    programs_.flush();
    book_ = ShapeBook();
    local_of_shape_.clear();
    symbols_.clear();
    symbol_of_.clear();
    known_programs_.clear();
  }

  // Fills locals_, one per operation, and values_, one per shape of this rank.
  void read_shapes(Rank rank, const RankView& view) {
    find_common_tags(view);
    locals_.clear();
    values_.clear();
    std::uint32_t tag_before = 0;
    OpIndex dependent_before = 0;
    for (OpIndex i = 0; i < view.ops(); ++i) {
      const Op op = view.op(i);
      ShapeFields fields{.kind = op.kind, .nic = op.nic, .cpu = op.cpu};
      if (op.kind == OpKind::kCollective) {
        fields.target = collectives_.place(op.peer);
      } else if (op.kind != OpKind::kCalc) {
        const bool any_source = op.kind == OpKind::kRecv && op.peer == kAny;
        if ((op.peer >= graph_.ranks() && !any_source) || op.comm >= graph_.communicators().size()) {
          throw InputError("operation " + std::to_string(i) + " of rank " + std::to_string(rank) +
                           " names a peer or communicator that does not exist; a packed file can't hold it");
        }
        fields.target = any_source ? 0 : peers_.place(op.peer) + 1;
        fields.comm = op.comm == kWorld ? 0 : comms_.place(op.comm) + 1;
        if (op.tag != kAny) {
          fields.tag = 1 + 2 * std::uint64_t{op.tag};
          if (!std::binary_search(common_tags_.begin(), common_tags_.end(), op.tag)) {
            fields.tag = 2 + 2 * zigzag(std::int64_t{op.tag} - tag_before);
            tag_before = op.tag;
          }
        }
      }
      edges_.clear();
      for (const Edge& edge : view.dependents(i)) {
        const std::int64_t distance = std::int64_t{edge.dependent()} - std::int64_t{i};
        const std::uint64_t target = edge.dependent() == dependent_before ? 0 : 1 + zigzag(distance);
        dependent_before = edge.dependent();
        edges_.push_back(2 * target + (edge.on_start() ? 1 : 0));
      }
      note(book_.number(fields, edges_), op.kind == OpKind::kCollective ? 0 : op.value);
    }
  }

  // Sorts out which tags stand as they are: those that come often. Others may count something, so that only
  // their differences repeat.
  void find_common_tags(const RankView& view) {
    std::uint32_t messages = 0;
    tag_counts_.clear();
    for (OpIndex i = 0; i < view.ops() && messages < kTagSample; ++i) {
      if (view.kind(i) != OpKind::kSend && view.kind(i) != OpKind::kRecv) continue;
      ++tag_counts_[view.tag(i)];
      ++messages;
    }
    common_tags_.clear();
    for (const auto& [tag, count] : tag_counts_) {
      if (count > messages / kCommonTags) common_tags_.push_back(tag);
    }
    std::sort(common_tags_.begin(), common_tags_.end());
  }

  void note(std::uint32_t shape, std::uint64_t value) {
    if (shape >= local_of_shape_.size()) local_of_shape_.resize(2 * std::size_t{shape} + 64, kAny);
    std::uint32_t& local = local_of_shape_[shape];
    if (local == kAny) {
      local = static_cast<std::uint32_t>(values_.size());
      values_.push_back({.shape = shape});
    }
    locals_.push_back(local);
    Values& values = values_[local];
    ++values.count;
    if (values.distinct > kFewValues) return;
    for (std::uint32_t k = values.distinct; k > 0; --k) {
      if (values.seen[k - 1] == value) return;
    }
    if (values.distinct < kFewValues) values.seen[values.distinct] = value;
    ++values.distinct;
  }

  // Says for each shape whether its values stand in the program or in a column, and numbers what results.
  void name_symbols() {
    std::uint32_t own = 0;
    for (Values& values : values_) {
      local_of_shape_[values.shape] = kAny;
      const bool few =
          values.distinct == 1 || (values.distinct <= kFewValues && values.count >= kOften * values.distinct);
      if (!few) {
        const bool is_calc = book_.fields(values.shape).kind == OpKind::kCalc;
        const bool own_column = values.count >= 32 && own < own_columns_;
        values.column = own_column ? 3 + own++ : is_calc ? 1 : 2;
      }
      for (std::uint32_t k = 0; k < (few ? values.distinct : 1); ++k) {
        values.symbol[k] = symbol({values.shape, values.column, few ? values.seen[k] : 0});
      }
    }
  }

  std::uint32_t symbol(const Symbol& symbol) {
    Digest digest;
    digest.add(symbol.shape);
    digest.add(symbol.column);
    digest.add(symbol.value);
    const auto [found, is_new] = symbol_of_.emplace(digest, static_cast<std::uint32_t>(symbols_.size()));
    if (is_new) symbols_.push_back(symbol);
    return found->second;
  }

  // Turns locals_ into symbols; writes the blocks of values. Returns whether there are any.
  bool write_values(Rank rank, const RankView& view) {
    const std::uint64_t begin = frames_.written();
    for (OpIndex i = 0; i < view.ops(); ++i) {
      const Values& values = values_[locals_[i]];
      if (values.column != 0) {
        columns_.add(values.column, view.value(i));
        if (columns_.size() == block_values_) flush_values(rank);
        locals_[i] = values.symbol[0];
      } else if (values.distinct == 1) {
        locals_[i] = values.symbol[0];
      } else {
        const std::uint64_t* seen = std::find(values.seen, values.seen + values.distinct, view.value(i));
        locals_[i] = values.symbol[seen - values.seen];
      }
    }
    if (columns_.size() != 0) flush_values(rank);
    return frames_.written() != begin;
  }

  void flush_values(Rank rank) {
    const std::string bytes = columns_.finish(parts_);
    frames_.block(BlockType::kValues, rank, bytes, parts_);
  }

  bool write_labels(Rank rank, const RankView& view) {
    OpIndex labelled = view.ops();
    for (OpIndex i = 0; i < view.ops() && labelled == view.ops(); ++i) {
      if (!view.label(i).empty()) labelled = i;
    }
    if (labelled == view.ops()) return false;
    std::string next;
    std::uint64_t text = 0;
    for (OpIndex i = 0; i < view.ops(); ++i) {
      const std::string_view label = view.label(i);
      text += label.size();
      if (label.empty()) {
        labels_.add_length(0);
      } else if (label == next) {
        labels_.add_length(1);
        next = label_after(label);
      } else {
        labels_.add_length(static_cast<std::uint32_t>(label.size()) + 2);
        labels_.mutable_text()->append(label);
        next = label_after(label);
      }
      if (labels_.length_size() < kBlockLabels && text < kMaxBlockText && i + 1 < view.ops()) continue;
      frames_.block(BlockType::kLabels, rank, labels_);
      labels_.Clear();
      text = 0;
      next.clear();
    }
    return true;
  }

  // The number of the program that locals_ is now.
  std::uint32_t find_program(Rank rank) {
    Digest digest;
    digest.add(locals_.size());
    for (const std::uint32_t symbol : locals_) digest.add(symbol);
    const auto found = known_programs_.find(digest);
    if (found != known_programs_.end()) return found->second;
    find_loops(locals_, tokens_);
    const std::uint32_t number = programs_.add(rank, tokens_, symbols_, book_);
    known_programs_.emplace(digest, number);
    return number;
  }

  RankSource& graph_;
  FrameWriter frames_;
  ProgramBlocks programs_;
  TableBlocks tables_;
  const std::uint64_t block_values_;
  const std::uint32_t own_columns_;
  Catalog catalog_;
  std::int64_t program_before_ = 0, table_before_ = 0;
  std::uint64_t values_before_ = 0, labels_before_ = 0;

  // Over many ranks; only asked, never walked.
  ShapeBook book_;
  std::vector<Symbol> symbols_;
  std::unordered_map<Digest, std::uint32_t, DigestHash> symbol_of_;
  std::unordered_map<Digest, std::uint32_t, DigestHash> known_programs_;
  // The members below are of the rank at hand, and are kept for their memory.
  Places peers_, comms_, collectives_;
  std::map<std::uint32_t, std::uint32_t> tag_counts_;
  std::vector<std::uint32_t> common_tags_;
  std::vector<std::uint32_t> local_of_shape_;
  std::vector<std::uint32_t> locals_;
  std::vector<Values> values_;
  std::vector<std::uint64_t> edges_;
  std::vector<std::uint32_t> tokens_;
  std::vector<std::size_t> parts_;
  ValueColumns columns_;
  Labels labels_;
};

}  // namespace
}  // namespace pack

std::string to_pack(const Graph& graph, const PackInfo& info) {
  std::string bytes;
  const pack::Sink sink = [&](std::string_view piece) { bytes += piece; };
  GraphRanks ranks(graph);
  pack::Writer(ranks, sink).write(info);
  return bytes;
}

void write_pack_file(RankSource& graph, const PackInfo& info, const std::string& path) {
  FileWriter file(path);
  const pack::Sink sink = [&](std::string_view piece) { file.write(piece); };
  pack::Writer(graph, sink).write(info);
  file.commit();
}

void write_pack_file(const Graph& graph, const PackInfo& info, const std::string& path) {
  GraphRanks ranks(graph);
  write_pack_file(ranks, info, path);
}

}  // namespace weft::goal
