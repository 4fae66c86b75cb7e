// Talks to a server by the types that openapi-typescript makes of its description, as a
// program would: streamed, whole, and refused. It fails to compile or to run if they are
// wrong.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Event = components["schemas"]["ChatEvent"];
type Part = components["schemas"]["Part"];

const api = createClient<paths>({ baseUrl: process.argv[2] });

function must<T>(value: T | undefined | null, what: string): T {
	if (value === undefined || value === null) throw new Error(what);
	return value;
}

// events reads a stream of server-sent events.
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
	let rest = "";
	const decoder = new TextDecoder();
	for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
		const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
		rest = must(lines.pop(), "no last line");
		for (const line of lines) {
			if (line.startsWith("data: {")) yield JSON.parse(line.slice("data: ".length)) as Event;
		}
	}
}

function textOf(parts: Part[]): string {
	return parts.map((p) => (p.type === "text" ? p.text : "")).join("");
}

const made = await api.POST("/api/conversations", {
	body: { title: "Tides", history: [{ role: "user", content: [{ type: "text", text: "The key lies under the blue boat." }] }] },
});
const path = { id: must(made.data, made.error?.error.message ?? "no conversation").id };

const streamed = await api.POST("/api/conversations/{id}/chat", {
	params: { path },
	body: { message: "Where is the key?" },
	parseAs: "stream",
});
let text = "";
let state: components["schemas"]["TurnState"] | undefined;
for await (const e of events(must(streamed.data, "no stream") as ReadableStream<Uint8Array>)) {
	if (e.type === "delta") text += e.content;
	if (e.type === "done") state = e.status;
	if (e.type === "error") throw new Error(`${e.code}: ${e.message}`);
}
if (state !== "complete" || !text.includes("blue boat")) throw new Error(`the stream says ${state}: ${text}`);

const page = await api.GET("/api/conversations/{id}/messages", { params: { path, query: { after: 0 } } });
const stored = must(page.data, "no messages").messages.map((m) => textOf(m.parts));
if (stored.at(-1) !== text) throw new Error(`streamed ${text}, stored ${stored.at(-1)}`);

const whole = await api.POST("/api/conversations/{id}/chat", {
	params: { path },
	body: { message: [{ type: "text", text: "And which boat?" }], stream: false },
});
const answer = must(whole.data, whole.error?.error.message ?? "no answer");
if (!("turn_id" in answer && "compactions" in answer) || !textOf(must(answer.message, "no message").parts)) throw new Error("no answer");

const refused = await api.GET("/api/conversations/{id}", { params: { path: { id: "00000000-0000-7000-8000-000000000000" } } });
const code: components["schemas"]["Code"] = must(refused.error, "no error").error.code;
if (code !== "not_found") throw new Error(`the error is ${code}`);
console.log("a TypeScript client chats");
