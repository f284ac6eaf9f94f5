#include "goal/pack/packed_file.h"

#include <algorithm>

#include "goal/pack/inside.h"

namespace weft::goal {

using pack::BlockType;

namespace {

// Sums of what may be damaged: they wrap, and are compared with what there is.
std::uint64_t add(std::uint64_t before, std::int64_t difference) {
  return before + static_cast<std::uint64_t>(difference);
}

}  // namespace

PackedFile::Index::Index(std::string_view file, const std::string& name) : bytes(file), file_name(name) {
  pack::FrameReader frames(bytes, file_name);
  const std::uint32_t version = frames.check_header();
  if (version != pack::kVersion) {
    frames.fail(pack::kMagic.size(), "found format version " + std::to_string(version) +
                                         ", which can't be read block by block; convert the file (weft goal "
                                         "convert)");
  }
  catalog_begin = frames.find_catalog();
  std::uint64_t at = catalog_begin;
  pack::Catalog catalog;
  frames.parse(at, BlockType::kCatalog, 0, catalog);
  if (at != bytes.size() - pack::kTrailerBytes) frames.damaged(catalog_begin, "the catalog");
  tables = pack::read_tables(frames, catalog, catalog_begin);
  info = pack::info_of(catalog);
  read_blocks(frames, catalog);
  read_ranks(frames, catalog);
}

void PackedFile::Index::read_blocks(const pack::FrameReader& frames, const pack::Catalog& catalog) {
  std::uint64_t at = 0;
  for (const std::int64_t difference : catalog.program_block()) {
    program_blocks.push_back(at = add(at, difference));
  }
  at = 0;
  for (const std::int64_t difference : catalog.table_block()) {
    table_blocks.push_back(at = add(at, difference));
  }
  if (catalog.programs_in_block_size() != catalog.program_block_size() ||
      catalog.tables_in_block_size() != catalog.table_block_size()) {
    bad_index(frames);
  }
  for (int b = 0; b < catalog.programs_in_block_size(); ++b) {
    for (std::uint32_t k = catalog.programs_in_block(b); k > 0; --k) {
      const auto program = static_cast<int>(programs.size());
      if (program == catalog.program_begin_size()) bad_index(frames);
      programs.push_back({static_cast<std::uint32_t>(b), catalog.program_begin(program)});
    }
  }
  std::uint64_t table = 0;
  for (const std::uint32_t count : catalog.tables_in_block()) {
    first_table.push_back(table);
    table += count;
  }
  first_table.push_back(table);
}

void PackedFile::Index::read_ranks(const pack::FrameReader& frames, const pack::Catalog& catalog) {
  const auto count = static_cast<int>(tables.ranks);
  for (const int size : {catalog.rank_ops_size(), catalog.rank_edges_size(), catalog.rank_program_size(),
                         catalog.rank_table_size(), catalog.rank_values_size(), catalog.rank_labels_size()}) {
    if (size != count) bad_index(frames);
  }
  ranks.reserve(tables.ranks);
  std::uint64_t program = 0, table = 0, values = 0, labels = 0;
  for (int r = 0; r < count; ++r) {
    program = add(program, catalog.rank_program(r));
    table = add(table, catalog.rank_table(r));
    values = add(values, catalog.rank_values(r));
    labels = add(labels, catalog.rank_labels(r));
    const std::uint64_t rank_ops = catalog.rank_ops(r);
    if (rank_ops > 0x7FFFFFFFu || (rank_ops != 0 && program >= programs.size()) ||
        table / 3 >= first_table.back()) {
      bad_index(frames);
    }
    ranks.push_back({static_cast<OpIndex>(rank_ops), static_cast<std::uint32_t>(program),
                     catalog.rank_edges(r), table, catalog.rank_values(r) == 0 ? 0 : values,
                     catalog.rank_labels(r) == 0 ? 0 : labels});
    ops += rank_ops;
    edges += catalog.rank_edges(r);
  }
}

PackedFile::Inside::Inside(std::shared_ptr<const Index> shared, const Options& options)
    : index(std::move(shared)),
      frames(index->bytes, index->file_name),
      program_cache_(options.cache_bytes / 4),
      table_cache_(options.cache_bytes / 8),
      value_cache_(options.cache_bytes / 2),
      label_cache_(options.cache_bytes / 8) {}

std::shared_ptr<const pack::ProgramBlock> PackedFile::Inside::program_block(std::uint32_t block, Rank rank) {
  std::uint64_t at = index->program_blocks[block];
  return program_cache_.get(
      at, [&] { return std::make_shared<pack::ProgramBlock>(pack::read_programs(frames, at, rank)); });
}

PackedFile::Inside::TablePlace PackedFile::Inside::table(Rank rank) {
  const std::uint64_t number = index->ranks[rank].table / 3;
  const std::vector<std::uint64_t>& first_table = index->first_table;
  const auto above = std::upper_bound(first_table.begin(), first_table.end(), number);
  const auto b = static_cast<std::size_t>(above - first_table.begin()) - 1;
  std::uint64_t at = index->table_blocks[b];
  TablePlace place{.offset = at};
  place.block = table_cache_.get(at, [&] {
    auto block = std::make_shared<pack::TableBlock>(pack::read_names(frames, at, rank, index->tables));
    if (block->tables.size() != first_table[b + 1] - first_table[b]) index->bad_index(frames);
    return block;
  });
  place.table = &place.block->tables[number - first_table[b]];
  return place;
}

std::shared_ptr<const pack::ValueBlock> PackedFile::Inside::value_block(std::uint64_t at, Rank rank) {
  const std::uint64_t begin = at;
  return value_cache_.get(begin, [&] {
    auto block = std::make_shared<pack::ValueBlock>();
    const char* why = pack::unpack_values(frames.unpack(at, BlockType::kValues, rank), *block);
    if (why != nullptr) frames.damaged(begin, BlockType::kValues, rank, why);
    block->file_end = at;
    return block;
  });
}

std::shared_ptr<const pack::LabelBlock> PackedFile::Inside::label_block(std::uint64_t at, Rank rank) {
  const std::uint64_t begin = at;
  return label_cache_.get(begin, [&] {
    auto block = std::make_shared<pack::LabelBlock>(pack::read_labels(frames, at, rank));
    block->file_end = at;
    return block;
  });
}

PackedFile::PackedFile(const std::string& path) : PackedFile(path, Options()) {}

PackedFile::PackedFile(const std::string& path, const Options& options)
    : PackedFile(std::make_unique<FileView>(path), path, options) {}

PackedFile::PackedFile(std::unique_ptr<FileView> file, const std::string& file_name, const Options& options) {
  auto index = std::make_shared<Index>(file->bytes(), file_name);
  index->view = std::move(file);
  inside_ = std::make_unique<Inside>(std::move(index), options);
}

PackedFile::PackedFile(std::string_view bytes, const std::string& file_name, const Options& options)
    : inside_(std::make_unique<Inside>(std::make_shared<Index>(bytes, file_name), options)) {}

PackedFile::PackedFile(const PackedFile& same, const Options& options)
    : inside_(std::make_unique<Inside>(same.inside_->index, options)) {}

PackedFile::~PackedFile() = default;

bool PackedFile::is_one(std::string_view bytes) {
  return bytes.size() >= pack::kHeaderBytes && bytes.starts_with(pack::kMagic) &&
         load<std::uint32_t>(bytes.data() + pack::kMagic.size()) == pack::kVersion;
}

Rank PackedFile::ranks() const { return inside_->index->tables.ranks; }
std::uint64_t PackedFile::ops() const { return inside_->index->ops; }
std::uint64_t PackedFile::edges() const { return inside_->index->edges; }
OpIndex PackedFile::ops(Rank rank) const { return inside_->index->ranks[rank].ops; }
std::uint64_t PackedFile::edges(Rank rank) const { return inside_->index->ranks[rank].edges; }
bool PackedFile::has_labels(Rank rank) const { return inside_->index->ranks[rank].labels != 0; }
std::uint32_t PackedFile::program(Rank rank) const { return inside_->index->ranks[rank].program; }
const std::vector<Communicator>& PackedFile::communicators() const {
  return inside_->index->tables.communicators;
}
const std::vector<Collective>& PackedFile::collectives() const { return inside_->index->tables.collectives; }
const PackInfo& PackedFile::info() const { return inside_->index->info; }
std::string_view PackedFile::bytes() const { return inside_->index->bytes; }
const std::string& PackedFile::file_name() const { return inside_->index->file_name; }
RankReader PackedFile::rank(Rank rank) { return PackedFile::rank(rank, {}); }
RankReader PackedFile::rank(Rank rank, const Parts& parts) { return RankReader(*inside_, rank, parts); }

}  // namespace weft::goal
