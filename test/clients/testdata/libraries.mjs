// Talks to a server with one client library: node libraries.mjs NAME ADDRESS. For each check a line says whether it held.
const [name, address] = process.argv.slice(2);
const file = "Please read the file notes.txt and say when you have it.";
const words = "The harbour gate is opened by a code.\n";
const tool = { name: "read_file", description: "Reads a file.", parameters: { type: "object",
  properties: { path: { type: "string" } }, required: ["path"] } };

// Each turn takes what is said and answers with the text; the library's own form of the history is its own affair.
const libraries = {
  async openai() {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ baseURL: address + "/v1", apiKey: "no-key-needed" });
    const model = "gpt-4.1";
    const messages = [];
    return {
      async streamed(text) {
        messages.push({ role: "user", content: text });
        const stream = client.chat.completions.stream({ model, messages });
        const done = await stream.finalChatCompletion();
        messages.push({ role: "assistant", content: done.choices[0].message.content });
        return done.choices[0].message.content;
      },
      async whole(text) {
        messages.push({ role: "user", content: text });
        const done = await client.chat.completions.create({ model, messages });
        messages.push(done.choices[0].message);
        return done.choices[0].message.content;
      },
      async calls(text) {
        messages.push({ role: "user", content: text });
        const runner = client.chat.completions.runTools({ model, messages, tools: [{ type: "function",
          function: { ...tool, parse: JSON.parse, function: () => words } }] });
        return runner.finalContent();
      },
    };
  },
  async anthropic() {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const client = new Anthropic({ baseURL: address, apiKey: "no-key-needed" });
    const to = { model: "claude-sonnet-4-5", max_tokens: 1000 };
    const messages = [];
    const say = (m) => m.content.map((b) => b.text ?? "").join("");
    const keep = (m) => (messages.push({ role: "assistant", content: m.content }), m);
    return {
      async streamed(text) {
        messages.push({ role: "user", content: text });
        return say(keep(await client.messages.stream({ ...to, messages }).finalMessage()));
      },
      async whole(text) {
        messages.push({ role: "user", content: text });
        return say(keep(await client.messages.create({ ...to, messages })));
      },
      async calls(text) {
        messages.push({ role: "user", content: text });
        const tools = [{ name: tool.name, description: tool.description, input_schema: tool.parameters }];
        const asked = keep(await client.messages.create({ ...to, messages, tools }));
        const use = asked.content.find((b) => b.type === "tool_use");
        messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: use.id, content: words }] });
        return say(keep(await client.messages.create({ ...to, messages, tools })));
      },
    };
  },
  async genai() {
    const { GoogleGenAI } = await import("@google/genai");
    const client = new GoogleGenAI({ apiKey: "no-key-needed", httpOptions: { baseUrl: address } });
    const tools = [{ functionDeclarations: [{ name: tool.name, description: tool.description,
      parametersJsonSchema: tool.parameters }] }];
    const chat = client.chats.create({ model: "gemini-2.5-pro" });
    return {
      async streamed(text) {
        let all = "";
        for await (const piece of await chat.sendMessageStream({ message: text })) {
          all += piece.text ?? "";
        }
        return all;
      },
      async whole(text) {
        return (await chat.sendMessage({ message: text })).text;
      },
      async calls(text) {
        const asked = await chat.sendMessage({ message: text, config: { tools } });
        const { id, name } = asked.functionCalls[0];
        const part = { functionResponse: { id, name, response: { output: words } } };
        return (await chat.sendMessage({ message: [part], config: { tools } })).text;
      },
    };
  },
  async ollama() {
    const { Ollama } = await import("ollama");
    const client = new Ollama({ host: address });
    const messages = [];
    const model = "scripted";
    return {
      async streamed(text) {
        messages.push({ role: "user", content: text });
        let all = "";
        for await (const piece of await client.chat({ model, messages, stream: true })) {
          all += piece.message.content;
        }
        messages.push({ role: "assistant", content: all });
        return all;
      },
      async whole(text) {
        messages.push({ role: "user", content: text });
        const { message } = await client.chat({ model, messages });
        messages.push(message);
        return message.content;
      },
      async calls(text) {
        messages.push({ role: "user", content: text });
        const tools = [{ type: "function", function: tool }];
        const { message } = await client.chat({ model, messages, tools });
        messages.push(message, { role: "tool", tool_name: message.tool_calls[0].function.name, content: words });
        return (await client.chat({ model, messages, tools })).message.content;
      },
    };
  },
  async ai() {
    const { generateText, streamText, tool: define, jsonSchema, stepCountIs, isStepCount } = await import("ai");
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const model = createOpenAICompatible({ name: "scrollback", baseURL: address + "/v1" })("scripted");
    const messages = [];
    return {
      async streamed(text) {
        messages.push({ role: "user", content: text });
        const all = await streamText({ model, messages }).text;
        messages.push({ role: "assistant", content: all });
        return all;
      },
      async whole(text) {
        messages.push({ role: "user", content: text });
        const done = await generateText({ model, messages });
        messages.push({ role: "assistant", content: done.text });
        return done.text;
      },
      async calls(text) {
        messages.push({ role: "user", content: text });
        const read = define({ description: tool.description, inputSchema: jsonSchema(tool.parameters),
          execute: async () => words });
        return (await generateText({ model, messages, tools: { read_file: read },
          stopWhen: (stepCountIs ?? isStepCount)(5) })).text;
      },
    };
  },
};

const library = await libraries[name]();
for (const [check, turn, text, wanted] of [["streamed", "streamed", "This is streamed.", "Noted"],
  ["whole", "whole", "This is not.", "Noted"], ["tool round", "calls", file, "The file is read"]]) {
  const said = await library[turn](text);
  console.log(`${check}: ${said.startsWith(wanted) ? "ok" : said}`);
}
