/** @import { Code, FaultDetail } from './types.js' */

/**
 * What the server answers in place of a result. Its message is for people, in the language that was asked for. A server
 * that did not respond at all is a TypeError, as fetch throws it.
 */
export class ApiError extends Error {
  /**
   * @param {number} status The status of the response.
   * @param {Partial<FaultDetail>} [detail] What the server says about it.
   * @param {number | null} [retryAfter] Seconds after which it may be tried again, if the server says so.
   */
  constructor(status, detail = {}, retryAfter = null) {
    super(detail.message || String(status));
    this.name = 'ApiError';
    /** The status of the response. */
    this.status = status;
    /** @type {Code} The kind of error. */
    this.code = detail.code || 'internal';
    /** @type {string | undefined} The field or parameter that is wrong. */
    this.param = detail.param;
    /** Seconds after which it may be tried again; null if the server does not say. */
    this.retryAfter = retryAfter;
    /** Everything that the server says about it. */
    this.detail = detail;
  }

  /**
   * Makes the error of a response whose text was read. A text that is not the API's JSON, such as that of a proxy,
   * leaves the status line.
   *
   * @param {{status: number, statusText: string}} response
   * @param {string} text
   * @param {string | null} [retryAfter] The header Retry-After.
   */
  static of(response, text, retryAfter = null) {
    /** @type {Partial<FaultDetail>} */
    let detail = { message: `${response.status} ${response.statusText}`.trim() };
    try {
      const { error } = JSON.parse(text);
      if (error && error.message) detail = error;
    } catch { /* not our JSON */ }
    return new ApiError(response.status, detail, secondsOf(retryAfter));
  }
}

/**
 * secondsOf reads the header Retry-After, which has seconds or a date.
 *
 * @param {string | null} header
 */
function secondsOf(header) {
  if (!header) return null;
  if (/^\d+$/.test(header)) return Number(header);
  const ms = Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, Math.ceil(ms / 1000));
}
