/** The parameters of a task, as fields of a form. Pure. */

/**
 * How a parameter is asked for, by its JSON Schema: as "text", "number", "choice" or "json".
 * @param {{kind: string, schema: object | null}} parameter
 */
export function inputOf({ kind, schema }) {
  if (kind === "rest" || kind === "others") return "json";
  const { type, enum: choices } = plain(schema);
  if (choices || type === "boolean") return "choice";
  if (type === "integer" || type === "number") return "number";
  return type === "string" ? "text" : "json";
}

/** The schema without the null that it may allow. */
function plain(schema) {
  const options = schema?.anyOf?.filter((each) => each.type !== "null");
  return (options?.length === 1 ? options[0] : options ? {} : schema) ?? {};
}

/** What there is to choose from: a text to show and the JSON that it stands for, of each. */
export function choicesOf({ schema }) {
  const values = plain(schema).enum ?? [true, false];
  return values.map((value) => [String(value), JSON.stringify(value)]);
}

export const stepOf = ({ schema }) => (plain(schema).type === "integer" ? 1 : "any");

/** What holds if a field is left empty, as a hint. */
export function hintOf({ kind, required, default: fallback }) {
  if (kind === "rest") return "[]";
  if (kind === "others") return "{}";
  return required ? "" : JSON.stringify(fallback);
}

/**
 * The arguments of a call, made of what was written into the fields; what is empty and need not be
 * there is left out.
 * @param {(text: string) => any} read of JSON
 */
export function callOf(parameters, written, read) {
  const [args, kwargs] = [[], {}];
  for (const parameter of parameters) {
    const { name, kind, required } = parameter;
    const text = written[name] ?? "";
    if (text === "" && !required) continue;
    const value = inputOf(parameter) === "text" ? text : read(text);
    if (kind === "rest") args.push(...value);
    else if (kind === "others") Object.assign(kwargs, value);
    else if (kind === "positional") args.push(value);
    else kwargs[name] = value;
  }
  return { args, kwargs };
}
