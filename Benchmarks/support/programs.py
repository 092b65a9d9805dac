"""Running programs through `measure`: time from exec to the first line, and peak memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self


def placed(programs: list[Path], folder: Path) -> Path:
    """A folder with copies of the programs, each read from the disk when it first runs.

    The page cache holds a program that was just linked in large pieces, as it was written, so the system maps more of it at each page fault than of
    an installed program.
    """
    folder.mkdir()
    for program in programs:
        copy = folder / program.name
        shutil.copy(program, copy)
        forget(copy)
    return folder


def forget(file: Path) -> None:
    """Makes the system read the file from the disk when it is next needed."""
    with open(file, "rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@dataclass
class Run:
    """One run of a program. Times in milliseconds; memory in MB of 10⁶ bytes."""

    first_line: float
    end: float
    peak: float
    faults: int
    output: str


class Measure:
    def __init__(self, program: Path, folder: Path) -> None:
        self.program = program
        self.folder = folder

    def run(self, words: list[str | Path], text: str = "") -> Run:
        given, taken = self.folder / "measure.in", self.folder / "measure.out"
        given.write_text(text + "\n", encoding="utf-8")
        result = subprocess.run(
            [self.program, "--input", given, "--output", taken, "1", *words], capture_output=True, text=True, check=True
        )
        return self._read(result.stdout, taken.read_text(encoding="utf-8"), words)

    def _read(self, line: str, output: str, words: list[str | Path]) -> Run:
        first, end, kibibytes, status, faults = (int(part) for part in line.split())
        if status != 0 or first < 0:
            raise RuntimeError(f"{words[0]} ended with {status}: {output[:500]}")
        return Run(first / 1e6, end / 1e6, kibibytes * 1024 / 1e6, faults, output)

    @contextmanager
    def conversation(self, words: list[str | Path]) -> Iterator[Conversation]:
        """A program that answers line by line; its run is known when the block ends."""
        given, taken = self.folder / "conversation.in", self.folder / "conversation.out"
        for path in (given, taken):
            path.unlink(missing_ok=True)
            os.mkfifo(path)
        command = [self.program, "--input", given, "--output", taken, "1", *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            # In the order in which `measure` opens them, or both would wait forever.
            with open(taken, encoding="utf-8") as answers, open(given, "w", encoding="utf-8") as questions:
                conversation = Conversation(questions, answers)
                yield conversation
                questions.close()
                answers.read()
            assert process.stdout is not None
            conversation.run = self._read(process.stdout.read(), "", words)


class Conversation:
    run: Run

    def __init__(self, questions: IO[str], answers: IO[str]) -> None:
        self._questions, self._answers = questions, answers

    def ask(self, line: str) -> str:
        self._questions.write(line + "\n")
        self._questions.flush()
        return self._answers.readline()


class Committer:
    """The reference for a push into an open store: one durable commit, in milliseconds, as `commit` reports."""

    def __init__(self, words: list[str | Path]) -> None:
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def commit(self) -> float:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline()) / 1e6


class Answerer:
    """A program that answers line by line, through pipes."""

    def __init__(self, words: list[str | Path]) -> None:
        self._name = words[0]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def ask(self, line: str) -> tuple[float, str]:
        """The milliseconds until the answer arrived, and the answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        (question, answers) = (self._process.stdin.fileno(), self._process.stdout.fileno())
        text = (line + "\n").encode()
        began = time.perf_counter_ns()
        os.write(question, text)
        answer = os.read(answers, 65_536)
        took = (time.perf_counter_ns() - began) / 1e6
        while answer and not answer.endswith(b"\n"):
            answer += os.read(answers, 65_536)
        if not answer:
            raise RuntimeError(f"{self._name} ended with {self._process.wait()}")
        return took, answer.decode()
