#include "goal/collectives/nccl/topology_xml.h"

#include <expat.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <memory>
#include <new>

#include "sim/units/input_error.h"

namespace weft::goal::nccl {
namespace {

constexpr std::size_t kMostDevices = 1024, kMostDepth = 64;
constexpr double kUnknownPcie = 12;  // third generation, 16 lanes

struct Device {
  std::vector<std::uint32_t> way;  // numbers of the elements it is in, the cpu first
  std::uint32_t capability = 0;    // GPU; 0: not known
  double pcie_gbs = kUnknownPcie;
  double nvlinks = 0;
  double speed_gbs = 0;  // NIC; 0: not known
};

// GPUs on NVSwitch or NVLink boards, by the first digits of their PCI device number.
struct GpuKind {
  std::string_view device;
  std::uint32_t capability, nvlinks;
};
constexpr GpuKind kGpuKinds[] = {{"0x1db", 70, 6},   {"0x20b0", 80, 12}, {"0x20b2", 80, 12}, {"0x20b", 80, 0},
                                 {"0x2330", 90, 18}, {"0x233", 90, 0},   {"0x2901", 100, 18}};

PathType path_between(const Device& a, const Device& b) {
  std::size_t common = 0;
  while (common < a.way.size() && common < b.way.size() && a.way[common] == b.way[common]) ++common;
  if (common == 0) return PathType::kSystem;
  if (common == 1) return PathType::kHostBridge;
  return common == a.way.size() && common == b.way.size() ? PathType::kOneSwitch : PathType::kSwitches;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file)
      : file_(file), parser_(XML_ParserCreate(nullptr), XML_ParserFree) {
    if (parser_ == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), on_start, on_end);
    parse(text);
  }
  NodeFromXml take(const Node* otherwise);

 private:
  using Attributes = const XML_Char**;
  enum class Element : std::uint8_t { kSystem, kCpu, kBridge, kGpu, kNic, kOther };

