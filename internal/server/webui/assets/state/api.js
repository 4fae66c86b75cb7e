// The page's client of the server's API: that of clients/typescript, which any program may use.
import { ApiError, Scrollback } from '../client/index.js';
import { newKey, query } from '../client/transport.js';
import { lang } from './words.js';

export { ApiError, newKey, query };

// door is told when the server wants a key.
export const door = { shut() {} };

export const api = new Scrollback({
  async fetch(url, init) {
    init.headers['Accept-Language'] = lang.value;
    const response = await fetch(url, init);
    if (response.status === 401) door.shut();
    return response;
  },
});

// convo is an address for links, which no request is made for here.
export const convo = (id, rest = '') => `/api/conversations/${encodeURIComponent(id)}${rest}`;
