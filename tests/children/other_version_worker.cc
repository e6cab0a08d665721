// A worker program of another version: says hello with a version that no host of this build knows.
#include "host/wire/control.h"
#include "host/wire/template_messages.h"

int main() {
  using namespace cellar::wire;
  (void)ReceiveControl(kControlFd);
  (void)SendControl(kControlFd, Ready{.version = kProtocolVersion + 1});
  (void)ReceiveControl(kControlFd);
}
