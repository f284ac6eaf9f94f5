#include "sim/packet/pcapng.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <string_view>

#include "sim/units/input_error.h"

namespace weft::sim::packet {
namespace {

constexpr std::size_t kMostInterfaces = UINT16_MAX - 1;
constexpr std::size_t kHeaderBytes = 14 + 20 + 8;
constexpr std::size_t kSnapBytes = kHeaderBytes + 12;
constexpr std::uint16_t kDataPort = 49151, kFirstEntropyPort = 49152, kEntropyPortMask = 0x3FFF;

// A block of the file: little-endian, padded to 32 bits.
class Block {
 public:
  explicit Block(std::uint32_t type) {
    put(type);
    put(std::uint32_t{0});  // length, filled in by finish()
  }
  template <std::unsigned_integral Number>
  void put(Number number) {
    for (std::size_t i = 0; i < sizeof number; ++i) bytes_ += static_cast<char>(number >> 8 * i);
  }
  void put(std::string_view bytes) {
    bytes_ += bytes;
    bytes_.append((4 - bytes_.size() % 4) % 4, '\0');
  }
  void option(std::uint16_t code, std::string_view value) {
    put(code);
    put(static_cast<std::uint16_t>(value.size()));
    put(value);
  }
  const std::string& finish() {
    const auto length = static_cast<std::uint32_t>(bytes_.size() + 4);
    for (std::size_t i = 0; i < 4; ++i) bytes_[4 + i] = static_cast<char>(length >> 8 * i);
    put(length);
    return bytes_;
  }

 private:
  std::string bytes_;
};

std::string little_endian(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i);
  return text;
}

std::string section_header() {
  Block block(0x0A0D0D0A);
  block.put(std::uint32_t{0x1A2B3C4D});
  block.put(std::uint16_t{1});  // version 1.0
  block.put(std::uint16_t{0});
  block.put(UINT64_MAX);  // the section's length is not given
  block.option(4, "weft");
  block.option(0, "");
  return block.finish();
}

std::string interface_description(const std::string& name, Bandwidth rate) {
  Block block(1);
  block.put(std::uint16_t{1});  // LINKTYPE_ETHERNET
  block.put(std::uint16_t{0});
  block.put(static_cast<std::uint32_t>(kSnapBytes));
  block.option(2, name);                                                      // if_name
  block.option(8, little_endian(static_cast<std::uint64_t>(rate.bps()), 8));  // if_speed
  block.option(9, std::string_view("\x09", 1));                               // if_tsresol: nanoseconds
  block.option(0, "");
  return block.finish();
}

// Network byte order.
class Frame {
 public:
  template <std::unsigned_integral Number>
  void put(Number number) {
    for (std::size_t i = sizeof number; i-- > 0;)
      bytes_[used_++] = static_cast<unsigned char>(number >> 8 * i);
  }
  void put_mac(std::uint32_t host) {
    put(std::uint16_t{0x0200});  // locally administered
    put(host);
  }
  std::size_t used() const { return used_; }
  void set_16(std::size_t at, std::uint16_t value) {
    bytes_[at] = static_cast<unsigned char>(value >> 8);
    bytes_[at + 1] = static_cast<unsigned char>(value);
  }
  // The checksum of RFC 1071 over what was put since `from`.
  std::uint16_t checksum(std::size_t from) const {
    std::uint32_t sum = 0;
    for (std::size_t i = from; i < used_; i += 2) sum += bytes_[i] << 8 | bytes_[i + 1];
    while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
  }
  std::string_view first(std::size_t count) const {
    return {reinterpret_cast<const char*>(bytes_.data()), std::min(count, used_)};
  }

