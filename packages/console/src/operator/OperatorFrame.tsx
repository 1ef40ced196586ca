/** The frame of the operator's pages: it asks for the admin token, and has a link to each page. */
import { A } from "@solidjs/router"
import { createSignal, For, type JSX, Show } from "solid-js"
import { describeError } from "../api/queries.ts"
import { Message } from "../design/Feedback.tsx"
import { t } from "../text/Language.ts"
import { forgetOperator, isOperator, tryOperator } from "./Operator.ts"
import "./operator.css"

const pages = ["orgs", "node", "quarantine", "plans"] as const

export const OperatorFrame = (props: {
  readonly title: string
  readonly actions?: JSX.Element
  readonly children?: JSX.Element
}): JSX.Element => (
  <Show when={isOperator()} fallback={<Unlock />}>
    <div class="page">
      <div class="page-head">
        <h1>{props.title}</h1>
        <div class="actions">
          {props.actions}
          <button type="button" class="button quiet" onClick={forgetOperator}>
            {t().operator.lock}
          </button>
        </div>
      </div>
      <nav class="tabs" aria-label={t().operator.title}>
        <For each={pages}>
          {(page) => (
            <A class="tab" href={page === "orgs" ? "/operator" : `/operator/${page}`} end>
              {t().operator.pages[page]}
            </A>
          )}
        </For>
      </nav>
      {props.children}
    </div>
  </Show>
)

const Unlock = (): JSX.Element => {
  const [token, setToken] = createSignal("")
  const [message, setMessage] = createSignal<string | null>(null)
  const [isBusy, setBusy] = createSignal(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setMessage(null)
    try {
      if (!(await tryOperator(token().trim()))) setMessage(t().operator.refused)
    } catch (error) {
      setMessage(describeError(error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().operator.title}</h1>
      </div>
      <form class="card card-body grid unlock" onSubmit={(event) => void submit(event)}>
        <p class="muted">{t().operator.intro}</p>
        <label class="field">
          <span>{t().operator.token}</span>
          <input
            class="input"
            type="password"
            autocomplete="off"
            required
            value={token()}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <Message text={message()} />
        <button type="submit" class="button primary" disabled={isBusy()}>
          {t().operator.unlock}
        </button>
      </form>
    </div>
  )
}
