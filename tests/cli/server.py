"""What tests of `cellar serve` have in common: the program at the other end of two pipes."""
import subprocess

from line_client import LineClient
from program import DEADLINE_S, ProgramTest


class ServeTest(ProgramTest):
    def serve(self, *args, **options):
        self.process = self.start("serve", *args, stdin=subprocess.PIPE, bufsize=0, **options)
        return LineClient(self.process.stdin, self.process.stdout)

    def end(self, client):
        """Ends the input; returns the frames that are left and the exit code."""
        self.process.stdin.close()
        frames = list(client.frames)
        while (frame := client.read_frame()) is not None:
            frames.append(frame)
        return frames, self.process.wait(DEADLINE_S)
