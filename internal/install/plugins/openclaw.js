// Written by "scrollback install"; "scrollback uninstall" deletes it.
// OpenClaw loads it. It adds to a prompt what earlier conversations say of it.
import { execFile } from "node:child_process";

const program = @@PROGRAM@@;
const agent = @@AGENT@@;
const more = @@MORE@@; // arguments of each call

// ask runs a hook, and returns what it says; nothing if it fails, is gone, or takes too long.
function ask(event, input) {
  return new Promise((resolve) => {
    const done = (error, output) => {
      try {
        resolve(error ? "" : (JSON.parse(output).text ?? ""));
      } catch {
        resolve("");
      }
    };
    try {
      const options = { timeout: 2000, windowsHide: true, maxBuffer: 1 << 20 };
      const child = execFile(program, ["hook", event, "--agent", agent, ...more], options, done);
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(input));
    } catch {
      resolve("");
    }
  });
}

const about = (context) => ({ session_id: context?.sessionId, cwd: context?.workspaceDir, message_id: context?.runId });

export default {
  id: "scrollback",
  name: "scrollback",
  register(api) {
    const compacted = new Set(); // sessions
    const starts = new Map(); // by session: what it was told at its start
    api.on("after_compaction", (_, context) => {
      compacted.add(context?.sessionId);
    });
    // startOf returns what a session was told at its start. It is not part of the session: each request has it again,
    // the same bytes, so that what the provider has cached stays good.
    const startOf = async (event, context) => {
      const id = context?.sessionId;
      const about = { session_id: id, cwd: context?.workspaceDir };
      const known = starts.get(id);
      if (compacted.delete(id)) {
        starts.set(id, (await ask("session-start", { ...about, source: "compact" })) || known || "");
      } else if (known === undefined) {
        const source = event?.messages?.length ? "resume" : "startup";
        if (starts.size > 1000) starts.clear();
        starts.set(id, await ask("session-start", { ...about, source }));
      }
      return starts.get(id);
    };
    api.on("before_prompt_build", async (event, context) => {
      if (context?.trigger && context.trigger !== "user") return;
      const start = await startOf(event, context);
      const prompt = await ask("prompt", { ...about(context), prompt: event?.prompt ?? "" });
      const out = {};
      if (start) out.appendSystemContext = start;
      if (prompt) out.appendContext = prompt;
      return out;
    });
    api.on("agent_end", (_, context) => {
      void ask("stop", about(context));
    });
  },
};
