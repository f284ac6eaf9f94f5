#include <expat.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/trim.hpp>
#include <exception>
#include <initializer_list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "sim/units/input_error.h"
#include "topologies/export/formats.h"
#include "topologies/import/attributes.h"
#include "topologies/import/cables.h"
#include "topologies/import/graphml_values.h"
#include "topologies/import/lines.h"
#include "topologies/import/named_values.h"
#include "topologies/import/node_kinds.h"
#include "topologies/import/readers.h"

namespace weft::topologies {
namespace {

// Is this value of `cable` one that vendors' words tell, like "AOC 30m"?
bool in_vendors_words(const std::string& text) {
  const CableWords words = cable_words(text);
  return words.metres || (words.kind && text != cable_name(*words.kind));
}

// Follows the elements as the parser meets them.
class GraphmlReader {
 public:
  GraphmlReader(std::string_view text, const std::string& file, const std::vector<std::string>& ignored);
  ImportedGraph take();

 private:
  enum class Element : std::uint8_t {
    kRoot,
    kKey,
    kDefault,
    kGraph,
    kNode,
    kEdge,
    kData,
    kPort,
    kUnused,
    kOther
  };
  using Attributes = const XML_Char**;

  struct Key {
    std::string name;
    bool of_nodes = false, of_links = false;
    std::optional<std::string> fallback;
  };
  // A node, by the id in the file; named by an edge, it may be declared later.
  struct Id {
    std::string name;
    std::optional<std::uint32_t> node;
  };

  static void XMLCALL on_start(void* self, const XML_Char* name, Attributes attributes);
  static void XMLCALL on_end(void* self, const XML_Char* name);
  static void XMLCALL on_text(void* self, const XML_Char* text, int size);
  template <typename Act>
  void guarded(Act act);

  void parse(std::string_view text);
  void start(std::string_view name, Attributes attributes);
  void end();
  void skip_element(std::string_view name, Element parent);
  void skip_attributes(Attributes attributes, std::initializer_list<std::string_view> read, const char* of);
  void start_key(Attributes attributes);
  void start_graph(Attributes attributes);
  void start_node(Attributes attributes);
  void start_edge(Attributes attributes);
  void end_data();
  // Which attribute it is of the node or edge that is open; kFields: none that is read.
  Field field_of(const Key& key) const;
  void apply(Field field, const std::string& text);
  void apply_defaults();
  void apply_foreign();
  void end_unused(Element parent);
  void note_both_ways();
  void set_foreign(const std::string& name, const std::string& text);
  std::uint32_t intern(const std::string& id);
  std::string required(Attributes attributes, const char* element, const char* name) const;
  static const char* find(Attributes attributes, std::string_view name);
  void resolve_links();
  void resolve_names();

