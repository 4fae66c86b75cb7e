// html`…` makes elements; the few hooks that the page uses come from here. A component that
// reads a signal is drawn again when it changes.
import { h, render } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { effect } from '@preact/signals';
import htm from 'htm';

export const html = htm.bind(h);
export { render, useEffect, useLayoutEffect, useRef, useState, effect };
