"""What the command line of a comparison says: CELLAR [--quick] [--markdown]"""
import os
import sys

PROGRAM = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
MARKDOWN = "--markdown" in sys.argv
KERNEL_EVERY = 4  # a kernel takes a second for what takes others milliseconds: only each fourth round has it


def scaled(full, quick=1):
    return quick if QUICK else full
