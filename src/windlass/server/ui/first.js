// Runs before the first paint, so that a chosen theme does not flash; theme.js has the rest.
{
  const chosen = localStorage.getItem("windlass.theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
}
