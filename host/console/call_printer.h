// Shows a call to a person: output as it is written, results, errors, and what became of the state.
// On a terminal long output is collapsed, JSON is a folded tree, images are shown or saved, and
// while a cell takes long lines say how it is; where the output goes elsewhere it is plain and
// complete.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/console/foreground.h"
#include "host/console/inline_image.h"
#include "host/console/output_pane.h"
#include "host/console/output_queue.h"
#include "host/console/status_tree.h"
#include "host/console/terminal.h"
#include "host/eval/call_observer.h"
#include "host/output/artifacts.h"

namespace cellar::host {

class CallPrinter : public CallObserver {
 public:
  struct Options {
    EventLoop* loop = nullptr;              // for the lines that say how it is; or none
    const ArtifactStore* images = nullptr;  // for images the terminal cannot show; or none
    size_t lines = 10;                      // on a terminal, of output that is not collapsed
    std::string hint = "a terminal shows the first and the last ones of a cell";
    // Whose signals and time-outs do not wait for those who read what goes elsewhere; or none, and
    // they do.
    Foreground* foreground = nullptr;
    // WantsPause() may have become false, and IsWritten() true.
    std::function<void()> on_room;
  };

  // `on_output_lost` is called once, with the errno, when standard output can no longer be written;
  // or null.
  CallPrinter(std::function<void(int error)> on_output_lost, Options options);
  ~CallPrinter() override;

  // The cells of the call: each gets a line that says how it ended, unless it is the only one.
  void Plan(const std::vector<CallCell>& cells) { tree_.Plan(cells); }
  // Says how many of the last cells were not run, and what became of the one before them.
  void NoteNotRun(const std::vector<CellRunStatus>& cells);
  void OnCellStarted(size_t index, const CallCell& cell) override;
  void OnText(Stream stream, std::string_view text) override;
  void OnBackgroundText(Stream stream, std::string_view text) override { OnText(stream, text); }
  void OnBackgroundDisplay(const wire::Display& display) override { OnDisplay(display); }
  void OnDisplay(const wire::Display& display) override;
  void OnCellFinished(size_t index, const CellResult& result) override;
  bool WantsPause() const override;
  // Nothing waits for a reader.
  bool IsWritten() const;

  // A cell of another begins, while somebody types: what it prints is shown, but nothing is drawn
  // twice.
  void BeginAside();
  void EndAside(const CellResult& result) { PrintResult(result); }
  // `json_depth`: below it JSON is folded.
  void PrintBundle(const std::vector<wire::MimeEntry>& data, int json_depth);
  // No text is collapsed until the next cell starts.
  void ShowAll() { shows_all_ = true; }

  // The next thing written starts a line.
  void EndLine();
  // Takes the line that was begun off the terminal, and returns it.
  std::string TakeLine();
  // How the terminal shows images; at first, as its variables say.
  ImageProtocol images() const { return images_; }
  void set_images(ImageProtocol images) { images_ = images; }
  // While something else is on the terminal's last line, how the cell is is not shown.
  void PauseStatus(bool paused) { status_is_paused_ = paused; }
  // The terminal has another width.
  void OnResize();
  // A line on standard output.
  void Say(std::string_view text) { PrintLine(out_, text); }
  // A line of cellar's own.
  void Note(std::string_view text);
  // Says where the data is, unless an image of it has been shown or saved already.
  void NoteSaved(const SavedData& data);

 private:
  struct Side {
    int fd;
    bool is_terminal;
    bool has_colour;
    bool at_line_start = true;
    TerminalFilter filter;
    OutputQueue* queue = nullptr;  // or it is written at once
  };

  void OnStatus(const wire::Display& display);
  void PrintResult(const CellResult& result);
  void PrintVerdict(const CellResult& result);
  // As much of it as is shown of output.
  void PrintText(std::string_view text);
  void Print(Side& side, std::string_view text);
  void Write(Side& side, std::string_view text);
  void QueueOutput(Foreground& foreground);
  void LoseOutput(int error);
  void SetAtLineStart(Side& side, bool at_line_start);
  // On a line of its own.
  void PrintLine(Side& side, std::string_view text, std::string_view colour = {});
  void PrintImage(const wire::MimeEntry& image);
  bool IsOnPane(const Side& side) const { return pane_ && side.is_terminal && !shows_all_; }
  bool AtLineStart(const Side& side) const;
  void Tick();
  void StopTicking();

  Side out_;
  Side err_;
  const bool share_a_line_;  // what the one has begun, the other goes on with
  std::function<void(int error)> on_output_lost_;
  Options options_;
  std::optional<OutputQueue> out_queue_;
  std::optional<OutputQueue> err_queue_;
  ImageProtocol images_;
  std::optional<OutputPane> pane_;  // on a terminal that can
  bool shows_all_ = false;
  bool status_is_paused_ = false;
  absl::Time started_;
  StatusTree tree_;
  EventLoop::TimerId ticker_ = 0;
  size_t ticks_ = 0;
};

}  // namespace cellar::host
