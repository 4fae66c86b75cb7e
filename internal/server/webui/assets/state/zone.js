// Where the person is, as the browser knows it: days are counted there, and the model is told the
// date there.
export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || undefined;