  static void XMLCALL on_start(void* self, const XML_Char* name, Attributes attributes) {
    auto* reader = static_cast<Reader*>(self);
    reader->guarded([&] { reader->start(name, attributes); });
  }
  static void XMLCALL on_end(void* self, const XML_Char* /*name*/) {
    auto* reader = static_cast<Reader*>(self);
    reader->guarded([&] { reader->end(); });
  }
  template <typename Act>
  void guarded(Act act) {
    if (thrown_ != nullptr) return;
    try {
      act();
    } catch (...) {
      thrown_ = std::current_exception();
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }
  void parse(std::string_view text);
  void start(std::string_view name, Attributes attributes);
  void end();
  Element start_pci(Attributes attributes);
  void start_nvlink(Attributes attributes);
  void start_net(Attributes attributes);
  Device& add(std::vector<Device>& devices, const char* what);
  void complete_nvlinks(NodeFromXml& result) const;
  void complete_nics(NodeFromXml& result) const;

  static std::string_view find(Attributes attributes, std::string_view name) {
    for (; *attributes != nullptr; attributes += 2) {
      if (attributes[0] == name) return attributes[1];
    }
    return {};
  }
  // The number a text begins with; 0 if there is none. Throws InputError for one past `most`.
  double number(Attributes attributes, std::string_view name, double most) const {
    const std::string_view text = find(attributes, name);
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (!(value >= 0 && value <= most)) {
      fail(fmt::format("{}=\"{}\" is not from 0 to {}", name, text, most));
    }
    return value;
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError({file_, static_cast<std::int64_t>(XML_GetCurrentLineNumber(parser_.get())),
                      static_cast<std::int64_t>(XML_GetCurrentColumnNumber(parser_.get())) + 1},
                     message);
  }

  std::string file_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  std::exception_ptr thrown_;  // expat is C: errors wait here until it has returned
  std::vector<Element> open_;
  std::vector<std::uint32_t> way_;  // elements that are open and have devices in them
  std::uint32_t elements_ = 0;
  std::string bus_;  // of the last pci element
  std::vector<Device> gpus_, nics_;
  std::size_t nets_in_nic_ = 0;
  bool has_nvlinks_ = false, has_self_links_ = false, has_switches_ = false, has_board_ = false;
  CpuVendor cpu_ = CpuVendor::kOther;
};

void Reader::parse(std::string_view text) {
  constexpr std::size_t kMost = std::size_t{1} << 26;
  if (text.size() > kMost)
    throw InputError({.file = file_}, "it is longer than 64 MiB, no topology of a node");
  const XML_Status status = XML_Parse(parser_.get(), text.data(), static_cast<int>(text.size()), 1);
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  if (status == XML_STATUS_OK) return;
  if (XML_GetErrorCode(parser_.get()) == XML_ERROR_NO_MEMORY) throw std::bad_alloc();
  fail(
      fmt::format("this is not the XML of a topology: {}", XML_ErrorString(XML_GetErrorCode(parser_.get()))));
}

void Reader::start(std::string_view name, Attributes attributes) {
  if (open_.empty() && name != "system") {
    fail(fmt::format("found <{}>, but expected <system>", name));
  }
  if (open_.size() >= kMostDepth) fail("elements stand in each other more than 64 deep");
  Element element = Element::kOther;
  if (open_.empty()) {
    element = Element::kSystem;
  } else if (name == "cpu") {
    element = Element::kCpu;
    const std::string_view vendor = find(attributes, "vendor");
    cpu_ = vendor == "GenuineIntel"   ? CpuVendor::kIntel
           : vendor == "AuthenticAMD" ? CpuVendor::kAmd
                                      : CpuVendor::kOther;
  } else if (name == "pci") {
    element = start_pci(attributes);
  } else if (name == "gpu" && open_.back() == Element::kGpu) {
    const double sm = number(attributes, "sm", 1000);
    if (sm > 0) gpus_.back().capability = static_cast<std::uint32_t>(sm);
  } else if (name == "nvlink" && !gpus_.empty()) {
    start_nvlink(attributes);
  } else if (name == "net") {
    start_net(attributes);
  }
  if (element == Element::kCpu || element == Element::kBridge) way_.push_back(elements_);
  ++elements_;
  open_.push_back(element);
}

void Reader::end() {
  const Element element = open_.back();
  open_.pop_back();
  if (element == Element::kCpu || element == Element::kBridge) way_.pop_back();
}

Device& Reader::add(std::vector<Device>& devices, const char* what) {
  if (devices.size() == kMostDevices) fail(fmt::format("more than {} {}", kMostDevices, what));
  devices.emplace_back();
  devices.back().way = way_;
  return devices.back();
}

Reader::Element Reader::start_pci(Attributes attributes) {
  bus_ = find(attributes, "busid");
  const std::string_view kind = find(attributes, "class");
  const double gts = number(attributes, "link_speed", 1000), lanes = number(attributes, "link_width", 64);
  // 8 GT/s on 16 lanes are 12 GB/s to NCCL.
  const double gbs = gts > 0 && lanes > 0 ? gts * lanes * 12 / 128 : kUnknownPcie;
  if (kind.starts_with("0x03")) {
    Device& gpu = add(gpus_, "GPUs");
    gpu.pcie_gbs = gbs;
    const std::string_view device = find(attributes, "device");
    for (const GpuKind& known : kGpuKinds) {
      if (!device.starts_with(known.device)) continue;
      gpu.capability = known.capability;
      has_board_ |= known.nvlinks > 0;
      break;
    }
    return Element::kGpu;
  }
  if (kind.starts_with("0x02")) {
    add(nics_, "NICs").pcie_gbs = gbs;
    nets_in_nic_ = 0;
    return Element::kNic;
  }
  return Element::kBridge;
}

void Reader::start_nvlink(Attributes attributes) {
  const double count = number(attributes, "count", 1024);
  if (find(attributes, "target") == bus_) {
    has_self_links_ = true;
    return;
  }
  has_nvlinks_ = true;
  has_switches_ |= find(attributes, "tclass").starts_with("0x0680");
  gpus_.back().nvlinks += count;
}

// Ports of a NIC; one that stands for itself is a NIC too.
void Reader::start_net(Attributes attributes) {
  const bool in_pci = std::find(open_.begin(), open_.end(), Element::kNic) != open_.end();
  if (!in_pci || nets_in_nic_++ > 0) {
    Device& nic = add(nics_, "NICs");
    if (in_pci) nic.pcie_gbs = nics_[nics_.size() - 2].pcie_gbs;
  }
  nics_.back().speed_gbs = number(attributes, "speed", 1e8) / 8000;  // Mbit/s
}

void Reader::complete_nvlinks(NodeFromXml& result) const {
  Node& node = result.node;
  double links = 0;
  for (const Device& gpu : gpus_) links += gpu.nvlinks;
  links /= static_cast<double>(gpus_.size());
  if (has_self_links_) {
    result.remarks.emplace_back("GPUs name themselves as the other end of their NVLinks; those are left out");
  } else if (!has_nvlinks_ && has_board_ && gpus_.size() > 1) {
    links = node.compute_capability >= 90 ? 18 : node.compute_capability >= 80 ? 12 : 6;
    result.remarks.push_back(fmt::format(
        "the file has no NVLinks, which NCCL finds at run time; {} a GPU are taken, as its kind has", links));
  }
  node.nvlink_gbs = links * nvlink_rate(node.compute_capability);
  node.nvls = has_switches_ && node.compute_capability >= 90;
  node.in_pairs = has_nvlinks_ && !has_switches_;
}

void Reader::complete_nics(NodeFromXml& result) const {
  Node& node = result.node;
  node.nics = static_cast<std::uint32_t>(nics_.size());
  node.nic_gbs = 0;
  if (nics_.empty()) {
    result.remarks.emplace_back("the file has no NIC");
    return;
  }
  bool unknown = false;
  for (const Device& nic : nics_) {
    unknown |= nic.speed_gbs == 0;
    node.nic_gbs += (nic.speed_gbs > 0 ? nic.speed_gbs : nic.pcie_gbs) / static_cast<double>(nics_.size());
  }
  if (unknown)
    result.remarks.emplace_back("the file has no speeds of NICs; that of their PCIe links is taken");
  PathType farthest = PathType::kNvlink;
  for (const Device& gpu : gpus_) {
    PathType nearest = PathType::kSystem;
    for (const Device& nic : nics_) nearest = std::min(nearest, path_between(gpu, nic));
    farthest = std::max(farthest, nearest);
  }
  node.nic_path = farthest;
}

NodeFromXml Reader::take(const Node* otherwise) {
  if (gpus_.empty()) throw InputError({.file = file_}, "the topology has no GPU");
  NodeFromXml result;
  Node& node = result.node;
  node.label = file_;
  node.cpu = cpu_;
  node.gpus = static_cast<std::uint32_t>(gpus_.size());
  node.compute_capability = gpus_.front().capability;
  node.pcie_gbs = gpus_.front().pcie_gbs;
  for (const Device& gpu : gpus_) {
    node.compute_capability = std::min(node.compute_capability, gpu.capability);
    node.pcie_gbs = std::min(node.pcie_gbs, gpu.pcie_gbs);
  }
  const bool is_unknown = node.compute_capability == 0;
  if (is_unknown) {
    node.compute_capability = otherwise != nullptr ? otherwise->compute_capability : 80;
    // Files for virtual machines leave both to NCCL, which asks the driver. Who gives each of eight GPUs a
    // NIC has bought a board of them, and none is without NVLinks.
    has_board_ |= otherwise == nullptr && gpus_.size() == 8 && nics_.size() >= gpus_.size();
    result.remarks.push_back(
        fmt::format("the file doesn't tell the kind of GPU; {} is taken, unless the node is named",
                    otherwise != nullptr ? otherwise->label
                    : has_board_         ? "A100 on a board of eight with a NIC each"
                                         : "A100 without NVLink"));
  }
  complete_nvlinks(result);
  if (is_unknown && !has_nvlinks_ && otherwise != nullptr) {
    node.nvlink_gbs = otherwise->nvlink_gbs;
    node.nvls = otherwise->nvls;
    node.in_pairs = otherwise->in_pairs;
  }
  complete_nics(result);
  return result;
}

}  // namespace

NodeFromXml read_topology(std::string_view text, const std::string& file, const Node* otherwise) {
  return Reader(text, file).take(otherwise);
}

}  // namespace weft::goal::nccl
