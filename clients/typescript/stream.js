import { ApiError } from './error.js';

/**
 * @typedef {object} Frame One server-sent event.
 * @property {string | null} id
 * @property {string | null} data Null where there was none: a comment, or a number alone.
 */

/**
 * Reads server-sent events from the body of a response. Unknown fields are passed over, as the standard says. A reader
 * that stops lets the connection go.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<Frame, void, void>}
 */
export async function* readFrames(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  /** @type {string | null} */
  let id = null;
  /** @type {string[]} */
  let data = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() || '';
      for (const line of lines) {
        if (line === '') {
          yield { id, data: data.length ? data.join('\n') : null };
          id = null;
          data = [];
          continue;
        }
        const colon = line.indexOf(':');
        if (colon === 0) continue;
        const field = colon < 0 ? line : line.slice(0, colon);
        const said = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (field === 'data') data.push(said);
        else if (field === 'id') id = said;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * @typedef {object} StreamOptions
 * @property {AbortSignal} [signal] Ends the reading, which then throws the reason of the signal. A turn goes on at the
 *   server; cancelTurn stops it.
 * @property {number} [tries] How often in a row a connection that failed is made again; default 6.
 * @property {number} [longestPause] Before another try, in ms. The first pause is 500, and each is twice the one before.
 *   Default 5000.
 * @property {(failures: number) => void} [onOpen] Called when a connection stands; failures were before it.
 * @property {(fault: unknown, failures: number) => void} [onLost] Called when a connection has failed and is made again;
 *   fault is null where it ended without one.
 */

/**
 * Events as they come. When the connection drops, it is made again and goes on behind the last event, so that each comes
 * once. To iterate again goes on there too.
 *
 * @template {object} E
 * @implements {AsyncIterable<E>}
 */
export class EventStream {
  /** The number of the last event that came; null before the first. @type {number | null} */
  last = null;
  /** The id of the turn whose events these are, once it is known. */
  turn = '';
  /** Whether the server has said that nothing more comes. */
  done = false;
  #connect;
  #options;
  #begins;

  /**
   * @param {(stream: EventStream<E>) => Promise<Response>} connect Asks for the events behind the last.
   * @param {StreamOptions} [options]
   * @param {boolean} [begins] Whether a turn begins with the first connection.
   */
  constructor(connect, options = {}, begins = false) {
    this.#connect = connect;
    this.#options = options;
    this.#begins = begins;
  }

  /** @returns {AsyncGenerator<E, void, void>} */
  async* [Symbol.asyncIterator]() {
    const { signal, tries = 6, longestPause = 5000, onOpen, onLost } = this.#options;
    for (let failures = 0; !this.done;) {
      /** @type {unknown} */
      let fault = null;
      let came = false;
      try {
        const response = await this.#connect(this);
        if (onOpen) onOpen(failures);
        if (!response.body || response.status === 204) this.done = true;
        else {
          for await (const frame of readFrames(response.body)) {
            came = true;
            const event = this.#take(frame);
            if (event) yield event;
            if (this.done) return;
          }
        }
      } catch (err) {
        fault = err;
      }
      if (this.done) return;
      signal?.throwIfAborted();
      if (this.#isFinal(fault)) throw fault;
      failures = came ? 1 : failures + 1;
      if (failures > tries) throw fault || new TypeError('the connection was lost');
      if (onLost) onLost(fault, failures);
      const asked = fault instanceof ApiError && fault.retryAfter ? fault.retryAfter * 1000 : 0;
      await pause(Math.max(asked, Math.min(longestPause, 250 * 2 ** failures)), signal);
    }
  }

  /**
   * Whether trying again would lead to the same. A server that is asked too often says so for a while only, but who
   * begins a turn wants to hear it.
   *
   * @param {unknown} fault
   */
  #isFinal(fault) {
    if (!(fault instanceof ApiError) || fault.status >= 500) return false;
    return fault.status !== 429 || (this.#begins && !this.turn);
  }

  /**
   * @param {Frame} frame
   * @returns {E | null}
   */
  #take({ id, data }) {
    if (data === '[DONE]') {
      this.done = true;
      return null;
    }
    const n = id ? Number(id) : null;
    if (n !== null && this.turn && this.last !== null && n <= this.last) return null;
    if (n !== null) this.last = n;
    if (data === null) return null;
    const event = JSON.parse(data);
    if (event.type === 'turn' && event.turn_id && !this.turn) this.turn = event.turn_id;
    return event;
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
const pause = (ms, signal) => new Promise((resolve, reject) => {
  const end = () => {
    clearTimeout(timer);
    reject(signal?.reason);
  };
  const timer = setTimeout(() => {
    signal?.removeEventListener('abort', end);
    resolve();
  }, ms);
  signal?.addEventListener('abort', end, { once: true });
});
