// What a call does, as frames while it does it. Two shapes: cellar's own, whose frames have the
// fields that outputs have in a result, and, for those who watch another's call, say which; and
// that of the runner of old, for bare requests.
//
// Lives on the loop's thread, as long as its call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/eval/call_observer.h"
#include "host/eval/result.h"
#include "host/eval/session_watcher.h"
#include "host/serve/frame.h"
#include "host/serve/last_line.h"
#include "host/serve/text_decoder.h"

namespace cellar::host {

class CallStream : public CallObserver {
 public:
  using Send = std::function<void(std::string frame)>;

  static std::unique_ptr<CallStream> Create(EventLoop& loop, bool is_bare, RequestId id, Send send);
  // For a watch. `number` says which cell of the session it is that starts.
  static std::unique_ptr<CallStream> CreateWatched(EventLoop& loop, RequestId id, WatchedCall call,
                                                   std::function<uint32_t()> number, Send send);

  CallStream(EventLoop& loop, RequestId id, Send send)
      : loop_(loop), id_(std::move(id)), send_(std::move(send)) {}
  ~CallStream() override;

  // Which cells of a notebook are going to run.
  void TellPlan(const std::vector<size_t>& cells);
  LastLine& last_line() { return last_line_; }
  // Before a frame about something that came after the text.
  void FlushText();
  // The last frames.
  void Finish(const absl::StatusOr<CallResult>& result);

  void OnText(Stream stream, std::string_view text) final;
  void OnBackgroundText(Stream stream, std::string_view text) final;
  void OnBackgroundDisplay(const wire::Display& display) final;
  void OnDisplay(const wire::Display& display) final;
  void OnCellStarted(size_t index, const CallCell& cell) final;
  void OnCellFinished(size_t index, const CellResult& result) final;

 protected:
  virtual void SendText(Stream stream, const std::string& text, bool background) = 0;
  virtual void SendDisplay(const wire::Display& display, bool background) = 0;
  virtual void SendStarted(const CallCell& cell) = 0;
  virtual void SendFinished(const CellResult& result) = 0;
  virtual void SendDone(const absl::StatusOr<CallResult>& result) = 0;

  Frame NewFrame(std::string_view type) const { return Frame(type, id_); }
  const RequestId& id() const { return id_; }
  size_t cell() const { return cell_; }
  void Emit(std::string frame);
  // Together with the next, or a moment later: a quick cell then wakes its client once.
  void EmitWithNext(std::string frame);

 private:
  void EmitWaiting();
  void AddText(Stream stream, std::string_view text);
  void AddBackgroundText(Stream stream, const std::string& text);
  // Also the characters that have only begun.
  void FinishText();

  EventLoop& loop_;
  const RequestId id_;
  Send send_;
  size_t cell_ = 0;  // the one that runs
  StreamDecoders decoders_;
  StreamDecoders background_decoders_;
  LastLine last_line_;
  // What one turn of the loop brought, so that a cell that prints much makes few frames.
  std::string text_;
  Stream text_stream_ = Stream::kStdout;
  bool flush_is_posted_ = false;
  std::string waiting_;  // frames that wait for the next one
  EventLoop::TimerId waiting_timer_ = 0;
  Lifeline lifeline_;
};

}  // namespace cellar::host
