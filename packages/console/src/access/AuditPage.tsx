/** The audit log of the environment. */
import { useSearchParams } from "@solidjs/router"
import type { AuditEntry } from "@weft/client"
import { For, type JSX } from "solid-js"
import { weft } from "../api/client.ts"
import { Empty } from "../design/Feedback.tsx"
import { PagedTable } from "../design/PagedTable.tsx"
import { formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import "./audit.css"

const outcomes = ["done", "refused"] as const

export default function AuditPage(): JSX.Element {
  const [search, setSearch] = useSearchParams<{ outcome?: string }>()
  const outcome = () => outcomes.find((one) => one === search.outcome)
  return (
    <div class="page tall">
      <div class="page-head">
        <h1>{t().audit.title}</h1>
      </div>
      <div class="filters">
        <label class="field">
          <span>{t().audit.outcome}</span>
          <select class="input" onChange={(event) => setSearch({ outcome: event.currentTarget.value || undefined })}>
            <option value="" selected={outcome() === undefined}>
              {t().runs.any}
            </option>
            <For each={outcomes}>
              {(one) => (
                <option value={one} selected={one === outcome()}>
                  {t().audit.outcomes[one]}
                </option>
              )}
            </For>
          </select>
        </label>
      </div>
      <PagedTable<AuditEntry>
        label={t().audit.table}
        columns="audit-columns"
        headers={[t().audit.action, t().audit.object, t().audit.actor, t().audit.outcome, t().audit.time]}
        version={outcome() ?? ""}
        load={async (offset, limit, signal) => await weft.audit.list({ outcome: outcome(), limit, offset }, { signal })}
        row={(entry) => <AuditCells entry={entry} />}
        empty={<Empty title={t().audit.emptyTitle} text={t().audit.empty} />}
      />
    </div>
  )
}

const AuditCells = (props: { readonly entry: AuditEntry }): JSX.Element => {
  const object = () => props.entry.object_name || props.entry.object_id || "–"
  const actor = () => t().audit.actors[props.entry.actor_type] ?? props.entry.actor_type
  return (
    <>
      <span role="cell" class="cut mono">
        {props.entry.action}
        {props.entry.count > 1 ? ` × ${props.entry.count}` : ""}
      </span>
      <span role="cell" class="cut" title={props.entry.object_id ?? undefined}>
        {object()}
      </span>
      <span role="cell" class="cut muted" title={props.entry.actor_id ?? undefined}>
        {actor()} {props.entry.address}
      </span>
      <span role="cell">
        <span class={`badge ${props.entry.outcome === "done" ? "succeeded" : "failed"}`}>
          {t().audit.outcomes[props.entry.outcome]}
        </span>
      </span>
      <span role="cell" class="cut muted">
        {formatInstant(props.entry.created_at)}
      </span>
    </>
  )
}
