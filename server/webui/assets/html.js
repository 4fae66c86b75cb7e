// html`…` makes elements; the few hooks and signals that the page uses come from here.
import { h, render } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { signal, computed, effect, batch, untracked } from '@preact/signals';
import htm from 'htm';

export const html = htm.bind(h);
export { render, useEffect, useLayoutEffect, useRef, useState, signal, computed, effect, batch, untracked };
