/** States of a view without data: an error, or nothing yet. */
import { type JSX, Show } from "solid-js"
import { describeError, isForbidden } from "../api/queries.ts"
import { t } from "../text/Language.ts"
import { Rich } from "./Rich.tsx"

export const ErrorNotice = (props: { readonly error: unknown; readonly onRetry?: () => void }): JSX.Element => {
  const described = () => describeError(props.error)
  return (
    <div class="notice" role="alert">
      <span>{isForbidden(props.error) ? t().common.forbidden : described().message}</span>
      <Show when={described().requestId}>
        {(id) => (
          <span>
            {t().common.request} <code>{id()}</code>
          </span>
        )}
      </Show>
      <Show when={props.onRetry}>
        {(retry) => (
          <button type="button" class="button" onClick={() => retry()()}>
            {t().common.retry}
          </button>
        )}
      </Show>
    </div>
  )
}

/** A message about the last action; nothing without one. */
export const Message = (props: { readonly text: string | null }): JSX.Element => (
  <Show when={props.text}>
    {(text) => (
      <p class="notice" role="alert">
        {text()}
      </p>
    )}
  </Show>
)

/** Says what is missing and how it comes into being. */
export const Empty = (props: {
  readonly title: string
  readonly text: string
  readonly children?: JSX.Element
}): JSX.Element => (
  <div class="empty">
    <h2>{props.title}</h2>
    <p>
      <Rich text={props.text} />
    </p>
    {props.children}
  </div>
)
