// What clients ask of notebooks.
#include <utility>

#include "host/serve/connection.h"
#include "host/serve/frame.h"
#include "host/serve/server.h"

namespace cellar::host {
namespace {

// Of a notebook that has run.
std::string NotebookFrame(const RequestId& id, const NotebookJob::Outcome& outcome) {
  const NotebookRunResult& result = outcome.result;
  const bool is_fine = result.cells_failed == 0 && result.stopped.ok() && outcome.saved.ok();
  Frame frame = BeginDone(id, result.interrupted ? "cancelled" : is_fine ? "ok" : "error");
  frame.Key("cells_run").Number(static_cast<int64_t>(result.cells_run));
  frame.Key("cells_failed").Number(static_cast<int64_t>(result.cells_failed));
  frame.Key("state_lost").Bool(result.state_lost);
  if (!result.stopped.ok()) frame.Key("stopped").String(std::string(result.stopped.message()));
  frame.Key("file").String(outcome.file);
  if (!outcome.saved.ok()) {
    frame.Key("not_saved").String(std::string(outcome.saved.message()));
  }
  if (!outcome.clamp_note.empty()) {
    frame.Key("notices").BeginArray().String(outcome.clamp_note).EndArray();
  }
  return frame.Take();
}

}  // namespace

void Connection::Do(const RequestId& id, NotebookFileRequest request) {
  auto answer = Later<std::string>([this](const std::string& frame) { Send(frame); });
  server_.files_.Run([&loop = server_.loop_, id, request = std::move(request),
                      answer = std::move(answer)]() mutable {
    Frame frame = BeginDone(id, "ok");
    absl::Status status = CheckNotebookFiles(request.files);
    if (status.ok()) status = request.act(frame);
    loop.Post([answer = std::move(answer),
               text = status.ok() ? frame.Take() : RefusedFrame(id, status)]() mutable {
      answer(std::move(text));
    });
  });
}

void Connection::Do(const RequestId& id, NotebookSessionRun request) {
  if (absl::Status status = CheckStart(id); !status.ok()) return Send(RefusedFrame(id, status));
  auto stream = CallStream::Create(server_.loop_, /*is_bare=*/false, id, Sender());
  ClientCalls::Running& running = AddCall(id, std::move(stream), request.owner);
  using Outcome = absl::StatusOr<NotebookJob::Outcome>;
  running.notebook = &server_.RunNotebook(
      std::move(request), *running.stream,
      [this, alive = lifeline_.watch(), id](const Outcome& outcome) {
        const std::unique_ptr<CallStream> stream = *alive ? calls_.Remove(id) : nullptr;
        if (stream == nullptr) return;  // the client is gone
        stream->FlushText();
        Send(outcome.ok() ? NotebookFrame(id, *outcome) : RefusedFrame(id, outcome.status()));
        LeaveIfDone();
      });
}

}  // namespace cellar::host
