// Before the first paint: the theme that was chosen, so that nothing flashes.
(function () {
  try {
    var theme = localStorage.getItem('scrollback.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch (e) { /* storage may be forbidden; the system's theme stands */ }
})();