  std::int64_t line() const { return static_cast<std::int64_t>(XML_GetCurrentLineNumber(parser_.get())); }
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError({graph_.file, line()}, message);
  }

  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  std::exception_ptr thrown_;  // expat is C: errors wait here until it has returned
  ImportedGraph graph_;
  std::vector<Element> open_;
  std::unordered_map<std::string, Key> keys_;
  std::vector<std::string> keys_with_default_;
  std::string key_;                   // of the key or data element that is open
  std::string text_;                  // of the default or data element that is open
  std::array<bool, kFields> seen_{};  // of the node or edge that is open
  bool has_graph_ = false, in_node_ = false;
  std::vector<std::pair<std::string, std::string>> foreign_;  // names and values, of the node or edge
  std::map<std::string, std::string> graph_units_;            // of the graph: "delay", "ms"
  std::set<std::string> graph_fields_;                        // ours of the graph that were given
  std::set<std::string> units_;                               // what edges have units of: "link speed"
  bool has_elements_ = false;                                 // in the data element that is open
  LinkValues values_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of ids, in the order they are met
  std::vector<Id> ids_;
  std::vector<std::string> names_, labels_;  // of nodes; empty: none
};

GraphmlReader::GraphmlReader(std::string_view text, const std::string& file,
                             const std::vector<std::string>& ignored)
    : parser_(XML_ParserCreate(nullptr), XML_ParserFree), values_(ignored) {
  if (parser_ == nullptr) throw std::bad_alloc();
  graph_.file = file;
  XML_SetUserData(parser_.get(), this);
  XML_SetElementHandler(parser_.get(), on_start, on_end);
  XML_SetCharacterDataHandler(parser_.get(), on_text);
  parse(text);
  if (!has_graph_) throw InputError({.file = file}, "the file has no <graph>");
  if (graph_.nodes.empty()) throw InputError({.file = file}, "the graph has no node");
  resolve_links();
  resolve_names();
  note_both_ways();
  values_.note(graph_);
}

ImportedGraph GraphmlReader::take() { return std::move(graph_); }

template <typename Act>
void GraphmlReader::guarded(Act act) {
  if (thrown_ != nullptr) return;
  try {
    act();
  } catch (...) {
    thrown_ = std::current_exception();
    XML_StopParser(parser_.get(), XML_FALSE);
  }
}

void GraphmlReader::on_start(void* self, const XML_Char* name, Attributes attributes) {
  auto* reader = static_cast<GraphmlReader*>(self);
  reader->guarded([&] { reader->start(name, attributes); });
}

void GraphmlReader::on_end(void* self, const XML_Char* /*name*/) {
  auto* reader = static_cast<GraphmlReader*>(self);
  reader->guarded([&] { reader->end(); });
}

void GraphmlReader::on_text(void* self, const XML_Char* text, int size) {
  auto* reader = static_cast<GraphmlReader*>(self);
  if (reader->open_.empty()) return;
  const Element element = reader->open_.back();
  if (element != Element::kData && element != Element::kDefault && element != Element::kUnused) return;
  reader->guarded([&] { reader->text_.append(text, static_cast<std::size_t>(size)); });
}

void GraphmlReader::parse(std::string_view text) {
  constexpr std::size_t kPiece = std::size_t{1} << 24;
  do {
    const std::size_t size = std::min(kPiece, text.size());
    const bool last = size == text.size();
    const XML_Status status = XML_Parse(parser_.get(), text.data(), static_cast<int>(size), last ? 1 : 0);
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
    if (status != XML_STATUS_OK && XML_GetErrorCode(parser_.get()) == XML_ERROR_NO_MEMORY) {
      throw std::bad_alloc();
    }
    if (status != XML_STATUS_OK) {
      throw InputError(
          {graph_.file, line(), static_cast<std::int64_t>(XML_GetCurrentColumnNumber(parser_.get())) + 1},
          fmt::format("this is not the XML of a GraphML file: {}",
                      XML_ErrorString(XML_GetErrorCode(parser_.get()))));
    }
    text.remove_prefix(size);
  } while (!text.empty());
}

const char* GraphmlReader::find(Attributes attributes, std::string_view name) {
  for (; *attributes != nullptr; attributes += 2) {
    if (attributes[0] == name) return attributes[1];
  }
  return nullptr;
}

std::string GraphmlReader::required(Attributes attributes, const char* element, const char* name) const {
  const char* value = find(attributes, name);
  if (value == nullptr) fail(fmt::format("<{}> has no '{}'", element, name));
  return value;
}

void GraphmlReader::start(std::string_view name, Attributes attributes) {
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos)
    name.remove_prefix(colon + 1);
  if (open_.empty()) {
    if (name != "graphml") fail(fmt::format("found <{}>, but expected <graphml>", shortened(name)));
    open_.push_back(Element::kRoot);
    return;
  }
  const Element parent = open_.back();
  Element element = Element::kOther;
  if (name == "key" && parent == Element::kRoot) {
    element = Element::kKey;
    start_key(attributes);
  } else if (name == "default" && parent == Element::kKey) {
    element = Element::kDefault;
    text_.clear();
  } else if (name == "graph") {
    if (parent != Element::kRoot)
      fail("a graph inside a node or edge; expected one graph without others in it");
    if (has_graph_) fail("a second graph; expected one");
    element = Element::kGraph;
    start_graph(attributes);
  } else if (name == "node" && parent == Element::kGraph) {
    element = Element::kNode;
    start_node(attributes);
  } else if (name == "edge" && parent == Element::kGraph) {
    element = Element::kEdge;
    start_edge(attributes);
  } else if (name == "hyperedge") {
    fail("a hyperedge; a cable has two ends");
  } else if (name == "data" && (parent == Element::kNode || parent == Element::kEdge)) {
    element = Element::kData;
    key_ = required(attributes, "data", "key");
    text_.clear();
    has_elements_ = false;
  } else if (name == "data" && (parent == Element::kPort || parent == Element::kGraph)) {
    element = Element::kUnused;
    key_ = required(attributes, "data", "key");
    text_.clear();
  } else if (name == "port" && (parent == Element::kNode || parent == Element::kPort)) {
    element = Element::kPort;
    values_.skip("<port> elements");
  } else if (parent == Element::kData) {
    has_elements_ = true;
  } else {
    skip_element(name, parent);
  }
  open_.push_back(element);
}

