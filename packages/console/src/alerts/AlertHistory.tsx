/** Changes and transitions of an alert rule, as far as the audit log and the latest events have them. */
import { A } from "@solidjs/router"
import { useQuery } from "@tanstack/solid-query"
import type { Event, Json } from "@weft/client"
import { For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { Instant } from "../design/Instant.tsx"
import { t } from "../text/Language.ts"

/** Latest events among which the page finds transitions: the API has no filter for their type. */
const eventsMax = 100

const changesMax = 50

interface Entry {
  readonly name: string
  readonly at: string
  /** The event of a transition, or null for a change. */
  readonly eventId: string | null
  readonly actor: string
}

const transitionTypes: ReadonlySet<string> = new Set(["svc:alert:fired", "svc:alert:resolved"])

const badges: Readonly<Record<string, string>> = { "svc:alert:fired": "failed", "svc:alert:resolved": "succeeded" }

/** True for an event about the rule. */
const isAbout = ({ event_type, event_data }: Event, alertId: string): boolean =>
  transitionTypes.has(event_type) && fieldOf(fieldOf(event_data, "alert"), "alert_id") === alertId

const fieldOf = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined

/** Returns the entries, newest first. A credential may lack the permission for one of the two sources. */
const readHistory = async (alertId: string): Promise<ReadonlyArray<Entry>> => {
  const [changes, events] = await Promise.all([
    Promise.resolve(weft.audit.list({ object_id: alertId, outcome: "done", limit: changesMax })).catch(() => null),
    Promise.resolve(weft.events.list({ limit: eventsMax })).catch(() => null)
  ])
  const entries = [
    ...(changes?.items ?? []).map(
      ({ action, created_at, actor_type }): Entry => ({
        ...{ name: action, at: created_at, eventId: null },
        actor: t().audit.actors[actor_type] ?? actor_type
      })
    ),
    ...(events?.items ?? [])
      .filter((event) => isAbout(event, alertId))
      .map(
        ({ event_type, event_time, event_id }): Entry => ({
          ...{ name: event_type, at: event_time, eventId: event_id, actor: "" }
        })
      )
  ]
  return entries.sort((a, b) => b.at.localeCompare(a.at))
}

export const AlertHistory = (props: {
  readonly alertId: string
  /** Changes with the rule and its state. */
  readonly version: string
}): JSX.Element => {
  const history = useQuery(() => ({
    queryKey: ["alert-history", props.alertId, props.version],
    queryFn: () => readHistory(props.alertId)
  }))
  return (
    <section class="card" aria-labelledby="history">
      <div class="card-head">
        <h2 id="history">{t().alerts.history}</h2>
      </div>
      <ul class="history">
        <For each={dataOf(history) ?? []} fallback={<li class="muted">{t().alerts.noHistory}</li>}>
          {(entry) => (
            <li>
              <span class={`badge ${badges[entry.name] ?? ""}`}>{t().alerts.changes[entry.name] ?? entry.name}</span>
              <Instant at={entry.at} />
              <Show when={entry.eventId} fallback={<span class="muted">{entry.actor}</span>}>
                {(id) => <A href={`/events/${id()}`}>{t().run.event}</A>}
              </Show>
            </li>
          )}
        </For>
      </ul>
      <p class="note divided">{t().alerts.historyHint}</p>
    </section>
  )
}
