#include "host/serve/call_stream.h"

#include <utility>

#include "absl/strings/str_split.h"
#include "host/eval/result_json.h"
#include "host/session/clear_display.h"

namespace cellar::host {
namespace {

// Of one frame.
constexpr size_t kMaxTextBytes = 64u << 10;
constexpr absl::Duration kMaxWait = absl::Milliseconds(1);

std::string_view NameOf(Stream stream) { return stream == Stream::kStdout ? "stdout" : "stderr"; }

class OwnStream : public CallStream {
 public:
  using CallStream::CallStream;

 protected:
  virtual Frame CellFrame(std::string_view type) const {
    Frame frame = NewFrame(type);
    frame.Key("cell").Number(static_cast<int64_t>(cell()));
    return frame;
  }

 private:
  void SendDone(const absl::StatusOr<CallResult>& result) override {
    Emit(result.ok() ? ResultFrame(id(), *result) : RefusedFrame(id(), result.status()));
  }

  void SendStarted(const CallCell& cell) override {
    Frame frame = CellFrame("started");
    frame.Key("title").String(cell.title);
    EmitWithNext(frame.Take());
  }

  void SendText(Stream stream, const std::string& text, bool background) override {
    Frame frame = CellFrame(NameOf(stream));
    frame.Key("text").String(text);
    if (background) frame.Key("background").Bool(true);
    Emit(frame.Take());
  }

  void SendDisplay(const wire::Display& display, bool background) override {
    if (display.kind == wire::DisplayKind::kClear) {
      Frame frame = CellFrame("clear");
      frame.Key("wait").Bool(ClearsWithNext(display));
      return Emit(frame.Take());
    }
    const CellOutput output = OutputOf(display);
    Frame frame = CellFrame(OutputTypeName(output.type));
    WriteOutputFields(output, frame.json());
    if (background) frame.Key("background").Bool(true);
    Emit(frame.Take());
  }

  void SendFinished(const CellResult& result) override {
    if (result.outcome.error) {
      Frame frame = CellFrame("error");
      WriteErrorFields(*result.outcome.error, frame.json());
      Emit(frame.Take());
    }
    Frame frame = CellFrame("finished");
    WriteCellFields(result, /*with_outputs=*/false, frame.json());
    Emit(frame.Take());
  }
};

class WatchedStream : public OwnStream {
 public:
  WatchedStream(EventLoop& loop, RequestId id, WatchedCall call, std::function<uint32_t()> number,
                Send send)
      : OwnStream(loop, std::move(id), std::move(send)),
        call_(std::move(call)),
        number_(std::move(number)) {}

 private:
  Frame CellFrame(std::string_view type) const override {
    Frame frame = OwnStream::CellFrame(type);
    frame.Key("call").String(call_.handle);
    return frame;
  }

  void SendStarted(const CallCell& cell) override {
    Frame frame = CellFrame("started");
    frame.Key("title").String(cell.title);
    frame.Key("by").String(call_.by);
    frame.Key("code").String(cell.code);
    if (call_.is_nested) {
      frame.Key("nested").Bool(true);
    } else {
      frame.Key("execution_count").Number(number_());
    }
    Emit(frame.Take());
  }

  const WatchedCall call_;
  const std::function<uint32_t()> number_;
};

class BareStream : public CallStream {
 public:
  using CallStream::CallStream;

 private:
  void SendDone(const absl::StatusOr<CallResult>& result) override {
    if (!result.ok()) {
      SendError({.ename = std::string(RefusalName(result.status())),
                 .evalue = std::string(result.status().message())});
    }
    const bool is_ok = result.ok() && result->status == CallStatus::kOk;
    Frame frame = NewFrame("done");
    frame.Key("status").String(is_ok ? "ok" : "error");
    frame.Key("executionCount")
        .Number(result.ok() ? result->cells.front().outcome.execution_count : 0);
    frame.Key("cancelled").Bool(result.ok() && result->status == CallStatus::kCancelled);
    Emit(frame.Take());
  }

  // What that runner called the status events of helpers.
  static constexpr std::string_view kStatusMime = "application/x-omp-status";

  void SendStarted(const CallCell&) override { EmitWithNext(NewFrame("started").Take()); }

  void SendText(Stream stream, const std::string& text, bool) override {
    Frame frame = NewFrame(NameOf(stream));
    frame.Key("data").String(text);
    Emit(frame.Take());
  }

  void SendDisplay(const wire::Display& display, bool) override {
    if (display.kind == wire::DisplayKind::kClear) return;
    Frame frame = NewFrame(display.kind == wire::DisplayKind::kResult ? "result" : "display");
    frame.Key("bundle");
    std::vector<wire::MimeEntry> bundle = display.data;
    if (display.kind == wire::DisplayKind::kStatus && !bundle.empty()) {
      bundle.front().mime = kStatusMime;
    }
    WriteBundle(bundle, frame.json());
    Emit(frame.Take());
  }

