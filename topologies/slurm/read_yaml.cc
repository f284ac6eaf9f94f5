#include <fmt/core.h>
#include <yaml.h>

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"
#include "topologies/import/lines.h"
#include "topologies/slurm/configuration.h"
#include "topologies/slurm/names.h"

namespace weft::topologies {
namespace {

// libyaml takes time in the square of how deep brackets stand in each other.
void check_depth(std::string_view text, const std::string& file) {
  constexpr std::int64_t kMostDeep = 100;
  std::int64_t depth = 0, line = 1;
  for (const char c : text) {
    line += c == '\n';
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth > kMostDeep) {
      throw InputError({.file = file, .line = line},
                       fmt::format("brackets stand in each other more than {} deep", kMostDeep));
    }
  }
}

// A document, and the nodes in it by what they are expected to be. Errors are at the node's line.
class Document {
 public:
  Document(std::string_view text, const std::string& file) : file_(file) {
    check_depth(text, file);
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    const bool loaded = yaml_parser_load(&parser, &document_) != 0;
    const std::int64_t second = loaded ? line_of_next(parser) : 0;
    const std::string problem = parser.problem == nullptr ? "this is no YAML" : parser.problem;
    const auto line = static_cast<std::int64_t>(parser.problem_mark.line) + 1;
    yaml_parser_delete(&parser);
    if (!loaded) throw InputError({.file = file, .line = line}, problem);
    if (second == 0) return;
    yaml_document_delete(&document_);
    throw InputError({.file = file, .line = second},
                     "more stands here, behind the first document; expected one");
  }
  ~Document() { yaml_document_delete(&document_); }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  [[noreturn]] void fail(const yaml_node_t* at, const std::string& message) const {
    const std::int64_t line = at == nullptr ? 0 : line_of(at);
    throw InputError({.file = file_, .line = line}, message);
  }
  static std::int64_t line_of(const yaml_node_t* node) {
    return static_cast<std::int64_t>(node->start_mark.line) + 1;
  }

  const yaml_node_t* root() { return yaml_document_get_root_node(&document_); }
  std::string text(const yaml_node_t* node, std::string_view what) const {
    if (node->type != YAML_SCALAR_NODE) fail(node, fmt::format("{} must be a text", what));
    return {reinterpret_cast<const char*>(node->data.scalar.value), node->data.scalar.length};
  }
  std::vector<const yaml_node_t*> items(const yaml_node_t* node, std::string_view what) {
    if (node == nullptr || node->type != YAML_SEQUENCE_NODE)
      fail(node, fmt::format("{} must be a list", what));
    std::vector<const yaml_node_t*> all;
    for (const yaml_node_item_t* i = node->data.sequence.items.start; i < node->data.sequence.items.top;
         ++i) {
      all.push_back(yaml_document_get_node(&document_, *i));
    }
    return all;
  }
  std::vector<std::pair<std::string, const yaml_node_t*>> fields(const yaml_node_t* node,
                                                                 std::string_view what) {
    if (node->type != YAML_MAPPING_NODE) fail(node, fmt::format("{} must have keys and values", what));
    std::vector<std::pair<std::string, const yaml_node_t*>> all;
    std::map<std::string, std::int64_t> lines;  // where each key was
    for (const yaml_node_pair_t* p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; ++p) {
      const yaml_node_t* key = yaml_document_get_node(&document_, p->key);
      all.emplace_back(text(key, "a key"), yaml_document_get_node(&document_, p->value));
      const auto [first, added] = lines.emplace(all.back().first, line_of(key));
      if (added) continue;
      fail(key, fmt::format("'{}' is given twice; the first is in line {}", shortened_text(first->first),
                            first->second));
    }
    return all;
  }
  // What `read` returns, with its errors, which have no place yet, at a node's line.
  template <typename Read>
  auto placed(const yaml_node_t* at, const Read& read) const -> decltype(read()) {
    try {
      return read();
    } catch (const InputError& error) {
      fail(at, error.what());
    }
  }

 private:
  // Where the document behind the first begins, or what stands there in place of one; 0: nothing does.
  static std::int64_t line_of_next(yaml_parser_t& parser) {
    yaml_document_t next;
    if (yaml_parser_load(&parser, &next) == 0) return static_cast<std::int64_t>(parser.problem_mark.line) + 1;
    const std::int64_t line = yaml_document_get_root_node(&next) == nullptr
                                  ? 0
                                  : static_cast<std::int64_t>(next.start_mark.line) + 1;
    yaml_document_delete(&next);
    return line;
  }

