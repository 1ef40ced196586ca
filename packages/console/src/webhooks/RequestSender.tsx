/** Sends a request to an endpoint, and shows its response and the same as a command. */
import { createSignal, type JSX, Show } from "solid-js"
import { CommandHint } from "../design/CommandHint.tsx"
import { Message } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { TextField } from "../design/TextField.tsx"
import { formatDuration } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { parseHeaders, type Received, sendRequest } from "./sendRequest.ts"
import type { Endpoint } from "./useEndpoints.ts"

export const RequestSender = (props: { readonly endpoint: Endpoint; readonly url: string }): JSX.Element => {
  const hasBody = () => props.endpoint.method !== "GET"
  const [query, setQuery] = createSignal("")
  const [headers, setHeaders] = createSignal(props.endpoint.method === "GET" ? "" : "content-type: application/json")
  const [body, setBody] = createSignal(props.endpoint.method === "GET" ? "" : "{}")
  const [token, setToken] = createSignal("")
  const [received, setReceived] = createSignal<Received | null>(null)
  const [message, setMessage] = createSignal<string | null>(null)
  const [isBusy, setBusy] = createSignal(false)
  const url = () => (query() === "" ? props.url : `${props.url}?${query()}`)
  const send = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setMessage(null)
    try {
      const credential = token() === "" ? [] : [["authorization", `Bearer ${token()}`] as const]
      const sent = { method: props.endpoint.method, headers: [...parseHeaders(headers()), ...credential] }
      setReceived(await sendRequest(url(), hasBody() ? { ...sent, body: body() } : sent))
    } catch {
      setMessage(t().webhooks.failed)
    } finally {
      setBusy(false)
    }
  }
  const command = () => {
    const parts = ["curl -i", props.endpoint.method === "GET" ? "" : `-X ${props.endpoint.method}`]
    for (const [name, value] of parseHeaders(headers())) parts.push(`-H ${shellWord(`${name}: ${value}`)}`)
    // The credential stays out of the shell's history.
    if (token() !== "") parts.push('-H "Authorization: Bearer $KEY"')
    if (hasBody()) parts.push(`-d ${shellWord(body())}`)
    return [...parts, shellWord(url())].filter((part) => part !== "").join(" ")
  }
  return (
    <div class="sender">
      <section class="card" aria-labelledby="sender">
        <div class="card-head">
          <h2 id="sender">{t().webhooks.tryIt}</h2>
        </div>
        <form class="card-body grid" onSubmit={(event) => void send(event)}>
          <p class="mono sender-url">
            <span class="method">{props.endpoint.method}</span> {url()}
          </p>
          <TextField label={t().webhooks.query} value={query()} onInput={setQuery} placeholder="name=Ada&page=2" />
          <Area label={t().webhooks.headers} value={headers()} onInput={setHeaders} />
          <Show when={hasBody()}>
            <Area label={t().webhooks.body} value={body()} onInput={setBody} />
          </Show>
          <Show when={props.endpoint.needsCredential}>
            <label class="field">
              <span>{t().webhooks.credential}</span>
              <input
                class="input"
                type="password"
                autocomplete="off"
                value={token()}
                onInput={(event) => setToken(event.currentTarget.value)}
              />
            </label>
          </Show>
          <CommandHint command={command()} />
          <div>
            <button type="submit" class="button primary" disabled={isBusy()}>
              <Icon name="send" />
              {isBusy() ? t().webhooks.sending : t().webhooks.send}
            </button>
          </div>
        </form>
      </section>
      <section class="card" aria-labelledby="response">
        <div class="card-head">
          <h2 id="response">{t().webhooks.response}</h2>
          <Show when={received()}>
            {(response) => (
              <>
                <span class={`badge ${response().status < 400 ? "succeeded" : "failed"}`}>{response().status}</span>
                <span class="end muted number">{formatDuration(response().ms)}</span>
              </>
            )}
          </Show>
        </div>
        <Message text={message()} />
        <Show when={received()} fallback={<p class="card-body muted">{t().webhooks.noResponse}</p>}>
          {(response) => <Response response={response()} />}
        </Show>
      </section>
    </div>
  )
}

const Response = (props: { readonly response: Received }): JSX.Element => (
  <div class="card-body grid" role="status">
    <pre class="muted">{props.response.headers.map(([name, value]) => `${name}: ${value}`).join("\n")}</pre>
    <Show when={props.response.body !== ""} fallback={<p class="muted">{t().webhooks.noBody}</p>}>
      <pre class="token response-body">{props.response.body}</pre>
    </Show>
  </div>
)

const Area = (props: {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
}): JSX.Element => (
  <label class="field">
    <span>{props.label}</span>
    <textarea
      class="input short"
      spellcheck={false}
      value={props.value}
      onInput={(event) => props.onInput(event.currentTarget.value)}
    />
  </label>
)
