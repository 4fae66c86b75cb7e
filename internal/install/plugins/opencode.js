// Written by "scrollback install"; "scrollback uninstall" deletes it.
// opencode and Kilo load it. It registers the MCP server, and adds to a prompt what earlier conversations say of it.
import { execFile } from "node:child_process";

const program = @@PROGRAM@@;
const agent = @@AGENT@@;
const more = @@MORE@@; // arguments of each call
const hooks = @@HOOKS@@;

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

export const ScrollbackPlugin = async ({ directory }) => {
  const sessions = new Map(); // by id: whether it has a parent, was told of the start, was compacted
  const session = (id) => {
    if (!sessions.has(id)) sessions.set(id, {});
    return sessions.get(id);
  };
  const plugin = {
    config: async (settings) => {
      settings.mcp ??= {};
      settings.mcp.scrollback ??= { type: "local", command: [program, "mcp", ...more], enabled: true };
    },
  };
  if (!hooks) return plugin;
  plugin.event = async ({ event }) => {
    const about = event.properties ?? {};
    switch (event.type) {
      case "session.created":
        Object.assign(session(about.info.id), { created: true, parent: about.info.parentID });
        break;
      case "session.compacted":
        session(about.sessionID).compacted = true;
        break;
      case "session.idle":
        if (!session(about.sessionID).parent) void ask("stop", { session_id: about.sessionID, cwd: directory });
        break;
      case "session.deleted":
        sessions.delete(about.info?.id);
        break;
    }
  };
  plugin["chat.message"] = async (input, output) => {
    const known = session(input.sessionID);
    if (known.parent || output.parts.some((part) => part.type === "compaction")) return;
    const about = { session_id: input.sessionID, cwd: directory, message_id: output.message.id };
    const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text);
    const texts = [];
    if (!known.started) texts.push(await ask("session-start", { ...about, source: known.created ? "startup" : "resume" }));
    if (known.compacted) texts.push(await ask("session-start", { ...about, source: "compact" }));
    known.started = true;
    known.compacted = false;
    texts.push(await ask("prompt", { ...about, prompt: prompt.join("\n") }));
    const text = texts.filter(Boolean).join("\n\n");
    if (!text) return;
    const id = output.message.id.replace(/^msg_/, "prt_") + "zscrollback"; // parts are in the order of their ids
    const at = { sessionID: input.sessionID, messageID: output.message.id };
    output.parts.push({ id, ...at, type: "text", text, synthetic: true });
  };
  plugin["experimental.session.compacting"] = async (input, output) => {
    const text = await ask("pre-compact", { session_id: input.sessionID, cwd: directory });
    if (text) output.context.push(text);
  };
  return plugin;
};
