// A worker that runs one file of tests and posts what came of it.
import { run } from './check.js';

try {
  for (const name of ['document', 'window', 'localStorage']) if (name in globalThis) throw new Error(`there is a ${name} here`);
  await import('./' + new URLSearchParams(location.search).get('file'));
  postMessage(await run());
} catch (err) {
  postMessage({ ran: 0, faults: [String(err.stack || err)] });
}
