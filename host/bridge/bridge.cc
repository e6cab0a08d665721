#include "host/bridge/bridge.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/base/json_text.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

// Of one worker: each is a descriptor of the host.
constexpr size_t kMaxLines = 256;
// Of one worker: an event loop can start any number.
constexpr size_t kMaxCalls = 10'000;
// Well below a frame's limit.
constexpr size_t kMaxAnswer = 64u << 20;

// Call ids and offers are never repeated: a worker may have been copied from one that knew others.
uint64_t NextNumber() {
  static std::atomic<uint64_t> next = 1;
  return next++;
}

// Who answers where nobody was given to.
class Nobody : public BridgeProvider {
  void Start(BridgeCall, BridgeReply reply) override {
    reply({.error = "nobody answers the calls of this session"});
  }
  void Cancel(uint64_t) override {}
  bool answers() override { return false; }
  std::vector<BridgeTool> tools() override { return {}; }
  BridgeBudget budget() override { return {}; }
};

BridgeProvider* ProviderOr(BridgeProvider* provider) {
  static Nobody nobody;
  return provider != nullptr ? provider : &nobody;
}

std::string ToolsJson(BridgeProvider& provider) {
  if (!provider.answers()) return "null";
  nlohmann::json list = nlohmann::json::array();
  for (const BridgeTool& tool : provider.tools()) {
    nlohmann::json schema = nlohmann::json::parse(tool.schema, nullptr, false);
    list.push_back({{"name", tool.name},
                    {"description", tool.description},
                    {"schema", schema.is_object() ? std::move(schema) : nlohmann::json::object()}});
  }
  return JsonText(list);
}

// Tokens are counted: cells see 100, and not 100.0.
nlohmann::json TokensJson(double tokens) {
  constexpr double kMaxExact = 1e15;
  if (std::abs(tokens) > kMaxExact || tokens != std::floor(tokens)) return tokens;
  return static_cast<int64_t>(tokens);
}

std::string BudgetJson(const BridgeBudget& budget) {
  return JsonText(nlohmann::json{{"total", budget.total ? TokensJson(*budget.total) : nullptr},
                                 {"hard", budget.hard},
                                 {"spent", TokensJson(budget.spent)}});
}

wire::BridgeAnswer ToWire(uint64_t number, BridgeAnswer answer) {
  if (answer.error) {
    answer.error->resize(std::min(answer.error->size(), kMaxAnswer));
    return {.call = number, .kind = wire::AnswerKind::kError, .data = *std::move(answer.error)};
  }
  size_t size = answer.value.size();
  for (const BridgeImage& image : answer.images) size += image.mime.size() + image.data.size();
  if (size > kMaxAnswer) {
    return {.call = number,
            .kind = wire::AnswerKind::kError,
            .data = absl::StrCat("the answer is ", size, " bytes, more than ", kMaxAnswer)};
  }
  wire::BridgeAnswer message = {
      .call = number, .kind = wire::AnswerKind::kValue, .data = std::move(answer.value)};
  for (BridgeImage& image : answer.images) {
    message.images.push_back({std::move(image.mime), std::move(image.data)});
  }
  return message;
}

}  // namespace

Bridge::Bridge(EventLoop& loop, BridgeOptions options, BridgeListener& listener)
    : loop_(loop),
      options_(std::move(options)),
      listener_(listener),
      desk_(std::make_shared<ReplyDesk>(
          loop, [this](uint64_t call, BridgeAnswer answer) { OnReply(call, std::move(answer)); })) {
  options_.provider = ProviderOr(options_.provider);
  RenewOffer();
  first_offers_ = offers_;
}

Bridge::~Bridge() {
  desk_->Close();
  for (const auto& [id, call] : calls_) {
    loop_.Cancel(call.limit_timer);
    TellProvider(id, call);
  }
}

void Bridge::RenewOffer() {
  RenewOffer(wire::OfferKind::kTools, ToolsJson(*options_.provider));
  budget_ = options_.provider->budget();
  RenewOffer(wire::OfferKind::kBudget, BudgetJson(budget_));
  RenewOffer(wire::OfferKind::kInput, options_.provider->offers_input() ? "true" : "false");
}

void Bridge::RenewOffer(wire::OfferKind kind, std::string json) {
  wire::BridgeOffer& offer = offers_[static_cast<size_t>(kind)];
  if (offer.sequence != 0 && offer.json == json) return;
  offer = {.sequence = NextNumber(), .kind = kind, .json = std::move(json)};
  listener_.OnOffer(offer);
}

void Bridge::RenewBudget() {
  BridgeBudget budget = options_.provider->budget();
  if (budget == budget_) return;
  budget_ = budget;
  RenewOffer(wire::OfferKind::kBudget, BudgetJson(budget));
}

void Bridge::AddLine(UniqueFd socket, bool of_main_thread) {
  if (lines_.size() >= kMaxLines) return;  // the thread sees the end of its line
  absl::StatusOr<std::unique_ptr<Line>> line =
      Line::Create(loop_, std::move(socket), of_main_thread, *this);
  if (!line.ok()) return;
  for (const wire::BridgeOffer& offer : first_offers_) (*line)->NoteOffer(offer);
  lines_.push_back(*std::move(line));
}