// What may hold a part of the network by its place, but isn't read: a misspelt <edge>, say, or a <locator>.
void GraphmlReader::skip_element(std::string_view name, Element parent) {
  const bool of_network = parent == Element::kRoot || parent == Element::kGraph || parent == Element::kNode ||
                          parent == Element::kEdge || parent == Element::kKey;
  const bool of_drawing = parent == Element::kRoot && name == "data";  // yEd's resources
  if (of_network && !of_drawing && name != "desc")
    values_.skip(fmt::format("<{}> elements", shortened(name)));
}

// Attributes of elements that the format hasn't, or that aren't read. Those that help parsers say nothing
// more.
void GraphmlReader::skip_attributes(Attributes attributes, std::initializer_list<std::string_view> read,
                                    const char* of) {
  for (; *attributes != nullptr; attributes += 2) {
    const std::string_view name = attributes[0];
    if (std::find(read.begin(), read.end(), name) != read.end() || name.find(':') != name.npos) continue;
    if (!name.starts_with("parse.") && !name.starts_with("xmlns"))
      values_.skip(fmt::format("{} of <{}>", name, of));
  }
}

void GraphmlReader::end() {
  const Element element = open_.back();
  open_.pop_back();
  if (element == Element::kDefault) {
    keys_[key_].fallback = boost::algorithm::trim_copy(text_);
    keys_with_default_.push_back(key_);
  } else if (element == Element::kData) {
    end_data();
  } else if (element == Element::kUnused) {
    end_unused(open_.back());
  } else if (element == Element::kNode || element == Element::kEdge) {
    apply_defaults();
    apply_foreign();
  }
}

void GraphmlReader::start_key(Attributes attributes) {
  key_ = required(attributes, "key", "id");
  Key key;
  // igraph and others have names as ids; yEd's drawings have a type only.
  for (const char* of : {"id", "yfiles.type", "attr.name"}) {
    if (const char* name = find(attributes, of)) key.name = name;
  }
  const char* scope = find(attributes, "for");
  const std::string_view of = scope == nullptr ? "all" : scope;
  key.of_nodes = of == "node" || of == "all";
  key.of_links = of == "edge" || of == "all";
  if (const std::string unit_of = meaning_of(key.name).unit_of; key.of_links && !unit_of.empty())
    units_.insert(unit_of);
  if (!keys_.emplace(key_, std::move(key)).second) fail(fmt::format("a second key '{}'", key_));
}

void GraphmlReader::start_graph(Attributes attributes) {
  has_graph_ = true;
  const std::string kind = required(attributes, "graph", "edgedefault");
  if (kind == "undirected") return;
  fail(fmt::format(
      "edgedefault is '{}', but expected 'undirected': a cable carries both directions (networkx: "
      "write G.to_undirected())",
      shortened(kind)));
}

std::uint32_t GraphmlReader::intern(const std::string& id) {
  const auto [found, added] = numbers_.try_emplace(id, static_cast<std::uint32_t>(ids_.size()));
  if (added) ids_.push_back({.name = id, .node = std::nullopt});
  return found->second;
}

void GraphmlReader::start_node(Attributes attributes) {
  const std::string name = required(attributes, "node", "id");
  skip_attributes(attributes, {"id"}, "node");
  const std::uint32_t id = intern(name);
  if (ids_[id].node) {
    fail(fmt::format("a second node '{}'; the first is in line {}", shortened(name),
                     graph_.nodes[*ids_[id].node].line));
  }
  if (graph_.nodes.size() == kMostImportedNodes) fail(fmt::format("more than {} nodes", kMostImportedNodes));
  ids_[id].node = static_cast<std::uint32_t>(graph_.nodes.size());
  names_.emplace_back();
  labels_.emplace_back();
  graph_.nodes.emplace_back().line = line();
  in_node_ = true;
  seen_.fill(false);
  foreign_.clear();
}

