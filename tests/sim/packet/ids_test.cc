// It is the compiler that tells the kinds of numbers apart: most of this is checked when it is built.
#include "sim/packet/ids.h"

#include <catch2/catch.hpp>
#include <type_traits>

#include "sim/packet/fabric.h"

namespace weft::sim::packet {
namespace {

template <typename... Kinds>
struct List {};
using All = List<ChannelId, PortId, NodeId, SwitchId, HostId, NicId, PacketHandle, SlotId, ReceiveSlotId>;

// One kind doesn't become another, nor may the two be compared.
template <typename A, typename B>
constexpr bool have_order = requires(A a, B b) {
  a < b;
};
template <typename A, typename B>
constexpr bool have_equality = requires(A a, B b) {
  a == b;
};
static_assert(have_order<PortId, PortId> && have_equality<PortId, PortId>);
template <typename A, typename B>
constexpr bool are_apart =
    !std::is_convertible_v<A, B> && !std::is_assignable_v<A&, B> && !have_order<A, B> && !have_equality<A, B>;
template <typename A, typename... Others>
constexpr bool is_apart(List<Others...>) {
  return ((std::is_same_v<A, Others> || are_apart<A, Others>)&&...);
}
template <typename... Kinds>
constexpr bool all_apart(List<Kinds...> all) {
  return (is_apart<Kinds>(all) && ...);
}
static_assert(all_apart(All()));

// A plain integer becomes one where that is named, and only there; reading it as one needs no word.
template <typename Kind, typename Integer>
constexpr bool is_named = !std::is_convertible_v<Integer, Kind> && !std::is_assignable_v<Kind&, Integer> &&
                          std::is_convertible_v<Kind, Integer>;
template <typename Kind>
constexpr bool can_name = requires(std::uint32_t number) {
  Kind{number};
};
template <typename... Kinds>
constexpr bool all_named(List<Kinds...>) {
  return ((is_named<Kinds, std::uint32_t> && is_named<Kinds, int> && is_named<Kinds, std::uint64_t> &&
           can_name<Kinds>)&&...);
}
static_assert(all_named(All()));

// What is stored in records, and passed in registers.
template <typename... Kinds>
constexpr bool all_plain(List<Kinds...>) {
  return ((sizeof(Kinds) == 4 && std::is_same_v<std::underlying_type_t<Kinds>, std::uint32_t>)&&...);
}
static_assert(all_plain(All()));

// Arguments in the wrong order, where three kinds meet.
template <typename... Arguments>
constexpr bool can_forward = requires(Fabric& fabric, Arguments... arguments) {
  fabric.forward(arguments...);
};
static_assert(can_forward<NodeId, ChannelId, PacketHandle>);
static_assert(!can_forward<NodeId, PacketHandle, ChannelId>);
static_assert(!can_forward<ChannelId, NodeId, PacketHandle>);
static_assert(!can_forward<PacketHandle, ChannelId, NodeId>);
static_assert(!can_forward<std::uint32_t, std::uint32_t, std::uint32_t>);

TEST_CASE("numbers keep their value and their order") {
  REQUIRE(kNoChannel == UINT32_MAX);
  REQUIRE(ChannelId{7} == 7);
  REQUIRE(ChannelId{7} != ChannelId{8});
  REQUIRE(ChannelId{7} < ChannelId{8});
  ChannelId c{6};
  REQUIRE(++c == ChannelId{7});
  REQUIRE(opposite(c) == ChannelId{6});
  REQUIRE(opposite(opposite(c)) == c);
}

}  // namespace
}  // namespace weft::sim::packet
