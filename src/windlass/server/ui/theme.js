/** Light or dark: as the system says, or as chosen here. first.js applies the choice at the start. */
import { Cell } from "./cell.js";

const KEY = "windlass.theme";
const ORDER = ["", "light", "dark"];

/** "", "light" or "dark"; the first is what the system says. */
export const theme = new Cell(localStorage.getItem(KEY) ?? "");

theme.follow((chosen) => {
  if (chosen) {
    localStorage.setItem(KEY, chosen);
    document.documentElement.dataset.theme = chosen;
  } else {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  }
});

export function nextTheme() {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length];
}
