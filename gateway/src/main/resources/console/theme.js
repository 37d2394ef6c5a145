// Runs before the page is shown, so that the chosen theme is there from its first frame.
{
  const theme = localStorage.getItem("radixflow.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
