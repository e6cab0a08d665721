#include "notebook/cell_writer.h"

#include <algorithm>
#include <string_view>

#include "notebook/json_scanner.h"
#include "notebook/json_string.h"
#include "notebook/list_rewriter.h"
#include "notebook/source_value.h"

namespace cellar::notebook {
namespace {

using KeyAndValue = std::pair<std::string, std::string>;

// What a cell of this type must have besides type, source and metadata, sorted by key.
std::vector<KeyAndValue> RequiredMembers(CellType type, Layout layout, const Style& style) {
  if (type != CellType::kCode) return {};
  if (layout == Layout::kFlat) return {{"execution_count", "null"}, {"outputs", style.empty_list}};
  return {{"collapsed", "false"},
          {"language", "\"python\""},
          {"outputs", style.empty_list},
          {"prompt_number", "null"}};
}

// What only code cells may have.
bool IsCodeOnly(std::string_view key, Layout layout) {
  if (key == "outputs" || key == CountKey(layout)) return true;
  return layout == Layout::kWorksheets && (key == "collapsed" || key == "language");
}

void SetMember(std::vector<KeyAndValue>* members, const KeyAndValue& member) {
  auto same = [&](const KeyAndValue& other) { return other.first == member.first; };
  auto found = std::find_if(members->begin(), members->end(), same);
  if (found == members->end()) {
    members->push_back(member);
  } else {
    found->second = member.second;
  }
}

// Sorts by key, or into the order of `sample` where that is not sorted; keys it does not know come
// last.
void SortLike(const std::vector<std::string>& sample, std::vector<KeyAndValue>* members) {
  std::sort(members->begin(), members->end());
  if (std::is_sorted(sample.begin(), sample.end())) return;
  auto rank = [&](const KeyAndValue& member) {
    return std::find(sample.begin(), sample.end(), member.first) - sample.begin();
  };
  std::stable_sort(members->begin(), members->end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

std::string WriteMember(std::string_view key, std::string_view value, const Style& style) {
  std::string text = Quoted(key, style.escapes);
  text += style.colon;
  text += value;
  return text;
}

// One old cell being rewritten, member by member.
class CellRewrite {
 public:
  CellRewrite(const Document& document, size_t cell, const CellChange& change, const Style& style)
      : bytes_(document.bytes()),
        layout_(document.layout()),
        span_(document.span(cell)),
        source_(document.source_span(cell)),
        old_type_(document.type(cell)),
        new_type_(change.type.value_or(old_type_)),
        change_(change),
        style_(style),
        members_(Members(bytes_, span_)) {
    for (const Member& member : members_) {
      keys_.push_back(Decoded(Slice(bytes_, member.key)));
      spans_.push_back({member.key.begin, member.value.end});
    }
  }

  std::string Write() {
    std::string out;
    ListRewriter list(bytes_, span_, spans_, style_.members, &out);
    const std::vector<KeyAndValue> added = AddedMembers();
    const bool sorted = std::is_sorted(keys_.begin(), keys_.end());
    auto next = added.begin();
    for (size_t i = 0; i < members_.size(); ++i) {
      while (sorted && next != added.end() && next->first < keys_[i]) AddTo(&list, *next++);
      WriteOld(i, &list);
    }
    while (next != added.end()) AddTo(&list, *next++);
    list.Finish();
    return out;
  }

 private:
  bool type_changes() const { return new_type_ != old_type_; }
  std::string_view source_key() const { return SourceKey(layout_, new_type_); }
  bool Has(std::string_view key) const {
    return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
  }

  std::vector<KeyAndValue> AddedMembers() const {
    std::vector<KeyAndValue> added;
    if (type_changes() || layout_ == Layout::kFlat) {
      for (const KeyAndValue& member : RequiredMembers(new_type_, layout_, style_)) {
        if (!Has(member.first)) added.push_back(member);
      }
    }
    for (std::string_view key :
         {std::string_view("metadata"), std::string_view("outputs"), CountKey(layout_)}) {
      const std::optional<std::string>& value = GivenValue(key);
      if (value && !Has(key)) SetMember(&added, {std::string(key), *value});
    }
    if (source_.empty() && change_.source) {
      added.emplace_back(source_key(), SourceText());
    }
    std::sort(added.begin(), added.end());
    return added;
  }

  const std::optional<std::string>& GivenValue(std::string_view key) const {
    static const std::optional<std::string> kNone;
    if (key == "metadata") return change_.metadata;
    if (key == "outputs") return change_.outputs;
    return key == CountKey(layout_) ? change_.count : kNone;
  }

  void AddTo(ListRewriter* list, const KeyAndValue& member) const {
    list->Add(WriteMember(member.first, member.second, style_));
  }

  void WriteOld(size_t i, ListRewriter* list) const {
    const std::string& key = keys_[i];
    if (type_changes() && IsLostWithType(key)) return;
    if (!source_.empty() && members_[i].value.begin == source_.begin) {
      WriteSource(i, list);
    } else if (std::optional<std::string> value = NewValue(i)) {
      const Span before_value{spans_[i].begin, members_[i].value.begin};
      list->Replace(i, std::string(Slice(bytes_, before_value)) + *value);
    } else {
      list->Keep(i);
    }
  }

  void WriteSource(size_t i, ListRewriter* list) const {
    const std::string_view old_value = Slice(bytes_, source_);
    const std::string value = change_.source ? SourceText() : std::string(old_value);
    const Span before_value{members_[i].key.end, members_[i].value.begin};
    std::string text = keys_[i] == source_key() ? std::string(Slice(bytes_, members_[i].key))
                                                : Quoted(source_key(), style_.escapes);
    text += Slice(bytes_, before_value);
    list->Replace(i, text + value);
  }

  // Only a change of type takes members away: a stray one in the file is not ours to remove.
  bool IsLostWithType(std::string_view key) const {
    return key == "level" || (new_type_ != CellType::kCode && IsCodeOnly(key, layout_));
  }

  std::string SourceText() const {
    return ChangedSource(bytes_, source_, *change_.source, layout_, style_);
  }

  // The new value of an old member other than the source; none if it stays.
  std::optional<std::string> NewValue(size_t i) const {
    const std::string& key = keys_[i];
    const std::string_view value = Slice(bytes_, members_[i].value);
    if (key == "cell_type" && type_changes()) {
      return Quoted(CellTypeName(new_type_), style_.escapes);
    }
    if (const std::optional<std::string>& given = GivenValue(key)) return given;
    if (key == CountKey(layout_) && change_.clear_count && value != "null") return "null";
    if (key == "outputs" && change_.clear_outputs && !Items(bytes_, members_[i].value).empty()) {
      return style_.empty_list;
    }
    return std::nullopt;
  }

  std::string_view bytes_;
  Layout layout_;
  Span span_;
  Span source_;
  CellType old_type_;
  CellType new_type_;
  const CellChange& change_;
  const Style& style_;
  std::vector<Member> members_;
  std::vector<std::string> keys_;
  std::vector<Span> spans_;  // key to value
};

}  // namespace

std::string WriteNewCell(const NewCell& cell, Layout layout, const Style& style) {
  std::vector<KeyAndValue> members = RequiredMembers(cell.type, layout, style);
  members.emplace_back("cell_type", Quoted(CellTypeName(cell.type), style.escapes));
  members.emplace_back("metadata", style.empty_object);
  members.emplace_back(SourceKey(layout, cell.type), NewSource(cell.source, style));
  for (const KeyAndValue& member : cell.members) SetMember(&members, member);
  SortLike(cell.type == CellType::kCode ? style.code_keys : style.text_keys, &members);

  std::string text = "{" + style.members.open;
  for (size_t i = 0; i < members.size(); ++i) {
    if (i > 0) text += style.members.between;
    text += WriteMember(members[i].first, members[i].second, style);
  }
  return text + style.members.close + "}";
}

std::string WriteChangedCell(const Document& document, size_t cell, const CellChange& change,
                             const Style& style) {
  return CellRewrite(document, cell, change, style).Write();
}

}  // namespace cellar::notebook
