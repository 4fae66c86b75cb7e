// What this browser remembers between visits. The page says where that is kept; a browser
// that forbids it remembers nothing.
const prefix = 'scrollback.';
let shelf = null; // as a browser's Storage: getItem, setItem, removeItem

export function use(storage) { shelf = storage; }

export function get(name) {
  try { return shelf ? shelf.getItem(prefix + name) : null; } catch { return null; }
}

// set remembers value; null forgets it.
export function set(name, value) {
  try {
    if (!shelf) return;
    if (value === null) shelf.removeItem(prefix + name);
    else shelf.setItem(prefix + name, value);
  } catch { /* forbidden */ }
}
