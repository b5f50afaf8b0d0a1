/** Addresses, of views and of the API alike. Pure. */

/** An address with every value encoded: path`jobs/${id}/cancel`. */
export const path = (texts, ...values) => String.raw({ raw: texts }, ...values.map(encodeURIComponent));

/** The query of an address; of several values each is named, and what is empty is left out. */
export function queryOf(values) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const each of [value].flat())
      if (each !== undefined && each !== null && each !== "") found.append(name, each);
  return found;
}
