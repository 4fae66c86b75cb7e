// A client of scrollback's API. The page of scrollback loads these files as they are.
export { ApiError } from './error.js';
export { Scrollback } from './operations.js';
export { EventStream } from './stream.js';

/** @import * as Types from './types.js' */
/** @typedef {import('./transport.js').ClientOptions} ClientOptions */
/** @typedef {import('./transport.js').CallOptions} CallOptions */
/** @typedef {import('./stream.js').StreamOptions} StreamOptions */
