/** Sign-in by a token, which is exchanged for a cookie and not stored. */
import { createSignal, For, type JSX, Show } from "solid-js"
import { Message } from "../design/Feedback.tsx"
import icon from "../icon.svg"
import { t } from "../text/Language.ts"
import { type EnvironmentChoice, SignInError, sessionState, signIn } from "./Session.ts"

export const SignInPage = (): JSX.Element => {
  const [token, setToken] = createSignal("")
  const [choices, setChoices] = createSignal<ReadonlyArray<EnvironmentChoice> | null>(null)
  const [message, setMessage] = createSignal<string | null>(null)
  const [isBusy, setBusy] = createSignal(false)
  const attempt = async (envId?: string) => {
    setBusy(true)
    setMessage(null)
    try {
      setChoices(await signIn(token().trim(), envId))
    } catch (error) {
      setMessage(error instanceof SignInError ? error.message : t().common.failed)
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <div class="card sign-in-card">
        <img src={icon} alt="" />
        <Show
          when={choices()}
          fallback={
            <TokenForm
              token={token()}
              onToken={setToken}
              isBusy={isBusy()}
              message={message()}
              onSubmit={() => void attempt()}
            />
          }
        >
          {(environments) => (
            <Choose
              environments={environments()}
              message={message()}
              onChoose={(envId) => void attempt(envId)}
              onBack={() => {
                setChoices(null)
                setToken("")
              }}
            />
          )}
        </Show>
      </div>
    </main>
  )
}

const TokenForm = (props: {
  readonly token: string
  readonly onToken: (token: string) => void
  readonly isBusy: boolean
  readonly message: string | null
  readonly onSubmit: () => void
}): JSX.Element => (
  <form
    class="grid"
    onSubmit={(event) => {
      event.preventDefault()
      props.onSubmit()
    }}
  >
    <h1>{t().signIn.title}</h1>
    <Show when={sessionState().status === "ended"}>
      <p role="status">{t().signIn.ended}</p>
    </Show>
    <p class="muted">{t().signIn.intro}</p>
    <label class="field">
      <span>{t().signIn.token}</span>
      <input
        class="input"
        type="password"
        name="token"
        autocomplete="current-password"
        placeholder={t().signIn.placeholder}
        required
        autofocus
        value={props.token}
        onInput={(event) => props.onToken(event.currentTarget.value)}
      />
    </label>
    <Message text={props.message} />
    <button type="submit" class="button primary" disabled={props.isBusy}>
      {props.isBusy ? t().signIn.busy : t().signIn.submit}
    </button>
    <p class="muted small">{t().signIn.hint}</p>
  </form>
)

const Choose = (props: {
  readonly environments: ReadonlyArray<EnvironmentChoice>
  readonly message: string | null
  readonly onChoose: (envId: string) => void
  readonly onBack: () => void
}): JSX.Element => (
  <div class="grid">
    <h1>{t().signIn.choose}</h1>
    <p class="muted">{t().signIn.chooseIntro}</p>
    <Message text={props.message} />
    <ul class="choices">
      <For each={props.environments} fallback={<li class="muted">{t().signIn.noEnvironments}</li>}>
        {({ env_id, name, org_slug }) => (
          <li>
            <button type="button" class="button" onClick={() => props.onChoose(env_id)}>
              {org_slug} / {name}
            </button>
          </li>
        )}
      </For>
    </ul>
    <button type="button" class="button quiet" onClick={props.onBack}>
      {t().signIn.back}
    </button>
  </div>
)
