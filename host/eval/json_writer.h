// Writes JSON text piece by piece, in the order it is to have. Does not check that keys differ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellar::host {

class JsonWriter {
 public:
  explicit JsonWriter(bool pretty) : pretty_(pretty) {}

  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }

  // Comes before each value of an object.
  JsonWriter& Key(std::string_view name);

  // Invalid UTF-8 is replaced; what a terminal would obey is escaped.
  JsonWriter& String(std::string_view text);
  JsonWriter& Base64(std::string_view bytes);
  JsonWriter& Number(int64_t number);
  JsonWriter& Bool(bool value) { return Token(value ? "true" : "false"); }
  JsonWriter& Null() { return Token("null"); }
  // Writes a number that is spelled as JSON does already.
  JsonWriter& Token(std::string_view token);

  // Writes JSON text from outside in this writer's layout, its keys in their order and its numbers
  // as they were spelled. False, and nothing is written, when it is not JSON or too deep.
  bool Json(std::string_view text);

  std::string Take() { return std::move(text_); }

 private:
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  void StartValue();
  void NewLine();

  const bool pretty_;
  std::string text_;
  std::vector<bool> has_values_;  // of the arrays and objects that are open, outermost first
  bool after_key_ = false;
};

}  // namespace cellar::host
