#include "host/output/html_tree.h"

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "host/base/clock.h"

namespace cellar::host {
namespace {

constexpr size_t kMaxMemory = size_t{64} << 20;
constexpr size_t kBlockBytes = size_t{1} << 20;
// A document of 128 KiB, which is what html_markdown.cc lets in, takes up to 40 ms unless it is
// made to hurt.
constexpr absl::Duration kMaxCpuTime = absl::Milliseconds(200);
constexpr unsigned kAllocationsPerClockRead = 256;

bool ContainsIgnoringCase(std::string_view text, std::string_view lower_case) {
  const auto equal = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::search(text.begin(), text.end(), lower_case.begin(), lower_case.end(), equal) !=
         text.end();
}

}  // namespace

// All memory of one parse. gumbo cannot be told to stop, but it allocates for every token, and no
// allocation of its own may fail: so when a limit is passed, the allocation jumps out of the
// parser, and the arena frees what it left behind. The tree is freed in the same way, since
// gumbo_destroy_output recurses once for each level. Nothing is freed before: pieces as small as
// these, freed one by one, would leave a heap full of holes.
class HtmlTree::Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Nullptr if a limit was passed. No object with a destructor may live in this frame.
  const GumboOutput* Parse(std::string_view html) {
    GumboOptions options = kGumboDefaultOptions;
    options.allocator = [](void* arena, size_t size) {
      return static_cast<Arena*>(arena)->Allocate(size);
    };
    options.deallocator = [](void*, void*) {};
    options.userdata = this;
    options.max_errors = 0;
    if (setjmp(limit_passed_) != 0) return nullptr;
    return gumbo_parse_with_options(&options, html.data(), html.size());
  }

 private:
  void* Allocate(size_t size) {
    size = (size + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) *
           alignof(std::max_align_t);
    allocated_ += size;
    const bool reads_clock = ++allocations_ % kAllocationsPerClockRead == 0;
    if (allocated_ > kMaxMemory || (reads_clock && ThreadCpuTime() > deadline_) ||
        (size > free_.size() && !AddBlock(std::max(size, kBlockBytes)))) {
      longjmp(limit_passed_, 1);
    }
    void* memory = free_.data();
    free_ = free_.subspan(size);
    return memory;
  }

  bool AddBlock(size_t size) {
    std::unique_ptr<std::byte[]> block(new (std::nothrow) std::byte[size]);
    if (block == nullptr) return false;
    free_ = {block.get(), size};
    blocks_.push_back(std::move(block));
    return true;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::span<std::byte> free_;  // at the end of the last block
  size_t allocated_ = 0;
  unsigned allocations_ = 0;
  absl::Duration deadline_ = ThreadCpuTime() + kMaxCpuTime;
  std::jmp_buf limit_passed_;
};

std::optional<HtmlTree> HtmlTree::Parse(std::string_view html) {
  // A frameset makes gumbo destroy the body while it parses, with one level of recursion for each
  // level of it.
  if (ContainsIgnoringCase(html, "<frameset")) return std::nullopt;
  auto arena = std::make_unique<Arena>();
  const GumboOutput* output = arena->Parse(html);
  if (output == nullptr) return std::nullopt;
  return HtmlTree(std::move(arena), output);
}

HtmlTree::HtmlTree(std::unique_ptr<Arena> arena, const GumboOutput* output)
    : arena_(std::move(arena)), output_(output) {}
HtmlTree::HtmlTree(HtmlTree&&) noexcept = default;
HtmlTree::~HtmlTree() = default;

}  // namespace cellar::host
