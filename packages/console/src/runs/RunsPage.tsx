/** All runs, newest first, with filters. */
import type { Run } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Empty } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { PagedTable } from "../design/PagedTable.tsx"
import { NewerButton } from "../live/NewerButton.tsx"
import { t } from "../text/Language.ts"
import { BulkActions } from "./BulkActions.tsx"
import { RunCells, runHeaders } from "./RunCells.tsx"
import { noFilters, periods, statuses, toRunsQuery, types, useRunFilters, waits } from "./RunFilters.ts"

export const RunsPage = (): JSX.Element => {
  const { filters, isFiltered } = useRunFilters()
  const [refreshes, setRefreshes] = createSignal(0)
  const version = () => JSON.stringify([filters(), refreshes()])
  /** Continues after the previous row, so that the server skips no rows, and new runs shift none. */
  const load = async (offset: number, limit: number, signal: AbortSignal, previous?: Run) => {
    const query = { ...toRunsQuery(filters()), limit }
    if (previous === undefined) return await weft.runs.list({ ...query, offset }, { signal })
    const { items, total } = await weft.runs.list({ ...query, before: previous.run_id }, { signal })
    return { items, total: offset + total }
  }
  return (
    <div class="page tall">
      <div class="page-head">
        <h1>{t().runs.title}</h1>
        <div class="actions">
          <NewerButton event="run:start" version={version()} onShow={() => setRefreshes(refreshes() + 1)} />
          <BulkActions filters={filters()} onDone={() => setRefreshes(refreshes() + 1)} />
        </div>
      </div>
      <Filters />
      <PagedTable<Run>
        label={t().runs.table}
        columns="run-columns"
        headers={runHeaders()}
        version={version()}
        load={load}
        row={(run) => <RunCells run={run} />}
        empty={
          isFiltered() ? (
            <Empty title={t().runs.noMatchTitle} text={t().runs.noMatch} />
          ) : (
            <Empty title={t().runs.emptyTitle} text={t().runs.empty} />
          )
        }
      />
    </div>
  )
}

const Filters = (): JSX.Element => {
  const { filters, isFiltered, setFilters } = useRunFilters()
  return (
    <div class="filters">
      <Choice
        label={t().runs.status}
        value={filters().status}
        options={statuses.map((status) => [status, t().status[status]])}
        onChange={(status) => setFilters({ status })}
      />
      <Choice
        label={t().runs.type}
        value={filters().type}
        options={types.map((type) => [type, t().types[type] ?? type])}
        onChange={(type) => setFilters({ type })}
      />
      <Choice
        label={t().runs.period}
        value={filters().period}
        options={Object.keys(periods).map((period) => [period, t().runs.periods[period] ?? period])}
        onChange={(period) => setFilters({ period })}
      />
      <Choice
        label={t().runs.waiting}
        value={filters().waiting}
        options={waits.map((wait) => [wait, wait === "any" ? t().status.waiting : (t().waits[wait] ?? wait)])}
        onChange={(waiting) => setFilters({ waiting })}
      />
      <TextFilter
        label={t().runs.function}
        placeholder="orders/charge"
        value={filters().fn}
        onChange={(fn) => setFilters({ fn })}
      />
      <TextFilter label={t().runs.project} value={filters().project} onChange={(project) => setFilters({ project })} />
      <TextFilter
        label={t().runs.error}
        placeholder={t().runs.errorHint}
        value={filters().error}
        onChange={(error) => setFilters({ error })}
      />
      <Show when={isFiltered()}>
        <button type="button" class="button quiet" onClick={() => setFilters(noFilters)}>
          <Icon name="close" />
          {t().runs.clear}
        </button>
      </Show>
    </div>
  )
}

/** A filter that applies when its text is complete: after Enter, or when the field is left. */
const TextFilter = (props: {
  readonly label: string
  readonly placeholder?: string
  readonly value: string
  readonly onChange: (value: string) => void
}): JSX.Element => (
  <label class="field">
    <span>{props.label}</span>
    <input
      type="search"
      class="input"
      maxlength={200}
      placeholder={props.placeholder}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value.trim())}
    />
  </label>
)

/** A filter with the first option for no filter. */
const Choice = (props: {
  readonly label: string
  readonly value: string
  readonly options: ReadonlyArray<readonly [value: string, label: string]>
  readonly onChange: (value: string) => void
}): JSX.Element => (
  <label class="field">
    <span>{props.label}</span>
    <select class="input" onChange={(event) => props.onChange(event.currentTarget.value)}>
      <option value="" selected={props.value === ""}>
        {t().runs.any}
      </option>
      <For each={props.options}>
        {([value, label]) => (
          <option value={value} selected={props.value === value}>
            {label}
          </option>
        )}
      </For>
    </select>
  </label>
)