  void SendFinished(const CellResult& result) override {
    if (result.outcome.error) SendError(*result.outcome.error);
  }

  void SendError(const CellError& error) {
    Frame frame = NewFrame("error");
    frame.Key("ename").String(error.ename);
    frame.Key("evalue").String(error.evalue);
    frame.Key("traceback").BeginArray();
    for (const std::string& line :
         std::vector<std::string>(absl::StrSplit(error.traceback, '\n', absl::SkipEmpty()))) {
      frame.json().String(line);
    }
    frame.json().EndArray();
    Emit(frame.Take());
  }
};

}  // namespace

std::unique_ptr<CallStream> CallStream::Create(EventLoop& loop, bool is_bare, RequestId id,
                                               Send send) {
  if (is_bare) return std::make_unique<BareStream>(loop, std::move(id), std::move(send));
  return std::make_unique<OwnStream>(loop, std::move(id), std::move(send));
}

std::unique_ptr<CallStream> CallStream::CreateWatched(EventLoop& loop, RequestId id,
                                                      WatchedCall call,
                                                      std::function<uint32_t()> number, Send send) {
  return std::make_unique<WatchedStream>(loop, std::move(id), std::move(call), std::move(number),
                                         std::move(send));
}

CallStream::~CallStream() {
  lifeline_.Cut();
  loop_.Cancel(waiting_timer_);
}

void CallStream::Emit(std::string frame) {
  EmitWaiting();
  send_(std::move(frame));
}

void CallStream::EmitWithNext(std::string frame) {
  waiting_ += frame;
  if (waiting_timer_ == 0) waiting_timer_ = loop_.After(kMaxWait, [this] { EmitWaiting(); });
}

void CallStream::EmitWaiting() {
  if (waiting_.empty()) return;
  loop_.Cancel(std::exchange(waiting_timer_, 0));
  send_(std::exchange(waiting_, ""));
}

void CallStream::TellPlan(const std::vector<size_t>& cells) {
  Frame frame = NewFrame("plan");
  frame.Key("cells").BeginArray();
  for (size_t cell : cells) frame.json().Number(static_cast<int64_t>(cell));
  frame.json().EndArray();
  Emit(frame.Take());
}

void CallStream::OnText(Stream stream, std::string_view bytes) {
  last_line_.OnText(stream, bytes);
  AddText(stream, decoders_.Of(stream).Decode(bytes));
}

void CallStream::OnBackgroundText(Stream stream, std::string_view bytes) {
  AddBackgroundText(stream, background_decoders_.Of(stream).Decode(bytes));
}

void CallStream::OnDisplay(const wire::Display& display) {
  FinishText();
  SendDisplay(display, /*background=*/false);
}

void CallStream::OnBackgroundDisplay(const wire::Display& display) {
  FlushText();
  SendDisplay(display, /*background=*/true);
}

void CallStream::OnCellStarted(size_t index, const CallCell& cell) {
  cell_ = index;
  last_line_.OnCellStarted(index, cell);
  SendStarted(cell);
}

void CallStream::OnCellFinished(size_t, const CellResult& result) {
  FinishText();
  SendFinished(result);
}

void CallStream::Finish(const absl::StatusOr<CallResult>& result) {
  FinishText();
  for (Stream stream : {Stream::kStdout, Stream::kStderr}) {
    AddBackgroundText(stream, background_decoders_.Of(stream).Finish());
  }
  SendDone(result);
}

void CallStream::AddText(Stream stream, std::string_view text) {
  if (text.empty()) return;
  if (stream != text_stream_ || text_.size() > kMaxTextBytes) FlushText();
  text_stream_ = stream;
  text_ += text;
  if (std::exchange(flush_is_posted_, true)) return;
  loop_.Post([this, alive = lifeline_.watch()] {
    if (!*alive) return;
    flush_is_posted_ = false;
    FlushText();
  });
}

void CallStream::AddBackgroundText(Stream stream, const std::string& text) {
  if (text.empty()) return;
  FlushText();
  SendText(stream, text, /*background=*/true);
}

void CallStream::FlushText() {
  EmitWaiting();
  if (!text_.empty()) SendText(text_stream_, std::exchange(text_, ""), /*background=*/false);
}

void CallStream::FinishText() {
  for (Stream stream : {Stream::kStdout, Stream::kStderr}) {
    AddText(stream, decoders_.Of(stream).Finish());
  }
  FlushText();
}

}  // namespace cellar::host
