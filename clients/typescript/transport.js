import { ApiError } from './error.js';
import { EventStream } from './stream.js';

/**
 * @typedef {object} ClientOptions
 * @property {string} [baseURL] Where the server is: its scheme, host and port. A page that the server itself has sent needs
 *   none.
 * @property {string} [key] An API key; a server on the loopback address without keys needs none.
 * @property {(url: string, init: RequestInit & {headers: Record<string, string>}) => Promise<Response>} [fetch] Makes the
 *   requests, in place of the global fetch.
 */

/**
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal] Breaks the request off.
 * @property {Record<string, string>} [headers] Sent with the request, such as Accept-Language.
 */

/** @typedef {NonNullable<RequestInit['body']>} Upload What may be uploaded: a Blob, bytes, a stream or a text. */

/**
 * @typedef {object} Call What one request sends besides its path.
 * @property {unknown} [body] Sent as JSON.
 * @property {Upload} [file] Sent as it is.
 * @property {CallOptions & Record<string, any>} [params] The query, what is in headers, and the options of the call.
 * @property {Record<string, string>} [headers] Parameters that are headers: their fields in params by their names.
 */

/** The fields of params that are not of the query. */
const OPTIONS = new Set(['signal', 'headers', 'tries', 'longestPause', 'onOpen', 'onLost']);

/**
 * Writes the query of an address. What is undefined, null, false or empty is left out, which means the same to the API;
 * a list is joined by commas.
 *
 * @param {Record<string, any>} fields
 * @returns {string} Empty, or with its question mark.
 */
export function query(fields) {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null && value !== '' && value !== false) out.set(name, String(value));
  }
  const text = out.toString();
  return text && '?' + text;
}

/**
 * Writes a path whose values cannot leave their places.
 *
 * @param {TemplateStringsArray} texts
 * @param {...string} values
 */
export const path = (texts, ...values) => texts.reduce((out, text, i) => out + encodeURIComponent(values[i - 1]) + text);

/** How requests are made: what the methods of the operations stand on. */
export class Transport {
  #base;
  #key;
  #fetch;

  /** @param {ClientOptions} [options] */
  constructor({ baseURL = '', key = '', fetch: ask = (url, init) => fetch(url, init) } = {}) {
    this.#base = baseURL.replace(/\/+$/, '');
    this.#key = key;
    this.#fetch = ask;
  }

  /**
   * Makes a request, and returns its response once that is good. It throws an ApiError where the server refuses, and
   * what fetch throws where there is no response.
   *
   * @param {string} method
   * @param {string} at
   * @param {Call} [call]
   * @returns {Promise<Response>}
   */
  async fetchResponse(method, at, { body, file, params = {}, headers: named = {} } = {}) {
    /** @type {Record<string, any>} */
    const asked = {};
    /** @type {Record<string, string>} */
    const headers = { ...(this.#key && { Authorization: `Bearer ${this.#key}` }), ...params.headers };
    for (const [name, value] of Object.entries(params)) {
      if (named[name] && value !== undefined) headers[named[name]] = String(value);
      else if (!OPTIONS.has(name) && !named[name]) asked[name] = value;
    }
    /** @type {RequestInit & {headers: Record<string, string>, duplex?: 'half'}} */
    const init = { method, headers, signal: params.signal };
    if (file !== undefined) {
      headers['Content-Type'] = 'application/octet-stream';
      init.body = file;
      if (file instanceof ReadableStream) init.duplex = 'half';
    } else if (method !== 'GET') {
      headers['Content-Type'] = 'application/json';
      if (method !== 'DELETE') init.body = JSON.stringify(body ?? {});
    }
    const ask = this.#fetch;
    const response = await ask(this.#base + at + query(asked), init);
    if (response.ok) return response;
    throw ApiError.of(response, await response.text().catch(() => ''), response.headers.get('Retry-After'));
  }

  /**
   * @template T
   * @param {string} method
   * @param {string} at
   * @param {Call} [call]
   * @returns {Promise<T>}
   */
  async fetchJSON(method, at, call) {
    return (await this.fetchResponse(method, at, call)).json();
  }

  /**
   * Streams events, which GET asks for, and reads on from the last one where the connection drops.
   *
   * @template {object} E
   * @param {string} at
   * @param {Record<string, any> & import('./stream.js').StreamOptions} [params] after is the number of an event, behind
   *   which the reading begins.
   * @param {string} [turn] Whose events these are.
   * @returns {EventStream<E>}
   */
  streamEvents(at, params = {}, turn = '') {
    /** @type {EventStream<E>} */
    const stream = new EventStream(({ last }) => this.fetchResponse('GET', at, { params: { ...params, after: last } }), params);
    stream.last = params.after ?? null;
    stream.turn = turn;
    return stream;
  }

  /**
   * Begins a turn and streams its events. Where the connection drops before the server has said which turn it is, the
   * request is sent again with the same key, by which the server knows it; from then on its events are read on.
   *
   * @template {object} E
   * @param {string} at
   * @param {Call} call
   * @param {(turn: string) => string} eventsAt The path of the events of a turn.
   * @returns {EventStream<E>}
   */
  streamTurn(at, { body, params = {}, headers }, eventsAt) {
    const begun = { idempotency_key: newKey(), ...params };
    const { idempotency_key: _, ...follow } = begun;
    return new EventStream((stream) => (stream.turn
      ? this.fetchResponse('GET', eventsAt(stream.turn), { params: { ...follow, after: stream.last } })
      : this.fetchResponse('POST', at, { body, params: begun, headers })), params, true);
  }
}

/** newKey returns a key that no other request has. */
export const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)),
  (byte) => byte.toString(16).padStart(2, '0')).join('');
