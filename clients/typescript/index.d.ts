export { ApiError } from "./error.js";
export { Scrollback } from "./operations.js";
export { EventStream } from "./stream.js";
export type ClientOptions = import("./transport.js").ClientOptions;
export type CallOptions = import("./transport.js").CallOptions;
export type StreamOptions = import("./stream.js").StreamOptions;
export type * from "./types.js";
