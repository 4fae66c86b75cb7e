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
export function readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame, void, void>;
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
export class EventStream<E extends object> implements AsyncIterable<E> {
    /**
     * @param {(stream: EventStream<E>) => Promise<Response>} connect Asks for the events behind the last.
     * @param {StreamOptions} [options]
     * @param {boolean} [begins] Whether a turn begins with the first connection.
     */
    constructor(connect: (stream: EventStream<E>) => Promise<Response>, options?: StreamOptions, begins?: boolean);
    /** The number of the last event that came; null before the first. @type {number | null} */
    last: number | null;
    /** The id of the turn whose events these are, once it is known. */
    turn: string;
    /** Whether the server has said that nothing more comes. */
    done: boolean;
    /** @returns {AsyncGenerator<E, void, void>} */
    [Symbol.asyncIterator](): AsyncGenerator<E, void, void>;
    #private;
}
/**
 * One server-sent event.
 */
export type Frame = {
    id: string | null;
    /**
     * Null where there was none: a comment, or a number alone.
     */
    data: string | null;
};
export type StreamOptions = {
    /**
     * Ends the reading, which then throws the reason of the signal. A turn goes on at the
     * server; cancelTurn stops it.
     */
    signal?: AbortSignal | undefined;
    /**
     * How often in a row a connection that failed is made again; default 6.
     */
    tries?: number | undefined;
    /**
     * Before another try, in ms. The first pause is 500, and each is twice the one before.
     * Default 5000.
     */
    longestPause?: number | undefined;
    /**
     * Called when a connection stands; failures were before it.
     */
    onOpen?: ((failures: number) => void) | undefined;
    /**
     * Called when a connection has failed and is made again;
     * fault is null where it ended without one.
     */
    onLost?: ((fault: unknown, failures: number) => void) | undefined;
};
