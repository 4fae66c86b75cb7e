// A stand-in for the agents that load a plugin: it hands in what was recorded of the real ones, and prints what the
// plugin makes of it, as JSON. node host.mjs AGENT PLUGIN SHAPE
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [agent, file, shape] = process.argv.slice(2);
const recorded = JSON.parse(await readFile(shape, "utf8")).stdin;
const plugin = await import(pathToFileURL(file));
const copy = (v) => JSON.parse(JSON.stringify(v));
const said = {};

async function opencode() {
  const on = await plugin.ScrollbackPlugin(recorded.init);
  const settings = { $schema: "x" };
  await on.config(settings);
  said.mcp = settings.mcp;
  const mine = { mcp: { scrollback: { type: "remote", url: "http://x" } } };
  await on.config(mine);
  said.kept = mine.mcp.scrollback.url;
  if (!on["chat.message"]) return;
  const event = (type, properties) => on.event({ event: { type, properties: copy(properties) } });
  const ask = async (change, id) => {
    const { message, parts, ...input } = copy(recorded["chat.message"]);
    if (id) parts[0].text += ` Again, for ${id}.`;
    Object.assign(input, change);
    if (id) message.id = id;
    await on["chat.message"](input, { message, parts });
    return parts.slice(1);
  };
  for (const name of Object.keys(recorded).filter((x) => x.startsWith("event session.created"))) await event("session.created", recorded[name]);
  await event("session.updated", recorded["event session.updated"]);
  said.first = await ask({});
  said.again = await ask({}, "msg_second");
  const child = { sessionID: "ses_child", info: { id: "ses_child", parentID: recorded["chat.message"].sessionID } };
  await event("session.created", child);
  said.child = await ask({ sessionID: "ses_child" });
  said.resumed = await ask({ sessionID: "ses_resumed" }, "msg_resumed");
  const out = { context: [] };
  await on["experimental.session.compacting"]({ sessionID: recorded.compacting.sessionID }, out);
  said.compacting = out.context;
  await event("session.compacted", recorded["event session.compacted"]);
  said.compacted = [];
  for (const id of ["msg_3", "msg_4", "msg_5"]) said.compacted.push(...await ask({}, id));
  await event("session.idle", recorded["event session.idle"]);
  await event("session.idle", { sessionID: "ses_child" });
  await event("session.deleted", { info: { id: "ses_child" } });
  await event("a.newer.one", {});
}

async function pi() {
  const on = {};
  let entries = [];
  plugin.default({ registerMcpServer: (name, server) => { said.mcp = { [name]: server }; }, on: (name, fn) => { on[name] = fn; } });
  if (!on.before_agent_start) return;
  const start = recorded.session_start;
  let session = start.session_id;
  const ctx = { cwd: start.cwd, sessionManager: { getSessionId: () => session, getSessionFile: () => start.file, getEntries: () => entries } };
  const prompt = copy(recorded.before_agent_start);
  await on.session_start(start, ctx);
  said.first = await on.before_agent_start(prompt, ctx);
  const more = (n) => on.before_agent_start({ ...prompt, prompt: `${prompt.prompt} Again, ${n}.` }, ctx);
  said.again = await more(1);
  said.custom = await on.before_agent_start({ ...prompt, messageType: "custom" }, ctx);
  entries = [{ type: "custom_message", customType: "scrollback" }];
  session = "resumed";
  await on.session_start(start, ctx);
  said.resumed = await on.before_agent_start(prompt, ctx);
  session = start.session_id;
  await on.session_compact(recorded["session_compact reason=manual"], ctx);
  said.compacted = [await more(2), await more(3), await more(4)];
  await on.agent_end(recorded.agent_end, ctx);
}

async function cline() {
  const { setup, hooks } = plugin.default;
  setup({}, { workspaceInfo: recorded.setup.ws });
  const snapshot = { agentId: "a", conversationId: recorded.beforeRun.sessionId };
  const request = () => ({ systemPrompt: "x", messages: [{ id: "0", role: "assistant", content: [{ type: "text", text: "Hello." }] }, JSON.parse(recorded.beforeModel.last)] });
  said.first = hooks.beforeModel({ snapshot, request: request() });
  said.again = hooks.beforeModel({ snapshot, request: request() });
  const result = request();
  result.messages.push({ id: "2", role: "user", content: [{ type: "tool-result", output: "x" }] });
  said.result = hooks.beforeModel({ snapshot, request: result });
  said.child = hooks.beforeModel({ snapshot: { ...snapshot, parentAgentId: "p" }, request: request() });
  hooks.afterRun({ snapshot });
  hooks.afterRun({ snapshot: { ...snapshot, parentAgentId: "p" } });
}

async function openclaw() {
  const on = {};
  plugin.default.register({ on: (name, fn) => { on[name] = fn; } });
  const { ctx, ...event } = recorded.before_prompt_build;
  said.first = await on.before_prompt_build(event, ctx);
  said.again = await on.before_prompt_build(event, { ...ctx, runId: "second" });
  said.timer = await on.before_prompt_build(event, { ...ctx, trigger: "cron" });
  said.nothing = await on.before_prompt_build(undefined, undefined);
  on.after_compaction({}, ctx);
  said.compacted = [];
  for (const runId of ["3", "4", "5"]) said.compacted.push(await on.before_prompt_build(event, { ...ctx, runId }));
  said.restarted = await on.before_prompt_build({ ...event, messages: [{ role: "user" }] }, { ...ctx, sessionId: "s2" });
  on.agent_end({}, ctx);
}

await { opencode, kilo: opencode, pi, cline, openclaw }[agent]();
console.log(JSON.stringify(said));
