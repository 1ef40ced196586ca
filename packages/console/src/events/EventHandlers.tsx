/** Handlers of active builds for an event: those that match its type with their runs, and those of other types. */
import { A } from "@solidjs/router"
import { useQuery } from "@tanstack/solid-query"
import type { Event, Run } from "@weft/client"
import { For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Rich } from "../design/Rich.tsx"
import { StatusBadge, shownStatus } from "../design/StatusBadge.tsx"
import { t } from "../text/Language.ts"
import { type ActiveHandler, handles, useHandlers } from "./useHandlers.ts"

/** Newest runs of the event whose functions are read. */
const runsMax = 20

/** A run with its function as `ns/var`. */
interface NamedRun {
  readonly run: Run
  readonly fn: string
}

const nameRuns = (runs: ReadonlyArray<Run>): Promise<ReadonlyArray<NamedRun>> =>
  Promise.all(
    runs.slice(0, runsMax).map(async (run) => {
      const { ns, var: name } = await weft.runs.usage(run.run_id)
      return { run, fn: `${ns}/${name}` }
    })
  )

export const EventHandlers = (props: { readonly event: Event; readonly runs: ReadonlyArray<Run> }): JSX.Element => {
  const handlers = useHandlers()
  const named = useQuery(() => ({
    queryKey: ["event", props.event.event_id, "functions", props.runs.length],
    queryFn: () => nameRuns(props.runs)
  }))
  const matching = () => (handlers.data ?? []).filter(({ event_type }) => handles(event_type, props.event.event_type))
  const others = () => (handlers.data ?? []).filter((handler) => !matching().includes(handler))
  const runOf = (handler: ActiveHandler) =>
    named.data?.find(({ run, fn }) => fn === `${handler.ns}/${handler.var}` && run.project_name === handler.project)
      ?.run
  return (
    <section class="card" aria-labelledby="handlers">
      <div class="card-head">
        <h2 id="handlers">{t().events.handlers}</h2>
      </div>
      <Show when={handlers.error ?? named.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <ul>
        <For each={matching()} fallback={<li class="card-body muted">{t().events.noRuns}</li>}>
          {(handler) => (
            <li class="handler-row">
              <span class="mono cut">
                {handler.ns}/{handler.var}
              </span>
              <span class="muted cut">
                {handler.project} · <code>{handler.event_type}</code>
              </span>
              <Show when={runOf(handler)} fallback={<span class="muted small">{t().events.noRunYet}</span>}>
                {(run) => (
                  <A class="end" href={`/runs/${run().run_id}`}>
                    <StatusBadge status={shownStatus(run())} />
                  </A>
                )}
              </Show>
            </li>
          )}
        </For>
      </ul>
      <Show when={others().length > 0}>
        <details class="others">
          <summary>{t().events.otherHandlers(others().length)}</summary>
          <ul>
            <For each={others()}>
              {({ ns, var: name, event_type, project }) => (
                <li class="handler-row">
                  <span class="mono cut">
                    {ns}/{name}
                  </span>
                  <span class="muted cut">{project}</span>
                  <span class="muted small">
                    <Rich text={t().events.otherType(event_type)} />
                  </span>
                </li>
              )}
            </For>
          </ul>
        </details>
      </Show>
    </section>
  )
}
