// Written by "scrollback install"; "scrollback uninstall" deletes it.
// Cline's program loads it. It adds to a prompt what earlier conversations say of it, in each request at the same place.
import { execFileSync } from "node:child_process";

const program = @@PROGRAM@@;
const agent = @@AGENT@@;
const more = @@MORE@@; // arguments of each call

// ask runs a hook, and returns what it says; nothing if it fails, is gone, or takes too long.
function ask(event, input) {
  try {
    const options = { input: JSON.stringify(input), timeout: 2000, windowsHide: true, stdio: ["pipe", "pipe", "ignore"] };
    const output = execFileSync(program, ["hook", event, "--agent", agent, ...more], options);
    return JSON.parse(output.toString()).text ?? "";
  } catch {
    return "";
  }
}

const told = new Map(); // by the id of a person's message: what was added to it
let folder = process.cwd();
let started = false;

// textOf returns what a message says.
const textOf = (message) => message.content.filter((part) => part.type === "text").map((part) => part.text).join("\n");

// addTo returns a message with what is added to it.
function addTo(message, conversation) {
  if (message.role !== "user" || !message.content.some((part) => part.type === "text")) return message;
  if (!told.has(message.id)) {
    const about = { session_id: conversation, cwd: folder, message_id: message.id };
    const texts = started ? [] : [ask("session-start", { ...about, source: "startup" })];
    started = true;
    texts.push(ask("prompt", { ...about, prompt: textOf(message) }));
    told.set(message.id, texts.filter(Boolean).join("\n\n"));
  }
  const text = told.get(message.id);
  return text ? { ...message, content: [...message.content, { type: "text", text }] } : message;
}

export const plugin = {
  name: "scrollback",
  manifest: { capabilities: ["hooks"] },
  setup(api, context) {
    folder = context?.workspaceInfo?.rootPath ?? folder;
  },
  hooks: {
    beforeModel({ snapshot, request }) {
      if (snapshot.parentAgentId) return;
      return { messages: request.messages.map((message) => addTo(message, snapshot.conversationId)) };
    },
    afterRun({ snapshot }) {
      if (!snapshot?.parentAgentId) ask("stop", { session_id: snapshot?.conversationId, cwd: folder });
    },
  },
};
export default plugin;