void GraphmlReader::start_edge(Attributes attributes) {
  const char* directed = find(attributes, "directed");
  if (directed != nullptr && std::string_view(directed) != "false") {
    fail("a directed edge; a cable carries both directions");
  }
  if (graph_.links.size() == kMostImportedLinks) fail(fmt::format("more than {} edges", kMostImportedLinks));
  ImportedLink link;  // with the numbers of ids until all nodes are known
  link.from = intern(required(attributes, "edge", "source"));
  link.to = intern(required(attributes, "edge", "target"));
  link.line = line();
  skip_attributes(attributes, {"id", "source", "target", "directed"}, "edge");
  graph_.links.push_back(link);
  in_node_ = false;
  seen_.fill(false);
  foreign_.clear();
}

void GraphmlReader::end_data() {
  const auto found = keys_.find(key_);
  if (found == keys_.end()) fail(fmt::format("data with key '{}', which no <key> declares", shortened(key_)));
  Field field = field_of(found->second);
  if (field == kCable && in_vendors_words(boost::algorithm::trim_copy(text_))) field = kFields;
  if (field == kFields) {
    foreign_.emplace_back(found->second.name, boost::algorithm::trim_copy(text_));
    // Such as drawings, whose labels may be names and rates.
    if (has_elements_ && foreign_.back().second.empty()) values_.skip(found->second.name);
    return;
  }
  if (seen_[field]) fail(fmt::format("'{}' is given twice", kFieldNames[field].name));
  apply(field, boost::algorithm::trim_copy(text_));
}

// Data of ports, and of the graph: of these, ours are read, and units of others, as fnss writes them.
void GraphmlReader::end_unused(Element parent) {
  const auto found = keys_.find(key_);
  const std::string name = found == keys_.end() ? key_ : found->second.name;
  const std::string text = boost::algorithm::trim_copy(text_);
  const std::optional<GraphField> field =
      parent == Element::kGraph && !values_.ignores(name) ? graph_field(name) : std::nullopt;
  if (field) {
    if (!graph_fields_.insert(name).second) fail(fmt::format("'{}' of the graph is given twice", name));
    try {
      set_graph(graph_, *field, text);
    } catch (const InputError& error) {
      fail(fmt::format("{} of the graph: {}", name, error.what()));
    }
  } else if (const std::string of = meaning_of(name).unit_of; parent == Element::kGraph && !of.empty()) {
    graph_units_[of] = text;
  } else if (!text.empty() && (parent == Element::kPort || meaning_of(name).meaning != Meaning::kOther)) {
    values_.skip(fmt::format("{} of {}", name, parent == Element::kPort ? "ports" : "the graph"));
  }
}

Field GraphmlReader::field_of(const Key& key) const {
  if (!(in_node_ ? key.of_nodes : key.of_links) || values_.ignores(key.name)) return kFields;
  for (std::size_t f = 0; f < kFields; ++f) {
    if (kFieldNames[f].of_node != in_node_ || key.name != kFieldNames[f].name) continue;
    // A unit under a name of its own is another program's.
    return !in_node_ && (units_.contains(key.name) || graph_units_.contains(key.name))
               ? kFields
               : static_cast<Field>(f);
  }
  return kFields;
}

void GraphmlReader::apply(Field field, const std::string& text) {
  seen_[field] = true;
  try {
    if (field == kName) {
      names_.back() = text;
    } else if (field == kLabel) {
      labels_.back() = text;
    } else if (in_node_) {
      set_node(graph_.nodes.back(), field, text);
    } else {
      set_link(graph_.links.back(), field, text);
    }
  } catch (const InputError& error) {
    fail(fmt::format("{}: {}", kFieldNames[field].name, error.what()));
  }
}

void GraphmlReader::apply_defaults() {
  for (const std::string& name : keys_with_default_) {
    const Key& key = keys_.at(name);
    const Field field = field_of(key);
    if (field != kFields && !seen_[field]) apply(field, *key.fallback);
    const bool given = std::any_of(foreign_.begin(), foreign_.end(),
                                   [&](const auto& value) { return value.first == key.name; });
    if (field == kFields && !given && !key.name.empty() && (in_node_ ? key.of_nodes : key.of_links)) {
      foreign_.emplace_back(key.name, *key.fallback);
    }
  }
}