  std::string file_;
  yaml_document_t document_ = {};
};

// YAML's words for true and false.
std::optional<bool> truth_of(std::string_view text) {
  const std::string word = lower_case(text);
  for (const char* yes : {"true", "yes", "on", "y"}) {
    if (word == yes) return true;
  }
  for (const char* no : {"false", "no", "off", "n"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

class YamlReader {
 public:
  YamlReader(std::string_view text, const std::string& file) : document_(text, file) { read_.file = file; }

  SlurmTopology read(const std::string& which) {
    std::string kind;
    for (const auto& [key, value] : document_.fields(choose(which), "a topology")) {
      if (key == "topology" || key == "cluster_default") continue;
      if (!kind.empty()) {
        document_.fail(value, fmt::format("a topology is of one kind, but this one has '{}' and '{}'",
                                          shortened_text(kind), shortened_text(key)));
      }
      kind = key;
      if (key == "tree") {
        read_tree(value);
      } else if (key == "block") {
        read_blocks(value);
      } else {
        document_.fail(value, fmt::format("a topology of kind '{}' is not read; known are tree and block",
                                          shortened_text(key)));
      }
    }
    if (read_.switches.empty()) document_.fail(document_.root(), "the topology has no switch and no block");
    return std::move(read_);
  }

 private:
  // Which of the topologies is read. Names are given once, and so is a default, unless a name says more.
  const yaml_node_t* choose(const std::string& which) {
    const std::vector<const yaml_node_t*> all = document_.items(document_.root(), "topology.yaml");
    const yaml_node_t* named = nullptr;
    const yaml_node_t* by_default = nullptr;
    std::map<std::string, std::int64_t> lines;  // where each name is
    std::string known;
    for (const yaml_node_t* each : all) {
      for (const auto& [key, value] : document_.fields(each, "a topology")) {
        if (key == "topology") {
          const std::string name = document_.text(value, key);
          if (const auto [first, added] = lines.emplace(name, Document::line_of(value)); !added) {
            document_.fail(value, fmt::format("a second topology is called '{}'; the first is in line {}",
                                              shortened_text(name), first->second));
          }
          if (name == which) named = each;
          known += (known.empty() ? "" : ", ") + shortened_text(name);
        }
        if (key != "cluster_default" || !is_default(value)) continue;
        if (by_default != nullptr && which == "auto") {
          document_.fail(value, fmt::format("a second topology has cluster_default; the first is in line {}. "
                                            "topology=NAME says which to read",
                                            Document::line_of(by_default)));
        }
        by_default = each;
      }
    }
    if (all.empty()) document_.fail(document_.root(), "topology.yaml lists no topology");
    if (named != nullptr) return named;
    if (which != "auto") {
      document_.fail(document_.root(),
                     fmt::format("there is no topology '{}'; known: {}", which, shortened_text(known)));
    }
    return by_default == nullptr ? all[0] : by_default;
  }

  bool is_default(const yaml_node_t* value) const {
    const std::string text = document_.text(value, "cluster_default");
    if (const std::optional<bool> is = truth_of(text)) return *is;
    document_.fail(
        value, fmt::format("cluster_default is '{}', but it must be true or false", shortened_text(text)));
  }

  void unknown(const std::string& key, const yaml_node_t* at) {
    if (!told_.insert(key).second) return;
    read_.notes.push_back(fmt::format("{}:{}: the key '{}' is not known and was left out", read_.file,
                                      Document::line_of(at), shortened_text(key)));
  }

  std::vector<std::string> names(const yaml_node_t* value, const std::string& key) {
    const std::string text = document_.text(value, key);
    return document_.placed(value, [&] { return names_.expand(text); });
  }

  // A switch or block: `own` is the key of its name.
  void read_entry(const yaml_node_t* node, const std::string& own) {
    SlurmSwitch added{.name = "", .line = Document::line_of(node), .nodes = {}, .switches = {}};
    for (const auto& [key, value] : document_.fields(node, "a " + own)) {
      if (key == own) {
        added.name = document_.text(value, key);
      } else if (key == "nodes") {
        added.nodes = names(value, key);
      } else if (key == "children" && own == "switch") {
        added.switches = names(value, key);
      } else {
        unknown(key, value);
      }
    }
    document_.placed(node, [&] { SlurmNames::check(own, added.name); });
    read_.switches.push_back(std::move(added));
  }

  void read_tree(const yaml_node_t* tree) {
    for (const auto& [key, value] : document_.fields(tree, "tree")) {
      if (key != "switches") {
        unknown(key, value);
        continue;
      }
      for (const yaml_node_t* each : document_.items(value, key)) read_entry(each, "switch");
    }
  }

  void read_blocks(const yaml_node_t* block) {
    read_.has_blocks = true;
    for (const auto& [key, value] : document_.fields(block, "block")) {
      if (key == "blocks") {
        for (const yaml_node_t* each : document_.items(value, key)) read_entry(each, "block");
      } else if (key == "block_sizes") {
        read_.block_sizes_line = Document::line_of(value);
        for (const yaml_node_t* each : document_.items(value, key)) {
          const std::string size = document_.text(each, "a block size");
          read_.block_sizes.push_back(
              document_.placed(each, [&] { return positive_number("block_sizes", size); }));
        }
      } else {
        unknown(key, value);
      }
    }
  }

  Document document_;
  SlurmNames names_;
  std::set<std::string> told_;  // keys that are not known
  SlurmTopology read_;
};

}  // namespace

SlurmTopology read_slurm_yaml(std::string_view text, const std::string& file, const std::string& which) {
  return YamlReader(text, file).read(which);
}

bool is_slurm_yaml(std::string_view text, const std::string& file) {
  if (file.ends_with(".yaml") || file.ends_with(".yml")) return true;
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return false;
    text.remove_prefix(begin);
    if (text.front() != '#') return text.front() == '-';
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return false;
}

}  // namespace weft::topologies
