// kept reads or writes what this browser remembers; a browser that forbids it
// remembers nothing.
export function kept(name, value) {
  try {
    if (value === undefined) return localStorage.getItem('scrollback.' + name);
    if (value === null) localStorage.removeItem('scrollback.' + name);
    else localStorage.setItem('scrollback.' + name, value);
  } catch { /* forbidden */ }
  return null;
}
