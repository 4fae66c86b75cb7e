/**
 * Writes the query of an address. What is undefined, null, false or empty is left out, which means the same to the API;
 * a list is joined by commas.
 *
 * @param {Record<string, any>} fields
 * @returns {string} Empty, or with its question mark.
 */
export function query(fields: Record<string, any>): string;
export function path(texts: TemplateStringsArray, ...values: string[]): string;
/** How requests are made: what the methods of the operations stand on. */
export class Transport {
    /** @param {ClientOptions} [options] */
    constructor({ baseURL, key, fetch: ask }?: ClientOptions);
    /**
     * Makes a request, and returns its response once that is good. It throws an ApiError where the server refuses, and
     * what fetch throws where there is no response.
     *
     * @param {string} method
     * @param {string} at
     * @param {Call} [call]
     * @returns {Promise<Response>}
     */
    fetchResponse(method: string, at: string, { body, file, params, headers: named }?: Call): Promise<Response>;
    /**
     * @template T
     * @param {string} method
     * @param {string} at
     * @param {Call} [call]
     * @returns {Promise<T>}
     */
    fetchJSON<T>(method: string, at: string, call?: Call): Promise<T>;
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
    streamEvents<E extends object>(at: string, params?: Record<string, any> & import("./stream.js").StreamOptions, turn?: string): EventStream<E>;
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
    streamTurn<E extends object>(at: string, { body, params, headers }: Call, eventsAt: (turn: string) => string): EventStream<E>;
    #private;
}
export function newKey(): string;
export type ClientOptions = {
    /**
     * Where the server is: its scheme, host and port. A page that the server itself has sent needs
     * none.
     */
    baseURL?: string | undefined;
    /**
     * An API key; a server on the loopback address without keys needs none.
     */
    key?: string | undefined;
    /**
     * Makes the
     * requests, in place of the global fetch.
     */
    fetch?: ((url: string, init: RequestInit & {
        headers: Record<string, string>;
    }) => Promise<Response>) | undefined;
};
export type CallOptions = {
    /**
     * Breaks the request off.
     */
    signal?: AbortSignal | undefined;
    /**
     * Sent with the request, such as Accept-Language.
     */
    headers?: Record<string, string> | undefined;
};
/**
 * What may be uploaded: a Blob, bytes, a stream or a text.
 */
export type Upload = NonNullable<RequestInit["body"]>;
/**
 * What one request sends besides its path.
 */
export type Call = {
    /**
     * Sent as JSON.
     */
    body?: unknown;
    /**
     * Sent as it is.
     */
    file?: Upload | undefined;
    /**
     * The query, what is in headers, and the options of the call.
     */
    params?: (CallOptions & Record<string, any>) | undefined;
    /**
     * Parameters that are headers: their fields in params by their names.
     */
    headers?: Record<string, string> | undefined;
};
import { EventStream } from './stream.js';
