#!/usr/bin/env python3
"""Makes the fixtures in recordings/ from what a recorder in front of clients wrote.

    make.py TOOLS RECORDINGS

TOOLS has canon.py, thread.py and truth.py, which say what is an atom and which conversation each request is of;
RECORDINGS has a folder a client with *.ndjson.gz. Words of others are replaced, each always by the same word of no
language and of the same length, so that what quoted, repeated or began with something still does. Kept are ids,
numbers, tags, the answers of the recorder's own model, the arguments of its calls, and the few words of side_calls.toml
by which a request is recognised.
"""
import gzip, hashlib, importlib, json, os, re, sys, tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS, RAW = sys.argv[1:3]
os.environ["RAW"] = RAW
sys.argv[1:] = ["ids"]
sys.path.insert(0, TOOLS)
thread, truth = importlib.import_module("thread"), importlib.import_module("truth")

table = tomllib.load(open(os.path.join(HERE, "..", "side_calls.toml"), "rb"))
SIGNS = [re.compile(row["pattern"]) for row in table["side_call"]]
KEPT = re.compile("|".join([r"</?[a-z][\w -]*>", r"⟦[^⟧]*⟧", r"Marker [A-Z]+-\w+", "Write the title"]
                           + [re.escape(b) for b in table["context"]["beginnings"]]))
WORD = re.compile(r"[^\W\d_]{2,}")
HEADERS = re.compile(r"x-codex-turn-metadata|x-codex-parent-thread-id|thread-id|session[-_]id|x-session-|x-parent-session"
                     r"|x-claude-code-|x-opencode-session")
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu za".split()


def pseudo(match):
    word = match.group()
    number = int.from_bytes(hashlib.sha256(word.lower().encode()).digest()[:12], "big")
    out = ""
    while len(out) < len(word):
        out += SYLLABLES[number % len(SYLLABLES)]
        number //= len(SYLLABLES)
    out = out[:len(word)]
    return out.upper() if word.isupper() else out.capitalize() if word[0].isupper() else out


def spans_kept(text, answers):
    spans = [m.span() for m in KEPT.finditer(text)]
    for sign in SIGNS:
        spans += [m.span() for m in sign.finditer(text) if m.end() - m.start() <= 120]
    if answers:
        spans += [m.span() for m in answers.finditer(text)]
    return sorted(spans)


def replace(text, answers):
    out, at = [], 0
    for begin, end in spans_kept(text, answers):
        if end <= at:
            continue
        out += [WORD.sub(pseudo, text[at:max(at, begin)]), text[max(at, begin):end]]
        at = end
    return "".join(out) + WORD.sub(pseudo, text[at:])


def walk(value, answers, whole, name=""):
    if isinstance(value, dict):
        call = value.get("type") in ("tool_use", "custom_tool_call")
        return {k: v if k in ("args", "arguments") or call and k == "input" else walk(v, answers, whole, k)
                for k, v in value.items() if k not in ("description", "parameters", "input_schema", "inputSchema")}
    if isinstance(value, list):
        return [walk(v, answers, whole, name) for v in value]
    if not isinstance(value, str) or not re.search(r"\s", value) or name == "x-codex-turn-metadata":
        return value
    if any(value.strip() in a for a in whole):
        return value
    return replace(value, answers)


def answer_of(o):
    r = o.r
    items = []
    for role, kind, text, call in thread.resp_atoms(r["_k"], r):
        item = {"kind": kind, "text": text}
        if kind == "call":
            item["name"], _, item["text"] = text.partition(" ")
        if call:
            item["id"] = call
        items.append(item)
    raw = [e["item"] for e in r.get("events") or [] if e.get("type") == "response.output_item.done"]
    raw += [i for i in (r.get("res") or {}).get("output") or []] if isinstance(r.get("res"), dict) else []
    for item in items:
        if item["kind"] == "compaction":
            item["item"] = next(i for i in raw if i.get("type") == "compaction")
    state = "failed"
    if r.get("status") == 200:
        state = "interrupted" if r.get("aborted") or r.get("cut") else "finished"
    return {"id": thread.respid(r) or "", "state": state, "items": items}


def main():
    clients = {}
    for o in thread.run():
        clients.setdefault(o.cl, []).append(o)
    os.makedirs(os.path.join(HERE, "recordings"), exist_ok=True)
    for client, rows in clients.items():
        whole = {i["text"] for o in rows for i in answer_of(o)["items"] if i["kind"] == "text" and len(i["text"]) >= 12}
        answers = re.compile("|".join(re.escape(a) for a in sorted(whole, key=len, reverse=True))) if whole else None
        lines = []
        for o in rows:
            kind, conversation = truth.truth(o)
            family = truth.fam(o)
            line = {
                "n": o.r["n"], "t": o.r.get("t") or 0, "flow": o.r["_f"],
                "dialect": {"anthropic": "messages"}.get(o.r["_k"], o.r["_k"]),
                "headers": {k: v for k, v in (o.r.get("headers") or {}).items() if HEADERS.match(k)},
                "request": walk(o.r["req0"], answers, whole), "answer": answer_of(o),
                "side": kind == "SIDE", "conversation": conversation or "", "family": family or "",
            }
            lines.append(json.dumps(line, ensure_ascii=False, sort_keys=True))
        path = os.path.join(HERE, "recordings", client + ".ndjson.gz")
        with open(path, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
            z.write(("\n".join(lines) + "\n").encode())
        print(f"{client:28} {len(rows):4} requests {os.path.getsize(path) // 1024:4} KB")


main()
