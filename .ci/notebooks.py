#!/usr/bin/env python3
"""Makes notebooks with nbformat, and validates notebooks with it: Debian's python3-nbformat.

notebooks.py make DIR     one notebook of each minor version of nbformat 4, with every field
notebooks.py check FILE…  fails on a notebook that is not valid, or that nbformat reads as
                          another than the one it is
"""
import base64
import json
import os
import sys

import nbformat
from nbformat import v4
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\b\2\0\0\0\x90wS\xde").decode()


def notebook(minor):
    nb = new_notebook(metadata={
        "kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
        "language_info": {"name": "python", "version": "3.11.2", "codemirror_mode": {"name": "ipython", "version": 3},
                          "file_extension": ".py", "mimetype": "text/x-python", "pygments_lexer": "ipython3"},
        "title": "Every field 每个", "authors": [{"name": "A. Author"}], "vendor.x": {"n": 1.5},
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {}, "version_major": 2}},
    })
    outputs = [
        new_output("stream", name="stdout", text="a\nb\n"),
        new_output("display_data", metadata={"image/png": {"width": 640}},
                   data={"text/plain": "<Figure>", "image/png": PNG, "application/json": {"z": [1, 2, {"y": None}]}}),
        new_output("execute_result", data={"text/plain": "3.14"}, execution_count=3),
        new_output("error", ename="ValueError", evalue="no", traceback=["\u001b[0;31mValueError\u001b[0m", "no"]),
    ]
    said = [
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "read", "arguments": "{\"p\": 1.0}"}}]},
        {"role": "tool", "tool_call_id": "t1", "content": "R"},
        {"role": "assistant", "content": "A notebook.", "reasoning_content": "why"},
    ]
    nb.cells = [
        new_markdown_cell("# Title\n\n![a.png](attachment:a.png) and ![b c](attachment:b%20c.png)\n",
                          metadata={"tags": ["intro"], "jupyter": {"source_hidden": False}, "name": "first"},
                          attachments={"a.png": {"image/png": PNG}, "b c.png": {"image/png": PNG, "text/plain": "b"}}),
        new_code_cell("import math\nmath.pi # é钥匙 <b>", execution_count=3, outputs=outputs,
                      metadata={"collapsed": True, "scrolled": "auto", "tags": ["t"],
                                "execution": {"iopub.status.busy": "2026-01-01T00:00:00Z"}}),
        v4.nbbase.new_raw_cell("raw *text*", metadata={"format": "text/restructuredtext"}),
        new_markdown_cell("**System**: Be brief.", metadata={"role": "system"}),
        new_code_cell("What is this? ![x](attachment:none.png)", metadata={
            "role": "user", "mutsumi_interaction": said,
            "last_ghost_block": {"files": [{"key": "a.py", "version": 1, "content": "x = 1\n"}], "tools": []}}),
        new_markdown_cell("an answer of its own", metadata={"role": "assistant"}),
        new_code_cell(""),
    ]
    nb.nbformat_minor = minor
    for i, cell in enumerate(nb.cells):
        cell.pop("id", None)
        if minor >= 5:
            cell["id"] = f"cell-{i}"
    return nb


def make(folder):
    for minor in range(6):
        nb = notebook(minor)
        nbformat.validate(nb)
        with open(os.path.join(folder, f"nbformat-4.{minor}.ipynb"), "w", encoding="utf-8") as f:
            nbformat.write(nb, f, version=nbformat.NO_CONVERT)


def check(name):
    with open(name, encoding="utf-8-sig") as f:
        text = f.read()
    nbformat.validate(json.loads(text))
    nb = nbformat.reads(text, as_version=nbformat.NO_CONVERT)
    nbformat.validate(nb)
    joined = v4.rwbase.rejoin_lines(nbformat.from_dict(json.loads(text)))
    if nb != joined:
        raise SystemExit(f"{name}: nbformat reads another notebook")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        for name in sys.argv[2:]:
            try:
                check(name)
            except nbformat.ValidationError as e:
                raise SystemExit(f"{name}: {e}")