// After all that are ours, which go before. The Topology Zoo and fnss have units under a name of their own.
void GraphmlReader::apply_foreign() {
  for (auto& [name, text] : foreign_) {
    if (graph_units_.empty() || !finite_number(text)) continue;
    const auto unit = graph_units_.find(meaning_of(name).words);
    if (unit != graph_units_.end() && !units_.contains(unit->first)) text += unit->second;
  }
  const std::vector<LinkValues::Named> values(foreign_.begin(), foreign_.end());
  try {
    if (!in_node_) {
      const std::uint32_t count = values_.set_all(graph_.links.back(), values);
      if (graph_.links.size() + count > kMostImportedLinks + 1)
        fail(fmt::format("more than {} edges", kMostImportedLinks));
      const ImportedLink link = graph_.links.back();
      graph_.links.pop_back();
      graph_.links.insert(graph_.links.end(), count, link);
      return;
    }
    for (const auto& [name, text] : values_.with_units(values)) {
      set_foreign(std::string(name), std::string(text));
    }
  } catch (const InputError& error) {
    fail(error.what());
  }
}

void GraphmlReader::set_foreign(const std::string& name, const std::string& text) {
  ImportedNode& node = graph_.nodes.back();
  const NamedMeaning named = meaning_of(name);
  if (text.empty()) return;
  if (values_.ignores(name)) return values_.skip(name);
  if (const std::optional<NodeKind> kind = node.kind ? std::nullopt : foreign_kind(name, text)) {
    node.kind = kind;
  } else if (named.meaning == Meaning::kLatency && !node.switch_latency) {
    const bool bare = finite_number(text).has_value();
    if (bare && named.unit.empty())
      throw InputError(fmt::format("{}: '{}' has no unit; write it like 300ns", shortened(name), text));
    node.switch_latency = time_attribute(text + (bare ? named.unit : ""), Time::ns(1));
  } else if (named.meaning == Meaning::kRate) {
    throw InputError(fmt::format(
        "{0}: '{1}' is of a node, but links have rates; leave it unread with ignore=[{0}]", name, text));
  } else {
    values_.skip(name);
  }
}

void GraphmlReader::resolve_links() {
  for (ImportedLink& link : graph_.links) {
    for (std::uint32_t* end : {&link.from, &link.to}) {
      const std::optional<std::uint32_t> node = ids_[*end].node;
      if (!node) {
        throw InputError({graph_.file, link.line},
                         fmt::format("an edge to '{}', but the graph has no such node", ids_[*end].name));
      }
      *end = *node;
    }
  }
}

// Two edges between the same nodes are two cables, whichever end comes first; who meant one for each
// direction has to know.
void GraphmlReader::note_both_ways() {
  std::set<std::pair<std::uint32_t, std::uint32_t>> ways;
  for (const ImportedLink& link : graph_.links) ways.emplace(link.from, link.to);
  std::uint64_t pairs = 0;
  std::pair<std::uint32_t, std::uint32_t> first;
  for (const auto& [from, to] : ways) {
    if (from >= to || !ways.contains({to, from})) continue;
    if (pairs++ == 0) first = {from, to};
  }
  if (pairs == 0) return;
  graph_.assumed.push_back(fmt::format(
      "between {} pairs of nodes, like '{}' and '{}', there are edges from either to the other; each "
      "is taken for a cable of its own, with both directions",
      pairs, shortened(graph_.nodes[first.first].name), shortened(graph_.nodes[first.second].name)));
}

// A node's name, else its label if it has one of its own, else its label with its id, else its id.
void GraphmlReader::resolve_names() {
  std::unordered_map<std::string, std::uint32_t> times;
  for (const std::string& label : labels_) ++times[label];
  for (const Id& id : ids_) {
    if (!id.node) continue;
    const std::string& label = labels_[*id.node];
    graph_.nodes[*id.node].name = !names_[*id.node].empty() ? names_[*id.node]
                                  : label.empty()           ? id.name
                                  : times[label] == 1       ? label
                                                            : fmt::format("{} ({})", label, id.name);
  }
}

}  // namespace

ImportedGraph read_graphml(std::string_view text, const std::string& file,
                           const std::vector<std::string>& ignored) {
  return GraphmlReader(text, file, ignored).take();
}

}  // namespace weft::topologies