void Bridge::OnCall(Line& line, wire::BridgeCall call) {
  listener_.OnCallComes();
  if (interrupted_cells_.contains(call.cell)) {
    line.Send(wire::BridgeAnswer{.call = call.call, .kind = wire::AnswerKind::kCancelled});
    return;
  }
  if (calls_.size() >= kMaxCalls) {
    line.Send(wire::BridgeAnswer{
        .call = call.call,
        .kind = wire::AnswerKind::kError,
        .data = absl::StrCat("more than ", kMaxCalls, " calls to the host at once")});
    return;
  }
  const uint64_t id = NextNumber();
  const Kind kind = KindOf(call.name);
  calls_[id] = {.line = &line,
                .number = call.call,
                .cell = call.cell,
                .kind = kind,
                .limit_timer = loop_.After(options_.limit, [this, id] { OnLimit(id); })};
  if (kind == Kind::kInput || ++under_way_[call.cell] == 1) listener_.OnCallsChanged(call.cell);
  if (kind == Kind::kElsewhere) return;
  options_.provider->Start({.id = id,
                            .session = options_.session,
                            .cell = call.cell,
                            .name = std::move(call.name),
                            .args = std::move(call.args)},
                           BridgeReply(desk_, id));
}

Bridge::Kind Bridge::KindOf(const std::string& name) {
  if (name == BridgeProvider::kInput) return Kind::kInput;
  return name == kElsewhere ? Kind::kElsewhere : Kind::kAsked;
}

void Bridge::OnReply(uint64_t id, BridgeAnswer answer) {
  std::optional<Call> call = Remove(id);
  if (!call) return;  // nobody waits any more
  RenewBudget();
  for (const wire::BridgeOffer& offer : offers_) call->line->SendOffer(offer);
  call->line->Send(ToWire(call->number, std::move(answer)));
}

void Bridge::OnLimit(uint64_t id) {
  Cancel(id, {.kind = wire::AnswerKind::kError,
              .data = absl::StrCat("the host gave no answer within ",
                                   absl::FormatDuration(options_.limit))});
}

void Bridge::OnWithdraw(Line& line, uint64_t number) {
  for (uint64_t id :
       CallsOf([&](const Call& call) { return call.line == &line && call.number == number; })) {
    Forget(id);
    listener_.OnWithdraw(id);
  }
}

void Bridge::OnLineEnd(Line& line) {
  for (uint64_t id : CallsOf([&](const Call& call) { return call.line == &line; })) Forget(id);
  auto ended = std::find_if(lines_.begin(), lines_.end(),
                            [&](const auto& each) { return each.get() == &line; });
  // Not destroyed here: this is a call from inside it.
  loop_.Post([line = std::move(*ended)] {});
  lines_.erase(ended);
}

void Bridge::CancelCell(uint32_t cell) {
  interrupted_cells_.insert(cell);
  for (uint64_t id : CallsOf([cell](const Call& call) { return call.cell == cell; })) {
    Cancel(id, {.kind = wire::AnswerKind::kCancelled});
  }
}

void Bridge::Forget(uint64_t id) {
  if (std::optional<Call> call = Remove(id)) TellProvider(id, *call);
}

void Bridge::Cancel(uint64_t id, wire::BridgeAnswer answer) {
  std::optional<Call> call = Remove(id);
  if (!call) return;
  TellProvider(id, *call);
  answer.call = call->number;
  call->line->Send(answer);
}

void Bridge::TellProvider(uint64_t id, const Call& call) {
  if (call.kind != Kind::kElsewhere) options_.provider->Cancel(id);
}

std::vector<uint64_t> Bridge::CallsOf(absl::FunctionRef<bool(const Call&)> matches) const {
  std::vector<uint64_t> ids;
  for (const auto& [id, call] : calls_) {
    if (matches(call)) ids.push_back(id);
  }
  return ids;
}

std::optional<Bridge::Call> Bridge::Remove(uint64_t id) {
  auto found = calls_.extract(id);
  if (found.empty()) return std::nullopt;
  const Call& call = found.mapped();
  loop_.Cancel(call.limit_timer);
  const bool is_input = call.kind == Kind::kInput;
  const bool is_last = !is_input && --under_way_[call.cell] == 0;
  if (is_last) under_way_.erase(call.cell);
  if (is_last || is_input) listener_.OnCallsChanged(call.cell);
  return call;
}

std::optional<uint32_t> Bridge::CellThatCalls(uint64_t call) const {
  auto found = calls_.find(call);
  return found == calls_.end() ? std::nullopt : std::optional(found->second.cell);
}

std::optional<uint32_t> Bridge::WaitingCell(uint64_t call) const {
  auto found = calls_.find(call);
  if (found == calls_.end() || !CanNest(found->second)) return std::nullopt;
  return found->second.cell;
}

std::optional<uint64_t> Bridge::CallOfMainThread() const {
  // The last one: those before it wait for what is nested in them.
  auto last = std::find_if(calls_.rbegin(), calls_.rend(),
                           [](const auto& each) { return each.second.line->of_main_thread(); });
  if (last == calls_.rend() || !CanNest(last->second)) return std::nullopt;
  return last->first;
}

bool Bridge::CanNest(const Call& call) {
  return call.line->of_main_thread() && call.kind != Kind::kElsewhere;
}

void Bridge::RunNested(uint64_t call, uint32_t cell, const std::string& code) {
  auto found = calls_.find(call);
  if (found == calls_.end()) return;
  const Call& waiting = found->second;
  waiting.line->Send(wire::BridgeNested{.call = waiting.number, .cell = cell, .code = code});
}

}  // namespace cellar::host
