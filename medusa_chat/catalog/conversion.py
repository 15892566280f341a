"""Runs the conversion in a process of its own: its memory goes away with it, and the caller never imports torch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO

from medusa_chat.catalog.progress import Progress
from medusa_chat.catalog.trouble import disk_full
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import paths


def convert(gguf: Path, folder: Path, on_progress: Progress) -> None:
    """Fills `folder` (made anew) with float32 safetensors, tokenizer and configuration of the GGUF file.

    Raises:
        MedusaError: the file cannot be converted, the disk is full, or the process was killed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    log = paths.log_file()
    command = [sys.executable, "-m", "medusa_chat.catalog.gguf_to_safetensors", str(gguf), str(folder)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
    with log.open("ab") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
        try:
            assert process.stdout is not None
            problem = _follow(process.stdout, on_progress)
            code = process.wait()
        finally:
            # Also on Ctrl-C: a conversion nobody waits for would fill the disk for nothing.
            if process.poll() is None:
                process.kill()
                process.wait()
    if code == 0:
        return
    if problem == "full":
        raise disk_full(folder)
    if code == -9:
        raise MedusaError(
            "Converting the weights was killed, most likely for want of memory: close other programs and pull again."
        )
    raise MedusaError(f"The weights could not be converted ({problem or f'exit status {code}'}); details are in {log}.")


def _follow(lines: IO[str], on_progress: Progress) -> str | None:
    """Hands progress on; returns the problem the process reported, if any. Other output is left alone."""
    problem = None
    for line in lines:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict):
            continue
        if "stage" in message:
            on_progress(str(message["stage"]), message.get("done"))
        problem = message.get("problem", problem)
    return problem
