#include "host/eval/json_writer.h"

#include "absl/strings/escaping.h"
#include "host/base/json_text.h"
#include "host/base/utf8.h"
#include "host/output/printable.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

using nlohmann::json;

constexpr size_t kIndent = 2;
constexpr size_t kPieceBytes = 64u << 10;
// How deep JSON from outside may be. Readers of the result have limits that are not much higher.
constexpr size_t kMaxDepth = 128;

// Passes what a parser reads on to a writer. A document is never built: objects of any number of
// keys cost no more than their text, and numbers beyond 64 bits stay what they are.
class Copier : public nlohmann::json_sax<json> {
 public:
  explicit Copier(JsonWriter& writer) : writer_(writer) {}

  bool null() override { return Wrote(writer_.Null()); }
  bool boolean(bool value) override { return Wrote(writer_.Bool(value)); }
  bool number_integer(number_integer_t number) override {
    return Wrote(writer_.Token(std::to_string(number)));
  }
  bool number_unsigned(number_unsigned_t number) override {
    return Wrote(writer_.Token(std::to_string(number)));
  }
  bool number_float(number_float_t, const string_t& token) override {
    return Wrote(writer_.Token(token));
  }
  bool string(string_t& text) override { return Wrote(writer_.String(text)); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& name) override { return Wrote(writer_.Key(name)); }
  bool start_object(size_t) override { return Enter() && Wrote(writer_.BeginObject()); }
  bool end_object() override { return Leave() && Wrote(writer_.EndObject()); }
  bool start_array(size_t) override { return Enter() && Wrote(writer_.BeginArray()); }
  bool end_array() override { return Leave() && Wrote(writer_.EndArray()); }
  bool parse_error(size_t, const std::string&, const json::exception&) override { return false; }

 private:
  static bool Wrote(JsonWriter&) { return true; }
  bool Enter() { return depth_++ < kMaxDepth; }
  bool Leave() { return depth_-- > 0; }

  JsonWriter& writer_;
  size_t depth_ = 0;
};

}  // namespace

JsonWriter& JsonWriter::Key(std::string_view name) {
  String(name);
  text_ += pretty_ ? ": " : ":";
  after_key_ = true;
  return *this;
}

// In pieces: escaping makes several copies of what it gets.
JsonWriter& JsonWriter::String(std::string_view text) {
  StartValue();
  if (text.size() > kPieceBytes) text_.reserve(text_.size() + text.size() + 2);
  text_ += '"';
  while (!text.empty()) {
    const size_t border =
        text.size() <= kPieceBytes ? text.size() : Utf8BorderBefore(text, kPieceBytes);
    const std::string_view piece = text.substr(0, border > 0 ? border : kPieceBytes);
    const std::string quoted = WithUnwantedEscaped(JsonText(json(piece)));
    text_.append(quoted, 1, quoted.size() - 2);
    text.remove_prefix(piece.size());
  }
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Base64(std::string_view bytes) {
  const std::string text = absl::Base64Escape({bytes.data(), bytes.size()});
  StartValue();
  text_.reserve(text_.size() + text.size() + 2);
  text_ += '"';
  text_ += text;
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Number(int64_t number) { return Token(std::to_string(number)); }

JsonWriter& JsonWriter::Token(std::string_view token) {
  StartValue();
  text_ += token;
  return *this;
}

bool JsonWriter::Json(std::string_view text) {
  const size_t size = text_.size();
  const std::vector<bool> has_values = has_values_;
  const bool after_key = after_key_;
  Copier copier(*this);
  if (json::sax_parse(text, &copier)) return true;
  text_.resize(size);
  has_values_ = has_values;
  after_key_ = after_key;
  return false;
}

JsonWriter& JsonWriter::Begin(char bracket) {
  StartValue();
  text_ += bracket;
  has_values_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::End(char bracket) {
  const bool had_values = has_values_.back();
  has_values_.pop_back();
  if (had_values) NewLine();
  text_ += bracket;
  return *this;
}

void JsonWriter::StartValue() {
  if (std::exchange(after_key_, false) || has_values_.empty()) return;
  if (has_values_.back()) text_ += ',';
  has_values_.back() = true;
  NewLine();
}

void JsonWriter::NewLine() {
  if (!pretty_) return;
  text_ += '\n';
  text_.append(kIndent * has_values_.size(), ' ');
}

}  // namespace cellar::host
