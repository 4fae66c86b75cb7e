// Talks to a server by the package of clients/typescript, as a program would: an answer is streamed, another is broken
// off, read on and stopped, and a refusal is caught. It fails to compile or to run if the package is wrong.
import { ApiError, Scrollback } from "scrollback-client";
import type { Part } from "scrollback-client";

function must(yes: unknown, what: string): asserts yes {
	if (!yes) throw new Error(what);
}

const textOf = (parts: Part[]) => parts.map((part) => (part.type === "text" ? part.text : "")).join("");

const scrollback = new Scrollback({ baseURL: process.argv[2] });
const { id } = await scrollback.createConversation({
	title: "Tides",
	history: [{ role: "user", content: [{ type: "text", text: "The key lies under the blue boat." }] }],
});

let text = "";
const stream = scrollback.chat(id, { message: "Where is the key?" });
for await (const event of stream) {
	if (event.type === "delta") text += event.content;
	if (event.type === "error") throw new Error(`${event.code}: ${event.message}`);
}
must(text.includes("blue boat"), `the stream says ${text}`);
must(stream.turn && stream.done && stream.last, "the stream does not know how it ended");
const { messages } = await scrollback.listMessages(id, { limit: 1 });
must(textOf(messages[0].parts) === text, `streamed ${text}, stored ${textOf(messages[0].parts)}`);
console.log(`streamed and stored: ${JSON.stringify(text)}`);

const breaking = new AbortController();
const broken = scrollback.chat(id, { message: "And which boat?" }, { signal: breaking.signal });
let why: unknown;
try {
	for await (const event of broken) if (event.type === "turn") breaking.abort();
} catch (err) {
	why = err;
}
must(why instanceof Error && why.name === "AbortError", `breaking off threw ${why}`);
text = "";
for await (const event of scrollback.turnEvents(id, broken.turn)) {
	if (event.type === "delta") text += event.content;
	if (event.type === "snapshot") text = event.content;
	if (event.type === "message") text ||= textOf((await scrollback.listMessages(id, { limit: 1 })).messages[0].parts);
}
must(text !== "", "the turn did not go on");
console.log(`broken off with ${why.name}, and read on: ${JSON.stringify(text)}`);

const answer = await scrollback.chatToEnd(id, { message: [{ type: "text", text: "Whose is it?" }] });
must(answer.message && textOf(answer.message.parts), "no answer");

try {
	await scrollback.getConversation("00000000-0000-7000-8000-000000000000");
	must(false, "a conversation that is not there was read");
} catch (err) {
	must(err instanceof ApiError && err.status === 404 && err.code === "not_found", `the error is ${err}`);
	console.log(`refused: ${err.name} ${err.status} ${err.code}: ${err.message}`);
}
try {
	// @ts-expect-error the types know that there is no such parameter
	await scrollback.listMessages(id, { limits: 1 });
	must(false, "a parameter that is not known was taken");
} catch (err) {
	must(err instanceof ApiError && err.status === 400 && err.param === "limits", `the error is ${err}`);
	console.log(`refused: ${err.name} ${err.status} ${err.code} (${err.param}): ${err.message}`);
}
