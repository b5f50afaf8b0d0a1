/** Asks for an API key, once; from then on a cookie that scripts cannot read stands for it. */
import { html, useRef, useState } from "../dom.js";
import { enter } from "../session.js";

export function Login() {
  const field = useRef(null);
  const [state, setState] = useState({});
  const submit = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      await enter(field.current.value.trim());
    } catch (error) {
      setState({ error });
      field.current.select();
    }
  };
  return html`<main class="login">
    <form onSubmit=${submit}>
      <h1><img src="assets/favicon.svg" alt="" width="40" height="40" /> Windlass</h1>
      <label class="field">
        <span>API key</span>
        <input
          ref=${field}
          type="password"
          name="key"
          autocomplete="current-password"
          required
          autofocus
          aria-describedby="key-help"
          aria-invalid=${state.error ? "true" : undefined}
        />
      </label>
      ${state.error && html`<p class="wrong" role="alert">${state.error.message}</p>`}
      <button class="primary" disabled=${state.busy}>${state.busy ? "Logging in…" : "Log in"}</button>
      <p id="key-help" class="muted">
        <code>windlass keys create --role read</code> makes one that looks, <code>--role operate</code> one
        that may change things.
      </p>
    </form>
  </main>`;
}
