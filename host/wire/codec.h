// How the fields of a message become bytes and back: little-endian integers, strings and lists with
// a 32-bit length, structures field by field. A message names its fields once, in `Fields`, for
// both directions.
//
// Decoding takes any bytes: it never reads past them, and memory stays in proportion to them. A
// list of more than kMaxListItems is refused: empty items take many times the memory of their
// bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cellar::wire {

static_assert(std::endian::native == std::endian::little, "the wire format is the memory format");

inline constexpr uint32_t kMaxListItems = 65'536;

template <typename T>
concept Scalar = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Encoder {
 public:
  template <typename... T>
  void operator()(const T&... fields) {
    (Add(fields), ...);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  template <Scalar T>
  void Add(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Add(const std::string& text) {
    Add(static_cast<uint32_t>(text.size()));
    bytes_.append(text);
  }
  template <typename T>
  void Add(const std::vector<T>& list) {
    Add(static_cast<uint32_t>(list.size()));
    for (const T& item : list) Add(item);
  }
  template <typename T>
  void Add(const std::optional<T>& value) {
    Add(value.has_value());
    if (value) Add(*value);
  }
  template <typename T>
  requires requires { &T::template Fields<const T, Encoder>; }
  void Add(const T& message) { T::Fields(message, *this); }

  std::string bytes_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  template <typename... T>
  void operator()(T&... fields) {
    (Read(fields), ...);
  }
  // Every field fitted and nothing is left over.
  bool Finished() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view Bytes(size_t size) {
    if (size > bytes_.size()) ok_ = false;
    if (!ok_) return {};
    std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  template <Scalar T>
  void Read(T& value) {
    std::string_view raw = Bytes(sizeof(T));
    if (!ok_) return;
    if constexpr (std::is_same_v<T, bool>) {
      value = raw[0] != 0;  // any other bit pattern in a bool would be undefined
    } else {
      std::memcpy(&value, raw.data(), sizeof(T));
    }
  }
  void Read(std::string& text) {
    uint32_t size = 0;
    Read(size);
    text = Bytes(size);
  }
  template <typename T>
  void Read(std::vector<T>& list) {
    uint32_t size = 0;
    Read(size);
    if (size > kMaxListItems) ok_ = false;
    // Not reserved: the count is not to be believed before the items are there. Each takes a byte
    // or more.
    for (uint32_t i = 0; i < size && ok_; ++i) Read(list.emplace_back());
  }
  template <typename T>
  void Read(std::optional<T>& value) {
    bool present = false;
    Read(present);
    if (present) Read(value.emplace());
  }
  template <typename T>
  requires requires { &T::template Fields<T, Decoder>; }
  void Read(T& message) { T::Fields(message, *this); }

  std::string_view bytes_;
  bool ok_ = true;
};

template <typename Message>
std::string Encode(const Message& message) {
  Encoder encoder;
  encoder(message);
  return encoder.Take();
}

// Nothing when the bytes are not exactly one such message.
template <typename Message>
std::optional<Message> Decode(std::string_view bytes) {
  Message message;
  Decoder decoder(bytes);
  decoder(message);
  if (!decoder.Finished()) return std::nullopt;
  return message;
}

}  // namespace cellar::wire
