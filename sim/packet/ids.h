// Numbers of things in the packet network, one type for each kind of thing.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>

namespace weft::sim::packet {

// Each is read as a plain integer (an index, an event's payload); but an integer, or a number of another
// kind, becomes one only where that is named: ChannelId{c}. So arguments in the wrong order don't compile, as
// long as no two parameters of a function are plain integers. Enumerations, as they cost nothing: GCC splits
// and inlines functions with parameters of class types differently.
enum ChannelId : std::uint32_t { kNoChannel = UINT32_MAX };  // one direction of a cable: Topology::channels
enum PortId : std::uint32_t { kNoPort = UINT32_MAX };        // position among the channels that leave a node
enum NodeId : std::uint32_t {};                              // topologies::Vertex
enum SwitchId : std::uint32_t {};                            // among the switches
enum HostId : std::uint32_t {};                              // among the hosts
enum NicId : std::uint32_t {};                               // among the NICs of all hosts
enum PacketHandle : std::uint32_t { kNoPacket = UINT32_MAX };  // in one partition's PacketPool
enum SlotId : std::uint32_t { kNoSlot = UINT32_MAX };          // of a connection, at its sender
enum ReceiveSlotId : std::uint32_t {};                         // the same at its receiver

template <typename T, typename... Kinds>
concept OneOf = (std::same_as<T, Kinds> || ...);
template <typename T>
concept AnyId =
    OneOf<T, ChannelId, PortId, NodeId, SwitchId, HostId, NicId, PacketHandle, SlotId, ReceiveSlotId>;

template <AnyId Id>
constexpr Id& operator++(Id& id) {
  return id = Id{static_cast<std::uint32_t>(id) + 1};
}

// Numbers of different kinds have nothing to do with each other.
template <typename A, typename B>
concept AreApart = AnyId<A> && AnyId<B> && !std::same_as<A, B>;
template <typename A, AreApart<A> B>
bool operator==(A, B) = delete;
template <typename A, AreApart<A> B>
std::strong_ordering operator<=>(A, B) = delete;

// The other direction of its cable: the two are numbered 2e and 2e + 1.
constexpr ChannelId opposite(ChannelId c) { return ChannelId{c ^ 1u}; }

}  // namespace weft::sim::packet