 private:
  std::array<unsigned char, kSnapBytes> bytes_{};
  std::size_t used_ = 0;
};

Frame frame_of(const Sighting& packet) {
  // Lengths that their fields can't hold are 0, as with segmentation offload.
  const auto length = [&](std::size_t before) {
    const std::size_t rest = packet.bytes > before ? packet.bytes - before : 0;
    return static_cast<std::uint16_t>(rest > UINT16_MAX ? 0 : rest);
  };
  const auto entropy_port =
      static_cast<std::uint16_t>(kFirstEntropyPort + (packet.entropy & kEntropyPortMask));
  constexpr std::uint8_t kEct0 = 2, kCe = 3;
  Frame frame;
  frame.put_mac(packet.destination);
  frame.put_mac(packet.source);
  frame.put(std::uint16_t{0x0800});
  const std::size_t ip = frame.used();
  frame.put(std::uint8_t{0x45});
  frame.put(packet.ack ? std::uint8_t{0} : packet.marked ? kCe : kEct0);
  frame.put(length(ip));
  frame.put(static_cast<std::uint16_t>(packet.number));  // identification
  frame.put(std::uint16_t{0x4000});                      // don't fragment
  frame.put(std::uint8_t{64});
  frame.put(std::uint8_t{17});  // UDP
  frame.put(std::uint16_t{0});
  frame.put(0x0A000000u | (packet.source & 0xFFFFFF));
  frame.put(0x0A000000u | (packet.destination & 0xFFFFFF));
  frame.set_16(ip + 10, frame.checksum(ip));
  const std::size_t udp = frame.used();
  frame.put(packet.ack ? kDataPort : entropy_port);
  frame.put(packet.ack ? entropy_port : kDataPort);
  frame.put(length(udp));
  frame.put(std::uint16_t{0});  // no checksum
  frame.put(packet.flow_number);
  frame.put(packet.number);
  frame.put(static_cast<std::uint32_t>((packet.ack ? 1 : 0) | (packet.marked ? 2 : 0) |
                                       (packet.trimmed ? 4 : 0) | (packet.returned ? 8 : 0)));
  return frame;
}

}  // namespace

PcapngCapture::PcapngCapture(const topologies::Topology& topology, const std::vector<std::uint32_t>& hosts,
                             const std::string& path)
    : file_(path), outbound_(topology.channels().size()), inbound_(topology.channels().size()) {
  file_.write(section_header());
  std::size_t interfaces = 0;
  for (const std::uint32_t host : hosts) {
    const topologies::Vertex vertex = topology.host(host);
    const auto channels = topology.out_channels(vertex);
    if (outbound_[channels[0]] != 0) continue;  // named twice
    for (std::size_t nic = 0; nic < channels.size(); ++nic) {
      if (++interfaces > kMostInterfaces) throw InputError("these are too many hosts to capture packets of");
      const std::uint32_t channel = channels[nic];
      outbound_[channel] = static_cast<std::uint16_t>(interfaces);
      inbound_[channel ^ 1] = static_cast<std::uint16_t>(interfaces);  // the way back
      file_.write(interface_description(fmt::format("{} nic {}", topology.node(vertex).name, nic),
                                        topology.channels()[channel].rate));
    }
  }
}

void PcapngCapture::on_enqueue(Time now, std::uint32_t channel, const Sighting& packet, Time departure) {
  if (departure == Time::max()) return;  // it still has to wait for on_transmit()
  on_transmit(now, channel, packet, departure);
}

void PcapngCapture::on_transmit(Time now, std::uint32_t channel, const Sighting& packet, Time) {
  if (outbound_[channel] != 0) capture(now, outbound_[channel] - 1u, packet, true);
}

void PcapngCapture::on_arrive(Time now, std::uint32_t channel, const Sighting& packet) {
  if (inbound_[channel] != 0) capture(now, inbound_[channel] - 1u, packet, false);
}

void PcapngCapture::capture(Time now, std::uint32_t interface, const Sighting& packet, bool outbound) {
  const Frame frame = frame_of(packet);
  const std::string_view bytes = frame.first(packet.bytes);
  const auto ns = static_cast<std::uint64_t>(now.ps()) / 1000;
  Block block(6);  // enhanced packet
  block.put(interface);
  block.put(static_cast<std::uint32_t>(ns >> 32));
  block.put(static_cast<std::uint32_t>(ns));
  block.put(static_cast<std::uint32_t>(bytes.size()));
  block.put(packet.bytes);
  block.put(bytes);
  block.option(2, little_endian(outbound ? 2 : 1, 4));  // epb_flags: the direction
  block.option(0, "");
  file_.write(block.finish());
}

}  // namespace weft::sim::packet
