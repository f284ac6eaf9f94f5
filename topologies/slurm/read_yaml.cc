#include <fmt/core.h>
#include <yaml.h>

#include <algorithm>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"
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
    const std::string problem = parser.problem == nullptr ? "this is no YAML" : parser.problem;
    const auto line = static_cast<std::int64_t>(parser.problem_mark.line) + 1;
    yaml_parser_delete(&parser);
    if (!loaded) throw InputError({.file = file, .line = line}, problem);
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
    for (const yaml_node_pair_t* p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; ++p) {
      all.emplace_back(text(yaml_document_get_node(&document_, p->key), "a key"),
                       yaml_document_get_node(&document_, p->value));
    }
    return all;
  }
  template <typename Read>
  auto placed(const yaml_node_t* at, const Read& read) const -> decltype(read()) {
    try {
      return read();
    } catch (const InputError& error) {
      fail(at, error.what());
    }
  }

 private:
  std::string file_;
  yaml_document_t document_ = {};
};

bool is_true(std::string_view text) {
  return text == "true" || text == "True" || text == "TRUE" || text == "yes" || text == "Yes" || text == "on";
}

class YamlReader {
 public:
  YamlReader(std::string_view text, const std::string& file) : document_(text, file) { read_.file = file; }

  SlurmTopology read(const std::string& which) {
    for (const auto& [key, value] : document_.fields(choose(which), "a topology")) {
      if (key == "topology" || key == "cluster_default") continue;
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
  const yaml_node_t* choose(const std::string& which) {
    const std::vector<const yaml_node_t*> all = document_.items(document_.root(), "topology.yaml");
    std::string known;
    const yaml_node_t* first_default = nullptr;
    for (const yaml_node_t* each : all) {
      for (const auto& [key, value] : document_.fields(each, "a topology")) {
        if (key == "topology") {
          const std::string name = document_.text(value, key);
          if (name == which) return each;
          known += (known.empty() ? "" : ", ") + shortened_text(name);
        }
        const bool is_default = key == "cluster_default" && is_true(document_.text(value, key));
        if (is_default && first_default == nullptr) first_default = each;
      }
    }
    if (all.empty()) document_.fail(document_.root(), "topology.yaml lists no topology");
    if (which != "auto") {
      document_.fail(document_.root(),
                     fmt::format("there is no topology '{}'; known: {}", which, shortened_text(known)));
    }
    return first_default == nullptr ? all[0] : first_default;
  }

  void unknown(const std::string& key, const yaml_node_t* at) {
    if (!told_.insert(key).second) return;
    read_.notes.push_back(fmt::format("{}:{}: the key '{}' is not known and was left out", read_.file,
                                      Document::line_of(at), shortened_text(key)));
  }

  std::vector<std::string> names(const yaml_node_t* value, const std::string& key) {
    return document_.placed(value, [&] { return names_.expand(document_.text(value, key)); });
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
          read_.block_sizes.push_back(document_.placed(
              each, [&] { return positive_number("block_sizes", document_.text(each, "a block size")); }));
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
