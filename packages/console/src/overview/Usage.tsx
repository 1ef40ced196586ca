/** The usage of the organization's plan. */
import { useQuery } from "@tanstack/solid-query"
import { type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { formatBytes, formatCount } from "../text/format.ts"
import { t } from "../text/Language.ts"

export const Usage = (): JSX.Element => {
  const usage = useQuery(() => ({ queryKey: ["usage"], queryFn: () => weft.env.usage() }))
  return (
    <section class="card" aria-labelledby="usage">
      <div class="card-head">
        <h2 id="usage">{t().overview.usage}</h2>
      </div>
      <Show when={usage.data}>
        {(data) => (
          <div class="card-body grid">
            <Meter
              name={t().overview.runsThisMonth}
              used={data().usage.runs_this_period}
              limit={data().limits.runs_per_month}
              format={formatCount}
            />
            <Meter
              name={t().overview.fileStorage}
              used={data().usage.file_storage_bytes}
              limit={data().limits.storage_bytes}
              format={formatBytes}
            />
            <Meter
              name={t().overview.callStorage}
              used={data().usage.call_storage_bytes}
              limit={data().limits.call_storage_bytes}
              format={formatBytes}
            />
          </div>
        )}
      </Show>
    </section>
  )
}

/** A limit of -1 means that the plan has none. */
const Meter = (props: {
  readonly name: string
  readonly used: number
  readonly limit: number
  readonly format: (value: number) => string
}): JSX.Element => {
  const text = () =>
    props.limit < 0
      ? t().overview.unlimited(props.format(props.used))
      : t().overview.of(props.format(props.used), props.format(props.limit))
  return (
    <div class="usage">
      <span>{props.name}</span>
      <span class="muted number">{text()}</span>
      <Show when={props.limit > 0}>
        <meter min="0" max={props.limit} high={props.limit * 0.9} value={props.used} aria-label={props.name}>
          {text()}
        </meter>
      </Show>
    </div>
  )
}
