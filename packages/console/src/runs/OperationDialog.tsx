/** Counts the runs of a filter, and starts an operation that cancels or replays them. */
import { useNavigate } from "@solidjs/router"
import { useQuery } from "@tanstack/solid-query"
import type { OperationInput } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf, queryClient } from "../api/queries.ts"
import { Confirm } from "../design/Confirm.tsx"
import { showToast } from "../design/Toasts.tsx"
import { operationCommand } from "../operations/OperationText.ts"
import { t } from "../text/Language.ts"
import { BuildChoice, type ReplayBuild } from "./BuildChoice.tsx"
import type { BulkProps } from "./BulkActions.tsx"
import { MatchCount } from "./MatchCount.tsx"
import { type RunFilters, toRunsQuery } from "./RunFilters.ts"

const endedStatuses = ["failed", "succeeded", "cancelled"] as const
type Ended = (typeof endedStatuses)[number]

const rateMax = 10_000

/** Returns the filter of the operation. `status` is for replays. */
const toFilter = (filters: RunFilters, status: Ended | undefined): NonNullable<OperationInput["filter"]> => {
  const { type, waiting, fn, project, time_range } = toRunsQuery(filters)
  return { status, type, waiting, fn, project, time_range }
}

export const OperationDialog = (props: BulkProps): JSX.Element => {
  const { filters, kind } = props
  const navigate = useNavigate()
  const chosen = endedStatuses.find((status) => status === filters.status)
  const [status, setStatus] = createSignal<Ended>(chosen ?? "failed")
  const [build, setBuild] = createSignal<ReplayBuild>("deployed")
  const [rate, setRate] = createSignal("")
  const isReplay = kind === "replay"
  /** Only running runs can be cancelled, and only ended ones replayed. Other filters match none. */
  const isPossible = isReplay ? filters.status !== "running" : filters.status === "" || filters.status === "running"
  const input = (): OperationInput => ({
    kind,
    filter: toFilter(filters, isReplay ? status() : undefined),
    options: {
      ...(isReplay ? { build: build() } : {}),
      ...(rate() === "" ? {} : { rate: Number(rate()) })
    }
  })
  const matched = useQuery(() => ({
    queryKey: ["matched", kind, status()],
    queryFn: async () =>
      isPossible ? (await weft.operations.create({ kind, filter: input().filter, dry_run: true })).matched : 0,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY
  }))
  const start = async () => {
    await weft.operations.create({ ...input(), dry_run: false })
    showToast(t().operations.started)
    props.onDone()
    await queryClient.invalidateQueries({ queryKey: ["operations"] })
    navigate("/operations")
  }
  return (
    <Confirm
      isOpen
      onClose={props.onClose}
      title={isReplay ? t().runs.replayAllTitle : t().runs.cancelAllTitle}
      text={isReplay ? t().runs.replayAllText : t().runs.cancelAllText}
      action={isReplay ? t().runs.replayAllConfirm : t().runs.cancelAllConfirm}
      command={operationCommand(input(), filters.period)}
      isDanger={!isReplay}
      isDisabled={(dataOf(matched) ?? 0) === 0}
      onConfirm={start}
    >
      <MatchCount kind={kind} count={dataOf(matched)} error={matched.error} />
      <Show when={isReplay}>
        <Show when={filters.status === ""}>
          <StatusChoice value={status()} onChange={setStatus} />
        </Show>
        <BuildChoice value={build()} onChange={setBuild} same={t().runs.replaySame} />
        <p class="muted small">{t().operations.skipHint}</p>
      </Show>
      <label class="field">
        <span>{t().operations.rateField}</span>
        <input
          class="input"
          type="number"
          min="1"
          max={rateMax}
          placeholder={t().operations.rateHint}
          value={rate()}
          onInput={(event) => setRate(event.currentTarget.value)}
        />
      </label>
    </Confirm>
  )
}

const StatusChoice = (props: { readonly value: Ended; readonly onChange: (status: Ended) => void }): JSX.Element => (
  <label class="field">
    <span>{t().operations.statusField}</span>
    <select
      class="input"
      onChange={({ currentTarget }) =>
        props.onChange(endedStatuses.find((status) => status === currentTarget.value) ?? "failed")
      }
    >
      <For each={endedStatuses}>
        {(status) => (
          <option value={status} selected={status === props.value}>
            {t().status[status]}
          </option>
        )}
      </For>
    </select>
  </label>
)
