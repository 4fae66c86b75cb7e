// Written by "scrollback install"; "scrollback uninstall" deletes it.
// pi loads it. It registers the MCP server, and adds to a prompt what earlier conversations say of it.
import { execFile } from "node:child_process";

const program: string = @@PROGRAM@@;
const agent: string = @@AGENT@@;
const more: string[] = @@MORE@@; // arguments of each call
const hooks: boolean = @@HOOKS@@;

// ask runs a hook, and returns what it says; nothing if it fails, is gone, or takes too long.
function ask(event: string, input: object): Promise<string> {
  return new Promise((resolve) => {
    const done = (error: unknown, output: string) => {
      try {
        resolve(error ? "" : (JSON.parse(output).text ?? ""));
      } catch {
        resolve("");
      }
    };
    try {
      const options = { timeout: 2000, windowsHide: true, maxBuffer: 1 << 20 };
      const child = execFile(program, ["hook", event, "--agent", agent, ...more], options, done);
      child.stdin?.on("error", () => {});
      child.stdin?.end(JSON.stringify(input));
    } catch {
      resolve("");
    }
  });
}

export default function (pi: any) {
  // Without a description the system prompt has that of the server if it has answered by then, and none if not: bytes
  // at the very front that change from start to start, and with them the provider's cache of all that follows.
  const description = "Call context_search before you ask the user, or guess, what was decided, tried or fixed earlier in this " +
    "folder: it searches scrollback, the memory of past conversations with this and other agents.";
  pi.registerMcpServer?.("scrollback", { command: program, args: ["mcp", ...more], description });
  if (!hooks) return;
  let source: string | undefined; // of the start that is to be told of with the next prompt
  const about = (ctx: any) => ({
    session_id: ctx.sessionManager.getSessionId(),
    transcript_path: ctx.sessionManager.getSessionFile(),
    cwd: ctx.cwd,
  });
  const isOurs = (entry: any) => entry.customType === "scrollback" || entry.message?.customType === "scrollback";
  pi.on("session_start", async (event: any, ctx: any) => {
    // A session that goes on says "startup" too; what it holds tells.
    source = ctx.sessionManager.getEntries().some(isOurs) ? undefined : event.reason;
  });
  pi.on("session_compact", async () => {
    source = "compact";
  });
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    if (event.messageType === "custom") return;
    const texts: string[] = [];
    if (source) texts.push(await ask("session-start", { ...about(ctx), source }));
    source = undefined;
    texts.push(await ask("prompt", { ...about(ctx), prompt: event.prompt }));
    const content = texts.filter(Boolean).join("\n\n");
    if (content) return { message: { customType: "scrollback", content, display: false } };
  });
  pi.on("agent_end", async (_: any, ctx: any) => {
    void ask("stop", about(ctx));
  });
}
