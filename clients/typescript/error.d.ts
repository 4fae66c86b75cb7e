/** @import { Code, FaultDetail } from './types.js' */
/**
 * What the server answers in place of a result. Its message is for people, in the language that was asked for. A server
 * that did not respond at all is a TypeError, as fetch throws it.
 */
export class ApiError extends Error {
    /**
     * Makes the error of a response whose text was read. A text that is not the API's JSON, such as that of a proxy,
     * leaves the status line.
     *
     * @param {{status: number, statusText: string}} response
     * @param {string} text
     * @param {string | null} [retryAfter] The header Retry-After.
     */
    static of(response: {
        status: number;
        statusText: string;
    }, text: string, retryAfter?: string | null): ApiError;
    /**
     * @param {number} status The status of the response.
     * @param {Partial<FaultDetail>} [detail] What the server says about it.
     * @param {number | null} [retryAfter] Seconds after which it may be tried again, if the server says so.
     */
    constructor(status: number, detail?: Partial<FaultDetail>, retryAfter?: number | null);
    /** The status of the response. */
    status: number;
    /** @type {Code} The kind of error. */
    code: Code;
    /** @type {string | undefined} The field or parameter that is wrong. */
    param: string | undefined;
    /** Seconds after which it may be tried again; null if the server does not say. */
    retryAfter: number | null;
    /** Everything that the server says about it. */
    detail: Partial<FaultDetail>;
}
import type { Code } from './types.js';
import type { FaultDetail } from './types.js';
