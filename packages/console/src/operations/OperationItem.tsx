/** One operation: its selection, progress, rate and failures. */
import { A } from "@solidjs/router"
import type { Operation } from "@weft/client"
import { createEffect, createSignal, For, type JSX, on, Show } from "solid-js"
import { CopyButton } from "../design/CopyButton.tsx"
import { Instant } from "../design/Instant.tsx"
import { formatCount, formatDuration } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { examinedOf, filterParts } from "./OperationText.ts"

const badges: Readonly<Record<Operation["state"], string>> = {
  pending: "waiting",
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: ""
}

/** Weight of the newest reading in the average, which hides the steps of batches. */
const newestWeight = 0.4

/** Returns the runs per second between readings, or null before the second one. */
const useRate = (operation: () => Operation): (() => number | null) => {
  const [rate, setRate] = createSignal<number | null>(null)
  let previous: { readonly count: number; readonly at: number } | undefined
  createEffect(
    on(
      () => [operation().ended_at, examinedOf(operation())] as const,
      ([endedAt, count]) => {
        const at = Date.now()
        if (endedAt !== null) setRate(null)
        else if (previous !== undefined && at > previous.at) {
          const now = ((count - previous.count) * 1000) / (at - previous.at)
          setRate((known) => (known === null ? now : known + (now - known) * newestWeight))
        }
        previous = { count, at }
      }
    )
  )
  return rate
}

export const OperationItem = (props: { readonly operation: Operation; readonly onCancel: () => void }): JSX.Element => {
  const examined = () => examinedOf(props.operation)
  const rate = useRate(() => props.operation)
  const name = () => t().operations.kinds[props.operation.kind] ?? props.operation.kind
  const isOpen = () => props.operation.ended_at === null
  /** A run may match that began before the operation and was stored after its count. */
  const total = () => Math.max(props.operation.total, examined(), 1)
  return (
    <li class="card operation">
      <div class="operation-head">
        <strong>{name()}</strong>
        <span class={`badge ${badges[props.operation.state]}`}>
          {t().operations.states[props.operation.state] ?? props.operation.state}
        </span>
        <ul class="tags">
          <For each={filterParts(props.operation)}>{(part) => <li class="badge plain">{part}</li>}</For>
        </ul>
        <Show when={isOpen()}>
          <button type="button" class="button danger end" onClick={() => props.onCancel()}>
            {t().operations.cancel}
          </button>
        </Show>
      </div>
      <progress
        class="progress"
        max={total()}
        value={props.operation.state === "succeeded" ? total() : examined()}
        aria-label={`${name()} ${props.operation.operation_id.slice(-12)}`}
      />
      <p class="operation-counts">
        <strong class="number">
          {t().operations.progress(formatCount(examined()), formatCount(props.operation.total))}
        </strong>
        <span class="muted number">
          {t().operations.counts(
            formatCount(props.operation.done),
            formatCount(props.operation.skipped),
            formatCount(props.operation.failed)
          )}
        </span>
        <Show when={isOpen() && rate() !== null}>
          <span class="muted number">{t().operations.rate(formatCount(rate() ?? 0))}</span>
        </Show>
      </p>
      <Show when={props.operation.waiting}>
        {(reason) => (
          <p class="notice warning">
            {t().operations.delayed}: {reason()}
          </p>
        )}
      </Show>
      <Show when={props.operation.error}>{(error) => <p class="notice">{error()}</p>}</Show>
      <Failures operation={props.operation} />
      <Origin operation={props.operation} />
    </li>
  )
}

const Failures = (props: { readonly operation: Operation }): JSX.Element => (
  <Show when={props.operation.failures.length > 0}>
    <details class="operation-failures">
      <summary>{t().operations.failures(props.operation.failures.length)}</summary>
      <ul>
        <For each={props.operation.failures}>
          {({ run_id, reason }) => (
            <li>
              <A class="mono" href={`/runs/${run_id}`}>
                {run_id}
              </A>{" "}
              {reason}
            </li>
          )}
        </For>
      </ul>
    </details>
  </Show>
)

/** The creation of an operation, its creator and its duration. */
const Origin = (props: { readonly operation: Operation }): JSX.Element => {
  const duration = () => {
    const { started_at, ended_at } = props.operation
    return started_at === null || ended_at === null ? null : Date.parse(ended_at) - Date.parse(started_at)
  }
  return (
    <p class="muted small operation-counts">
      <Instant at={props.operation.created_at} />
      <span>
        {t().operations.by} {props.operation.created_by}
      </span>
      <Show when={duration() !== null}>
        <span class="number">
          {t().operations.took} {formatDuration(duration() ?? 0)}
        </span>
      </Show>
      <span class="with-copy">
        <code>{props.operation.operation_id}</code>
        <CopyButton
          text={`weft operations follow ${props.operation.operation_id}`}
          label={`weft operations follow ${props.operation.operation_id}`}
        />
      </span>
    </p>
  )
}
