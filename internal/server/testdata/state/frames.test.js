import { same, test } from './check.js';
import { frames } from '/assets/state/frames.js';

const body = (pieces) => new ReadableStream({ start(c) { for (const p of pieces) c.enqueue(p); c.close(); } });

async function read(pieces) {
  const out = [];
  for await (const f of frames(body(pieces))) out.push(f);
  return out;
}

const text = ': a comment\nid: 1\ndata: {"a":"鲸🐋"}\n\nid:2\r\ndata:one\r\ndata:  two\r\nretry: 5\r\n\r\ndata\n\ndata: cut off';
const want = [{ id: '1', data: '{"a":"鲸🐋"}' }, { id: '2', data: 'one\n two' }, { id: null, data: '' }];

test('frames are the same wherever the stream is cut', async () => {
  const bytes = new TextEncoder().encode(text);
  same(await read([bytes]), want);
  for (let i = 1; i < bytes.length; i++) same(await read([bytes.slice(0, i), bytes.slice(i)]), want, `cut at ${i}:`);
});

test('who stops reading lets the connection go', async () => {
  let let_go = false;
  const endless = new ReadableStream({ pull(c) { c.enqueue(new TextEncoder().encode('data: x\n\n')); }, cancel() { let_go = true; } });
  for await (const f of frames(endless)) { same(f.data, 'x'); break; }
  for (let i = 0; i < 100 && !let_go; i++) await new Promise((r) => setTimeout(r));
  same(let_go, true);
});
